import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import t, { type Test } from 'tap'
import { gatehouseCommand } from '../../src/cli/run.ts'
import { testGateway } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(300_000)
const asRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }
/** The daemon's user. */
const daemon = 65_534

/** Commands that work on the data folder, as root calls them. */
const onTheLedger: Record<string, readonly string[]> = {
  'ledger verify': [],
  'ledger key': [],
  'ledger proof': ['1'],
  'ledger export': ['--out', 'log.tar'],
  export: ['--everything', '/tmp/gatehouse-none/all'],
  backup: ['/tmp/gatehouse-none/backup.tar'],
  'backup key': [],
  doctor: [],
  status: [],
  'support-bundle': ['--out', 'bundle.zip'],
  import: ['slots', 'slots.csv'],
  'person erase': ['nobody'],
  'user add': ['nora', '--role', 'viewer'],
  'user list': [],
  'user reset': ['nora'],
  'user disable': ['nora'],
  'user enable': ['nora'],
  'warehouse add': ['--name', 'Hall', '--timezone', 'UTC'],
  restore: ['--accept-fork'],
  rollback: ['--check'],
  'upgrade rehearse': [],
  'upgrade offered': [],
  'hub join': ['http://127.0.0.1:9', '--code', 'x'],
  setup: ['--yes', '--tls', 'none', '--site-id', 'other', '--take-silent', '--camera', 'rtsp://127.0.0.1:9/b'],
  'camera probe': ['rtsp://127.0.0.1:9/a'],
}
/** Commands that have no data folder, with the one that serves as the user who calls it. */
const elsewhere = [
  ...[
    'serve',
    'camera discover',
    'camera measure',
    'config check',
    'config reference',
    'config example',
    'credential',
    'manual',
    'mirror',
  ],
  ...['hub serve', 'hub migrate', 'hub enrol', 'hub credential', 'hub offer', 'hub retire', 'hub revoke'],
  ...['openapi', 'tls init', 'upgrade states', 'version'],
]

t.test('every command is known here, with the data folder that it works on or without', async (t) => {
  t.strictSame(leaves(gatehouseCommand()).sort(), [...Object.keys(onTheLedger), ...elsewhere].sort())
})

t.test(
  'ledger verify of root changes no file behind a link that the daemon’s user makes meanwhile',
  asRoot,
  async (t) => {
    const { cwd } = await box(t)
    const victim = join(cwd, 'victim')
    writeFileSync(victim, 'of root', { mode: 0o600 })
    const note = join(cwd, 'state', 'verified.json')
    const attack = `const fs = require('fs'); const end = Date.now() + 60000; while (Date.now() < end) { try { fs.symlinkSync(process.argv[1], process.argv[2] + '.x'); fs.renameSync(process.argv[2] + '.x', process.argv[2]) } catch {} }`
    const attacker = spawn(process.execPath, ['-e', attack, victim, note], {
      uid: daemon,
      gid: daemon,
      stdio: 'inherit',
    })
    t.teardown(() => attacker.kill('SIGKILL'))
    await waitUntil('the link is made', () => lstatSync(note, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    const { code, stdout } = await runToEnd(gatehouse, ['ledger', 'verify', '--config', join(cwd, 'g.yaml')], { cwd })
    t.equal(code, 0, stdout)
    t.match([statSync(victim).uid, readFileSync(victim, 'utf8')], [0, 'of root'])
  },
)

t.test(
  'no command of root writes below the data folder as root, or runs ffmpeg on a camera as root',
  {
    ...asRoot,
    ...needs('ffmpeg'),
  },
  async (t) => {
    const { cwd, ffmpegRuns } = await box(t)
    const before = new Set(below(join(cwd, 'state')))
    for (const [command, args] of Object.entries(onTheLedger)) {
      const words = [...command.split(' '), ...args]
      const config = command === 'setup' ? ['--config', 'g.yaml'] : ['--config', join(cwd, 'g.yaml')]
      const { stderr } = await runToEnd(gatehouse, [...words, ...config], { cwd })
      t.notMatch(stderr, /EACCES|node:internal/, command)
      const made = below(join(cwd, 'state')).filter((path) => !before.has(path))
      const ofRoot = made.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === 0)
      t.strictSame(ofRoot, [], command)
      for (const path of ofRoot) chownSync(path, daemon, daemon)
    }
    const runs = ffmpegRuns()
    t.ok(runs.length >= 4, 'doctor, support-bundle, setup and camera probe opened the stream')
    // The user; no capability can be had again, nor any privilege; no core is left.
    const sandboxed = new RegExp(`^${daemon} 0{16} 1 0 `)
    t.strictSame(
      runs.filter((run) => !sandboxed.test(run)),
      [],
    )
  },
)

function leaves(command: Command, path: readonly string[] = []): string[] {
  const isOne = command.commands.length === 0 || (path.length > 0 && command.registeredArguments.length > 0)
  return [
    ...(isOne ? [path.join(' ')] : []),
    ...command.commands.flatMap((inner) => leaves(inner, [...path, inner.name()])),
  ]
}

/** A box with a ledger of the daemon's user, below a folder of root, and an ffmpeg that notes who runs it on a stream. */
async function box(t: Test) {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-root-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  mkdirSync(join(cwd, 'notes'))
  const note = join(cwd, 'notes', 'runs')
  const script = `#!/bin/sh\ncase "$*" in *"-i pipe:"*) echo "$(id -u) $(sed -n 's/^\\(NoNewPrivs\\|CapBnd\\):[[:space:]]*//p' /proc/self/status | tr '\\n' ' ')$(ulimit -c) $*" >> ${note} ;; esac\nexec ffmpeg "$@"\n`
  writeFileSync(join(cwd, 'ffmpeg'), script, { mode: 0o755 })
  writeFileSync(note, '', { mode: 0o666 })
  const cameras = [{ id: 1, url: 'rtsp://127.0.0.1:9/a' }]
  const config = { ffmpeg: { path: join(cwd, 'ffmpeg') }, cameras }
  const gateway = await testGateway({ folder: cwd, config })
  gateway.close()
  const text = readFileSync(join(cwd, 'gatehouse.yaml'), 'utf8')
  writeFileSync(join(cwd, 'g.yaml'), text, { mode: 0o644 })
  writeFileSync(join(cwd, 'slots.csv'), 'slot_id,zone\nA-01,S\n')
  for (const path of [join(cwd, 'state'), ...below(join(cwd, 'state'))]) chownSync(path, daemon, daemon)
  chmodSync(cwd, 0o755)
  chmodSync(note, 0o666)
  return { cwd, ffmpegRuns: () => readFileSync(note, 'utf8').split('\n').filter(Boolean) }
}

function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
}
