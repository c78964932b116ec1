import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sandboxed, unitLimits } from '../../src/platform/index.ts'
import { unitFile } from '../support/unit-file.ts'

const path = join(import.meta.dirname, '../../systemd/gatehouse.service')
const owner = { uid: 65_534, gid: 65_534 }

/** Settings of the unit that are no limit of what its processes may do. */
const ofDaemonAlone = [
  ...[
    'Type',
    'NotifyAccess',
    'ExecStartPre',
    'ExecStart',
    'ExecStartPost',
    'ExecStopPost',
    'ExecReload',
    'User',
    'Group',
  ],
  ...[
    'Restart',
    'RestartSec',
    'RestartPreventExitStatus',
    'TimeoutStartSec',
    'TimeoutStopSec',
    'KillMode',
    'WatchdogSec',
  ],
  ...['StateDirectory', 'StateDirectoryMode', 'RuntimeDirectory', 'RuntimeDirectoryMode', 'WorkingDirectory'],
]

t.test('a command of root gives ffmpeg every limit of the daemon’s unit, by the text of the unit', async (t) => {
  const limits = unitLimits(readFileSync(path, 'utf8'))
  const expected = [...unitFile(path)]
    .filter(([name]) => name.startsWith('Service.') && !ofDaemonAlone.includes(name.slice('Service.'.length)))
    .flatMap(([name, values]) => values.map((value) => `${name.slice('Service.'.length)}=${value}`))
  t.strictSame([...limits].sort(), expected.sort())
  for (const one of [
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    'SystemCallFilter=@system-service',
  ])
    t.ok(limits.includes(one), one)
  const [program, ...args] = sandboxed(owner, readFileSync(path, 'utf8'), ['/usr/bin/gatehouse', 'camera', 'measure'])
  t.equal(program, 'systemd-run')
  t.ok(args.indexOf('--property=User=65534') < args.indexOf('--'))
  t.strictSame(
    args.filter((arg) => arg.startsWith('--property=')).slice(2),
    limits.map((one) => `--property=${one}`),
  )
  t.strictSame(args.slice(args.indexOf('--')), ['--', '/usr/bin/gatehouse', 'camera', 'measure'])
})

t.test('a drop-in of the admin counts, and a setting over two lines is one', async (t) => {
  const text = `# /etc/x\n[Unit]\nAfter=x\n[Service]\nExecPaths=/usr \\\n  /opt/ffmpeg\nUser=x\n# /etc/y\n[Service]\nMemoryMax=2G\n[Install]\nWantedBy=z\n`
  t.strictSame(unitLimits(text), ['ExecPaths=/usr    /opt/ffmpeg', 'MemoryMax=2G'])
})

t.test(
  'without systemd it is the daemon’s user without privileges, and leaves no core',
  {
    ...(process.getuid?.() === 0 ? {} : { skip: 'needs root' }),
  },
  async (t) => {
    const script = 'cat /proc/self/status; ulimit -c; id -G'
    const [program = '', ...args] = sandboxed(owner, undefined, ['sh', '-c', script])
    const seen = execFileSync(program, args, { encoding: 'utf8' })
    t.match(seen, /^Uid:\s+65534\s+65534\s+65534\s+65534$/m)
    t.match(seen, /^Gid:\s+65534\s+65534\s+65534\s+65534$/m)
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      t.match(seen, new RegExp(`^${set}:\\s+0{16}$`, 'm'))
    t.match(seen, /^NoNewPrivs:\s+1$/m)
    t.match(seen, /\n0\n65534\n$/)
  },
)
