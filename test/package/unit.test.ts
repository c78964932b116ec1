import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { EXIT_CONFIG } from '../../src/errors/index.ts'
import { needs } from '../support/needs.ts'
import { unitFile } from '../support/unit-file.ts'

const path = join(import.meta.dirname, '../../systemd/gatehouse.service')
const unit = unitFile(path)
const one = (name: string) => {
  const values = unit.get(name) ?? []
  t.ok(values.length <= 1, `${name} is set once`)
  return values[0]
}

t.test('systemd waits until the gateway serves, watches its work, and asks it to reload', async (t) => {
  t.equal(one('Service.Type'), 'notify')
  t.equal(one('Service.NotifyAccess'), 'main', 'no child process speaks for it')
  t.match(one('Service.WatchdogSec'), /^\d+s$/)
  t.equal(one('Service.ExecReload'), '/bin/kill -HUP $MAINPID')
  t.match(one('Service.ExecStart'), '/usr/bin/gatehouse serve --config /etc/gatehouse/gatehouse.yaml')
  t.equal(one('Install.WantedBy'), 'multi-user.target')
})

t.test('a gateway that fails starts again, but not with a bad config, and not for ever', async (t) => {
  t.equal(one('Service.Restart'), 'always')
  t.equal(one('Service.RestartPreventExitStatus'), String(EXIT_CONFIG))
  t.ok(one('Unit.StartLimitBurst') && one('Unit.StartLimitIntervalSec'))
})

t.test('open clips and requests under way have the time that a stop needs', async (t) => {
  // 10 s for requests, 15 s for clips: src/app/README.md.
  t.ok(Number.parseInt(one('Service.TimeoutStopSec') ?? '', 10) > 25)
})

t.test('a stop is told to the gateway alone, so that a clip that is being cut is finished', async (t) => {
  t.equal(one('Service.KillMode'), 'mixed')
})

t.test('memory, tasks and heap are limited so that the box stays reachable', async (t) => {
  t.match(one('Service.MemoryMax'), /^\d\d%$/)
  t.match(one('Service.MemoryHigh'), /^\d\d%$/)
  t.match(one('Service.TasksMax'), /^\d+$/)
  const heap = /--max-old-space-size=(\d+)/.exec((unit.get('Service.Environment') ?? []).join(' '))?.[1]
  t.ok(Number(heap) <= 4096 / 2, 'half of a Raspberry Pi with 4 GB is left to ffmpeg and the system')
  for (const name of ['MALLOC_ARENA_MAX=2', 'MALLOC_TRIM_THRESHOLD_=65536'])
    t.ok(unit.get('Service.Environment')?.includes(name), `${name}: freed memory goes back to the system`)
})

t.test('the places are those of the contract, and native parts are run from the cache only', async (t) => {
  for (const kind of ['State', 'Runtime', 'Cache']) t.equal(one(`Service.${kind}Directory`), 'gatehouse')
  t.equal(one('Service.User'), 'gatehouse')
  t.ok(unit.get('Service.Environment')?.includes('PKG_NATIVE_CACHE_PATH=/var/cache/gatehouse'))
  t.equal(one('Service.NoExecPaths'), '/')
  t.equal(one('Service.ExecPaths'), '/usr /lib /lib64 -/var/cache/gatehouse')
})

t.test('what would break the gateway is not switched on', async (t) => {
  t.equal(one('Service.MemoryDenyWriteExecute'), undefined, 'Node compiles JavaScript')
  t.equal(one('Service.ProcSubset'), 'all', 'the load of the box is read from /proc')
  t.match(one('Service.RestrictAddressFamilies'), 'AF_NETLINK', 'the addresses of the box are asked by netlink')
})

t.test('systemd rates the exposure of the service at 1.2 of 10 or less', needs('systemd-analyze'), async (t) => {
  const rating = execFileSync('systemd-analyze', ['security', '--offline=true', '--no-pager', path], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  t.ok(Number(/exposure level for gatehouse\.service: ([\d.]+)/.exec(rating)?.[1]) <= 1.2, rating)
})

t.test('the head office is shut off as the gateway is, with its own folders', async (t) => {
  const hub = unitFile(join(import.meta.dirname, '../../systemd/gatehouse-hub.service'))
  const own = /^Unit\.|^Service\.Exec|Directory|Environment|Watchdog|Timeout|Tasks|OOM/
  const same = [...unit.keys()].filter((key) => !own.test(key))
  t.ok(same.length > 40)
  for (const key of same) t.same(hub.get(key), unit.get(key), key)
  t.same(hub.get('Service.ExecStart'), ['/usr/bin/gatehouse hub serve --config /etc/gatehouse/hub.yaml'])
  t.same(hub.get('Service.StateDirectory'), ['gatehouse-hub'])
  t.same(hub.get('Service.ExecPaths'), ['/usr /lib /lib64 -/var/cache/gatehouse-hub'])
  t.ok(hub.get('Service.Environment')?.includes('PKG_NATIVE_CACHE_PATH=/var/cache/gatehouse-hub'))
})
