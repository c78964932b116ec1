import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { applyLive, type Config, changedFiles, fileMarks, loadConfig, plan } from '../../src/config/index.ts'

const base = {
  site: { id: 'dc-7' },
  auth: { users: [{ username: 'ann', role: 'admin', secretHash: 'scrypt:a' }] },
  cameras: [
    { id: 1, url: 'rtsp://one/' },
    { id: 2, url: 'rtsp://two/' },
  ],
  rateLimit: { users: { 'scanner-1': 600 } },
}

function configOf(t: Test, values: object): Config {
  const file = join(t.testdir({}), 'gatehouse.yaml')
  writeFileSync(file, stringify({ ...base, ...values }))
  return loadConfig(file, { env: {}, hostName: 'box7' }).config
}

t.test('a config that says the same in another way changes nothing', async (t) => {
  const old = configOf(t, {})
  const next = configOf(t, {
    cameras: [...base.cameras].reverse(),
    webhooks: { timeout: '30000ms', probe: null },
    rateLimit: { requestsPerMinute: 100, users: { 'scanner-1': 600 } },
  })
  t.strictSame(plan(old, next), { live: [], restart: [], unchanged: true })
})

t.test('a plan names what changed, what follows at once and what waits for the next start', async (t) => {
  const old = configOf(t, {})
  const next = configOf(t, {
    site: { id: 'dc-7', warehouseId: 3 },
    listen: [{ port: 9000 }],
    auth: {
      freshFor: '1m',
      users: [
        { username: 'ann', role: 'viewer', secretHash: 'scrypt:new' },
        { username: 'bob', secretHash: 'scrypt:b' },
      ],
    },
    cameras: [
      { id: 2, url: 'rtsp://two/', slots: ['A'], motion: { sensitivity: 0.5 } },
      { id: 3, url: 'rtsp://three/' },
    ],
    storage: { instances: [{ url: 'https://a' }], upload: { instance: 'https://a', username: 'u', passwordFile: 'p' } },
    rateLimit: { users: { 'scanner-2': 5 }, roles: { admin: 7 } },
    metrics: { listen: { port: 9100 } },
    ledger: { enforce: ['OVERWEIGHT'] },
    webhooks: { retrySchedule: ['0s'], probe: { max: '1s' } },
  })
  t.strictSame(plan(old, next), {
    live: [
      'auth.freshFor',
      'auth.users[username=ann].role',
      'auth.users[username=ann].secretHash',
      'auth.users[username=bob]',
      'cameras[id=1]',
      'cameras[id=2].motion.sensitivity',
      'cameras[id=2].slots',
      'cameras[id=3]',
      'ledger.enforce',
      'rateLimit.roles.admin',
      'rateLimit.users.scanner-1',
      'rateLimit.users.scanner-2',
      'storage.instances',
      'storage.upload',
      'webhooks.probe.max',
      'webhooks.retrySchedule',
    ],
    restart: ['listen', 'metrics.listen', 'site.url', 'site.warehouseId'],
    unchanged: false,
  })
})

t.test('after a reload live keys are new, the others old, and nothing but a restart is left to do', async (t) => {
  const changes = {
    site: fc.constantFrom(undefined, { id: 'dc-7', warehouseId: 2 }, { id: 'dc-7', url: 'https://dc7.example' }),
    listen: fc.constantFrom(undefined, [{ port: 9000 }]),
    dataDir: fc.constantFrom(undefined, '/srv/state'),
    webhooks: fc.constantFrom(undefined, { timeout: '1s' }, { allowNetworks: ['10.0.0.0/8'] }),
    cameras: fc.constantFrom([], base.cameras, [{ id: 2, url: 'rtsp://new/' }]),
    retention: fc.constantFrom(undefined, { clips: { maxAgeDays: 1 } }),
    ffmpeg: fc.constantFrom(undefined, { path: '/opt/ffmpeg' }),
  }
  const config = fc.record(changes).map((values) => configOf(t, JSON.parse(JSON.stringify(values))))
  fc.assert(
    fc.property(config, config, (old, next) => {
      const running = applyLive(old, next)
      const asked = plan(old, next)
      t.strictSame(plan(old, running), { live: asked.live, restart: [], unchanged: asked.live.length === 0 })
      t.strictSame(plan(running, next), { live: [], restart: asked.restart, unchanged: asked.restart.length === 0 })
      t.ok(Object.isFrozen(running) && Object.isFrozen(running.webhooks))
    }),
    { numRuns: 40 },
  )
})

t.test('files that the config names are compared by their content', async (t) => {
  const folder = t.testdir({ one: 'a typo', two: 'right', ca: 'PEM 1', cloud: 'PEM 1' })
  const password = (name: string) => ({ username: 'viewer', passwordFile: join(folder, name) })
  const config = configOf(t, {
    cameras: [
      { ...base.cameras[0], ...password('one') },
      { ...base.cameras[1], ...password('two') },
    ],
    webhooks: { caFile: join(folder, 'ca') },
    storage: { instances: [{ url: 'https://cloud.example', caFile: join(folder, 'cloud') }] },
    metrics: { listen: { tokenFile: join(folder, 'not-there') } },
  })
  const before = fileMarks(config, {})
  t.same([...before.keys()].sort(), [
    'cameras[id=1].passwordFile',
    'cameras[id=2].passwordFile',
    'metrics.listen.tokenFile',
    'storage.instances[0].caFile',
    'webhooks.caFile',
  ])
  t.same(changedFiles(before, fileMarks(config, {})), [])
  writeFileSync(join(folder, 'one'), 'corrected')
  writeFileSync(join(folder, 'ca'), 'PEM 2')
  writeFileSync(join(folder, 'not-there'), 'a token by now')
  const after = fileMarks(config, {})
  t.same(changedFiles(before, after), ['cameras[id=1].passwordFile', 'metrics.listen.tokenFile', 'webhooks.caFile'])
  t.notMatch(JSON.stringify([...after]), /typo|corrected|token by now/, 'no content is kept')
})
