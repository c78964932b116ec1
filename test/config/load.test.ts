import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { checkConfig, formatProblem, loadConfig, loadHubConfig, readSecretFile } from '../../src/config/index.ts'
import { EXIT_CONFIG, ExitError } from '../../src/errors/index.ts'

const surroundings = { env: {}, hostName: 'box7' }

/** A folder with these files; its gatehouse.yaml. */
function folderOf(t: Test, files: Record<string, string>): string {
  const folder = t.testdir({})
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  }
  return join(folder, 'gatehouse.yaml')
}

/** The problems of a config, without the folder in their file names. */
function problemsOf(t: Test, files: Record<string, string> | string): string[] {
  const file = folderOf(t, typeof files === 'string' ? { 'gatehouse.yaml': files } : files)
  const checked = checkConfig(file, surroundings)
  t.equal(checked.config, undefined)
  return checked.problems.map((problem) => formatProblem(problem).replaceAll(`${dirname(file)}/`, ''))
}

function configOf(t: Test, files: Record<string, string> | string) {
  return loadConfig(folderOf(t, typeof files === 'string' ? { 'gatehouse.yaml': files } : files), surroundings)
}

t.test('a config of nothing but its site.id has the documented defaults', async (t) => {
  const { config, warnings } = configOf(t, 'site: {id: dc-7}')
  t.match(warnings, [/gatehouse\.yaml:1:1: auth\.users: no one can sign in/], 'and says what it lacks')
  t.equal(warnings.length, 1)
  t.match(config, {
    site: { id: 'dc-7', url: 'http://127.0.0.1:8480', warehouseId: 1 },
    listen: [{ host: '127.0.0.1', port: 8480, tls: null }],
    dataDir: '/var/lib/gatehouse',
    runtimeDir: '/run/gatehouse',
    auth: { defaultRole: 'viewer', freshFor: 300_000, staleFor: 43_200_000, groupRoles: {}, users: { length: 0 } },
    storage: { instances: { length: 0 }, upload: null },
    cameras: { length: 0 },
    webhooks: {
      allowNetworks: { length: 0 },
      caFile: null,
      timeout: 30_000,
      retrySchedule: [0, 60_000, 300_000, 1_800_000, 7_200_000, 43_200_000],
      probe: { initial: 10_000, max: 300_000 },
      autoResume: { enabled: true, every: 900_000 },
      drainPerSecond: 50,
    },
    uplink: { probes: { length: 0 } },
    metrics: { listen: null },
    rateLimit: { requestsPerMinute: 100, users: {}, roles: {} },
    ledger: { maxAge: null, enforce: { length: 0 } },
    units: { stages: ['registered', 'receiving', 'inspecting', 'storing', 'staging', 'loading', 'departed'] },
    warehouses: { length: 0 },
    http: { corsOrigins: { length: 0 }, hostNames: { length: 0 }, trustedProxies: { length: 0 } },
    retention: {
      clips: { maxAgeDays: 30 },
      photos: { keepLocalDays: 90 },
      minFreeBytes: 2 * 1024 ** 3,
      ledgerReserveBytes: 256 * 1024 ** 2,
    },
    ffmpeg: { path: null },
  })
  t.ok(Object.isFrozen(config.webhooks.retrySchedule))
})

t.test(
  'without a config file the gateway serves this machine and keeps its state below the current folder',
  async (t) => {
    const { config, warnings, files } = loadConfig(undefined, { cwd: '/srv/box', hostName: 'Dock 7_a', env: {} })
    t.strictSame([warnings, files], [[], []])
    t.equal(config.site.id, 'Dock-7_a')
    t.equal(config.site.url, 'http://127.0.0.1:8480')
    t.strictSame([config.dataDir, config.runtimeDir], ['/srv/box/var', '/srv/box/var'])
    t.equal(loadConfig(undefined, { hostName: '(none)' }).config.site.id, 'none-')
    t.equal(loadConfig(undefined, { hostName: '' }).config.site.id, 'gatehouse')
  },
)

const adminGuide = `
site: { id: dc-7, url: "https://gatehouse.dc7.example/", warehouseId: 2 }
listen:
  - { host: 0.0.0.0, port: 8443, tls: { certFile: tls/cert.pem, keyFile: tls/key.pem } }
  - { host: 127.0.0.1, port: 8480 }
dataDir: state
auth:
  freshFor: 0s
  groupRoles: { wh-operators: operator, wh-supervisors: supervisor }
  users:
    - { username: dock-admin, role: admin, secretHash: "scrypt:…" }
storage:
  instances:
    - { url: https://cloud.example.com/, caFile: ca.pem }
  upload: { instance: "https://cloud.example.com:443", username: gatehouse-dc7, passwordFile: secrets/cloud, root: /evidence/ }
cameras:
  - id: 1
    name: Dock door 1
    url: rtsp://10.0.0.21:554/main
    detectUrl: rtsp://10.0.0.21:554/sub
    username: viewer
    passwordFile: secrets/cam1
    owner: dock-admin
    viewers: [alice, wh-supervisors]
    slots: [A-01-01]
    history: { hours: 0, stream: sub }
    motion: { enabled: true, sensitivity: 0.3, masks: [[{x: 0, y: 0}, {x: 1, y: 0}, {x: 0.5, y: 0.5}]] }
  - { id: 2, url: "rtsps://cam2/stream?channel=1" }
webhooks: { allowNetworks: [10.1.2.3/8, 192.168.0.9, "FD00::1/8"], caFile: receivers-ca.pem, retrySchedule: [0s, 50ms] }
metrics: { listen: { port: 9100, networks: [10.0.9.0/24] } }
rateLimit: { requestsPerMinute: 1, users: { scanner-1: 1000000, 007: 3 }, roles: { admin: 5 } }
ledger: { maxAge: 7d, enforce: [OVERWEIGHT, SLOT_ALREADY_OCCUPIED], assets: registered }
warehouses: [{ id: 1, viewers: [] }]
http: { trustedProxies: [127.0.0.1] }
retention: { clips: { maxAgeDays: 0.5 }, minFreeBytes: 5B, ledgerReserveBytes: 1KiB }
`

t.test('the config of the admin guide loads, with its files beside it and its addresses in one form', async (t) => {
  const { config } = configOf(t, adminGuide)
  const here = config.dataDir.replace(/\/state$/, '')
  t.equal(config.site.url, 'https://gatehouse.dc7.example')
  t.strictSame(config.listen[0]?.tls, { certFile: `${here}/tls/cert.pem`, keyFile: `${here}/tls/key.pem` })
  t.equal(config.auth.freshFor, 0)
  t.match(config.storage, {
    instances: [{ url: 'https://cloud.example.com', caFile: `${here}/ca.pem` }],
    upload: { instance: 'https://cloud.example.com', passwordFile: `${here}/secrets/cloud`, root: '/evidence' },
  })
})

t.test('the config of the admin guide loads, with the cameras as the rooms need them', async (t) => {
  const { config } = configOf(t, adminGuide)
  const here = config.dataDir.replace(/\/state$/, '')
  t.match(config.cameras, [
    { id: 1, name: 'Dock door 1', enabled: true, passwordFile: `${here}/secrets/cam1`, motion: { cooldownSeconds: 5 } },
    { id: 2, name: 'Camera 2', username: null, detectUrl: null, warehouseId: null, motion: { uploadToStorage: true } },
  ])
})

t.test('the config of the admin guide loads, with its networks, limits, times and sizes as numbers', async (t) => {
  const { config } = configOf(t, adminGuide)
  t.strictSame(config.webhooks.allowNetworks, ['10.0.0.0/8', '192.168.0.9/32', 'fd00::/8'])
  t.strictSame(config.webhooks.retrySchedule, [0, 50])
  t.strictSame(config.metrics.listen, { host: '127.0.0.1', port: 9100, tokenFile: null, networks: ['10.0.9.0/24'] })
  t.strictSame(config.rateLimit, {
    requestsPerMinute: 1,
    photoBytesPerMinute: 120 * 1024 * 1024,
    users: { 'scanner-1': 1_000_000, '007': 3 },
    roles: { admin: 5 },
  })
  t.strictSame(config.ledger, {
    ...{ maxAge: 604_800_000, enforce: ['OVERWEIGHT', 'SLOT_ALREADY_OCCUPIED'] },
    ...{ assets: 'registered', photos: 'any' },
  })
  t.match(config.retention, { clips: { maxAgeDays: 0.5 }, minFreeBytes: 5, ledgerReserveBytes: 1024 })
})

t.test('drop-ins go over the config in the order of their names', async (t) => {
  const { config, files } = configOf(t, {
    'gatehouse.yaml': `
site: { id: dc-7 }
auth: { users: [{ username: ann, role: admin, secretHash: "scrypt:a" }] }
cameras:
  - { id: 1, url: rtsp://one/main, motion: { sensitivity: 0.1, cooldownSeconds: 9 } }
  - { id: 2, url: rtsp://two/main, slots: [A, B] }
webhooks: { allowNetworks: [10.0.0.0/8], timeout: 5s }
storage: { upload: null }
`,
    'conf.d/10-cams.yaml': `
cameras:
  - { id: 2, slots: [C], username: u, passwordFile: secrets/two }
  - { id: 3, url: rtsp://three/main }
auth: { users: [{ username: ann, role: viewer }, { username: bob, secretHash: "scrypt:b" }] }
webhooks: { allowNetworks: [192.168.0.0/16] }
`,
    'conf.d/20-last.yaml': 'cameras: [{ id: 1, motion: { sensitivity: 0.5 } }]\nwebhooks: # nothing\n',
    'conf.d/30-ignored.yml': 'nonsense: true',
    'conf.d/.40-ignored.yaml': 'nonsense: true',
    'conf.d/99-empty.yaml': '# nothing yet\n',
  })
  const folder = dirname(files[0] ?? '')
  t.strictSame(
    files.map((file) => file.slice(folder.length + 1)),
    ['gatehouse.yaml', 'conf.d/10-cams.yaml', 'conf.d/20-last.yaml', 'conf.d/99-empty.yaml'],
  )
  t.match(config.cameras, [
    { id: 1, url: 'rtsp://one/main', motion: { sensitivity: 0.5, cooldownSeconds: 9 } },
    { id: 2, url: 'rtsp://two/main', slots: ['C'], passwordFile: `${folder}/conf.d/secrets/two` },
    { id: 3 },
  ])
  t.strictSame(config.auth.users, [
    { username: 'ann', role: 'viewer', secretHash: 'scrypt:a' },
    { username: 'bob', role: 'viewer', secretHash: 'scrypt:b' },
  ])
  t.match(config.webhooks, { allowNetworks: ['192.168.0.0/16'], timeout: 5000 })
})

t.test('a head office beside a gateway has drop-ins of its own', async (t) => {
  const gateway = folderOf(t, {
    'gatehouse.yaml': 'site: { id: dc-7 }\n',
    'hub.yaml': 'site: { id: office }\nhub: { database: { url: "postgres://app@127.0.0.1/hub" } }\n',
    'conf.d/hub.yaml': 'hub: { url: "https://hub.example:8443", tokenFile: secrets/hub-token }\n',
    'conf.d/rate.yaml': 'rateLimit: { requestsPerMinute: 77 }\n',
    'hub.conf.d/site.yaml': 'site: { url: "https://hub.example:8443" }\n',
  })
  const office = loadHubConfig(join(dirname(gateway), 'hub.yaml'), surroundings).config
  t.match(office.site, { id: 'office', url: 'https://hub.example:8443' })
  t.match(loadConfig(gateway, surroundings).config, {
    ...{ site: { id: 'dc-7', url: 'http://127.0.0.1:8480' }, rateLimit: { requestsPerMinute: 77 } },
    hub: { url: 'https://hub.example:8443' },
  })
})

t.test('every problem of every file is named at once, with its place and what was expected', async (t) => {
  const problems = problemsOf(t, {
    'gatehouse.yaml': `site:
  id: dc-7
  url: https://site.example
webhooks:
  timeuot: 30s
  timeout: 30
  probe: { initial: 10, max: 5 min }
auth:
  users:
    - { username: ann, role: operater, secretHash: hunter2 }
    - { username: ann, secretHash: "scrypt:x" }
cameras:
  - id: 1
    url: rtsp://viewer:hunter2@10.0.0.21/main
    sensitivity: 0.2
    motion: { sensitivity: 1.1, preRecordSeconds: "5", enabled: yes }
  - { id: 1, passwordFile: secrets/one, name: 7 }
rateLimit:
  requestsPerMinute: 0
  roles: { opertor: 3 }
`,
    'conf.d/storage.yaml': `storage:
  instances: [{ url: https://cloud.example.com }]
  upload: { instance: https://clod.example.com, username: u }
retention: { minFreeBytes: 2GB }
ledger: { enforce: [OVERWIGHT] }
http: { trustedProxies: 10.0.0.1 }
units: { stages: [] }
`,
  })
  t.strictSame(problems, [
    'gatehouse.yaml:5:3: webhooks.timeuot: unknown key; did you mean timeout?',
    'gatehouse.yaml:6:12: webhooks.timeout: expected a duration with its unit, such as 500ms, 30s, 5m, 12h or 7d, not 30',
    'gatehouse.yaml:7:21: webhooks.probe.initial: expected a duration with its unit, such as 500ms, 30s, 5m, 12h or 7d, not 10',
    'gatehouse.yaml:7:30: webhooks.probe.max: expected a duration with its unit, such as 500ms, 30s, 5m, 12h or 7d, not "5 min"',
    'gatehouse.yaml:10:30: auth.users[0].role: expected one of auditor, viewer, operator, supervisor, admin, not "operater"; did you mean operator?',
    'gatehouse.yaml:10:52: auth.users[0].secretHash: expected a hash that begins with scrypt:, as "gatehouse credential" prints it',
    'gatehouse.yaml:11:19: auth.users[1].username: entry 1 of the list has the same username',
    'gatehouse.yaml:14:10: cameras[0].url: expected an rtsp or rtsps URL of up to 2048 characters, without user name or password in it',
    'gatehouse.yaml:15:5: cameras[0].sensitivity: unknown key; did you mean cameras[].motion.sensitivity?',
    'gatehouse.yaml:16:28: cameras[0].motion.sensitivity: expected a number from 0 to 1, not 1.1',
    'gatehouse.yaml:16:51: cameras[0].motion.preRecordSeconds: expected a number from 0 to 60, not "5"',
    'gatehouse.yaml:16:65: cameras[0].motion.enabled: expected true or false, not "yes"',
    'gatehouse.yaml:17:5: cameras[1].url: is required: an rtsp or rtsps URL of up to 2048 characters, without user name or password in it',
    'gatehouse.yaml:17:11: cameras[1].id: entry 1 of the list has the same id',
    'gatehouse.yaml:17:28: cameras[1].passwordFile: needs username beside it',
    'gatehouse.yaml:17:47: cameras[1].name: expected null or text of 1 to 200 characters, without control characters or spaces at its ends, not the number 7; write "7" in quotes',
    'gatehouse.yaml:19:22: rateLimit.requestsPerMinute: expected a whole number from 1 to 1000000, not 0',
    'gatehouse.yaml:20:12: rateLimit.roles.opertor: expected one of auditor, viewer, operator, supervisor, admin; did you mean operator?',
    'conf.d/storage.yaml:3:11: storage.upload.passwordFile: is required: the path of a file',
    'conf.d/storage.yaml:3:23: storage.upload.instance: expected one of storage.instances',
    'conf.d/storage.yaml:4:28: retention.minFreeBytes: expected a size with its unit, such as 512B, 1KiB, 256MiB or 2GiB, not "2GB"',
    'conf.d/storage.yaml:5:21: ledger.enforce[0]: expected one of SLOT_ALREADY_OCCUPIED, SLOT_EMPTY, ASSET_ELSEWHERE, ASSET_MISMATCH, UNKNOWN_ASSET, TYPE_NOT_ALLOWED, OVERWEIGHT, OVERHEIGHT, SELF_VERIFIED, OPERATOR_DIFFERS, LATE_EVENT, CLOCK_AHEAD, NO_EFFECT, PHOTO_NOT_HELD, PHOTO_TIME_MISMATCH, SLOT_RETIRED, SCAN_MISMATCH, PHOTO_REUSED, BARCODE_CHECK_DIGIT, BARCODE_NOT_GS1, BARCODE_AGAINST_GS1, not "OVERWIGHT"; did you mean OVERWEIGHT?',
    'conf.d/storage.yaml:6:25: http.trustedProxies: expected a list, not "10.0.0.1"',
    'conf.d/storage.yaml:7:18: units.stages: expected a list of 1 to 100 stages, each only once',
  ])
  t.notMatch(problems.join(), /hunter2/)
})

t.test('a bad config ends the command with exit 78 and all its problems', async (t) => {
  const file = folderOf(t, { 'gatehouse.yaml': 'sit: {}\nlisten: []' })
  try {
    loadConfig(file, surroundings)
    t.fail('it loaded')
  } catch (error) {
    t.type(error, ExitError)
    const { exitCode, message } = error as ExitError
    t.equal(exitCode, EXIT_CONFIG)
    t.strictSame(message.split('\n'), [
      '3 problems in the config',
      `${file}:1:1: site.id: is required: a name of 1 to 64 letters, digits, dots, - and _`,
      `${file}:1:1: sit: unknown key; did you mean site?`,
      `${file}:2:9: listen: expected a list of 1 to 64 listeners`,
    ])
  }
})

t.test('a file that is no YAML is refused where it goes wrong, and what it hides is not called missing', async (t) => {
  t.strictSame(problemsOf(t, { 'gatehouse.yaml': 'site:\n\tid: dc-7\n', 'conf.d/a.yaml': 'untis: {}\n' }), [
    'gatehouse.yaml:2:1: a tab cannot indent; use spaces',
    'conf.d/a.yaml:1:1: untis: unknown key; did you mean units?',
  ])
  t.strictSame(problemsOf(t, 'site: {id: a}\nsite: {id: b}\nauth: {freshFor: 1s, freshFor: 2s}'), [
    'gatehouse.yaml:2:1: site: this key is in line 1 already',
    'gatehouse.yaml:3:22: auth.freshFor: this key is in line 3 already',
  ])
  t.strictSame(problemsOf(t, 'site: {id: !env HOST}'), [
    'gatehouse.yaml:1:12: tags (words that begin with !) are not allowed here',
  ])
  t.strictSame(problemsOf(t, 'site: {id: a}\n---\nsite: {id: b}'), [
    'gatehouse.yaml:2:1: a second YAML document begins here; a config is one',
  ])
  t.strictSame(problemsOf(t, '- site'), [
    'gatehouse.yaml:1:1: expected a map of keys, such as "site:" with its own keys indented below it',
  ])
  t.match(problemsOf(t, 'site: {id: "a\npassword: hunter2')[0], /^gatehouse\.yaml:\d+:\d+: no YAML: [^:]*$/)
  t.match(problemsOf(t, 'site: {id: a}\n? [1]\n: 2'), ['gatehouse.yaml:2:3: a key must be text'])
})

t.test('anchors may be used, and cannot be used to blow the config up', async (t) => {
  const shared =
    'site: {id: a}\ncameras:\n- {id: 1, url: rtsp://a/, motion: &quiet {sensitivity: 0.9}}\n- {id: 2, url: rtsp://b/, motion: *quiet}'
  t.equal(configOf(t, shared).config.cameras[1]?.motion.sensitivity, 0.9)
  const bomb = [
    'a: &a0 [1,1,1,1,1,1,1,1,1,1]',
    ...Array.from({ length: 9 }, (_, i) => `b${i}: &a${i + 1} [${Array(10).fill(`*a${i}`)}]`),
  ]
  t.strictSame(problemsOf(t, bomb.join('\n')), [
    'gatehouse.yaml:1:1: with its aliases written out this is more than 200000 values',
  ])
  t.strictSame(problemsOf(t, 'cameras: &a [*a]'), [
    'gatehouse.yaml:1:1: cameras[0][0] … is nested more than 32 levels deep',
  ])
  t.strictSame(problemsOf(t, 'site: {id: *nowhere}'), [
    'gatehouse.yaml:1:12: site.id: there is no anchor of this name before it',
  ])
  t.match(problemsOf(t, '['.repeat(50_000)), [/nested too deeply|no YAML/])
})

t.test('what may be a secret is never repeated, whatever it was written as', async (t) => {
  const problems = problemsOf(
    t,
    `site: {id: a}
auth: { users: [{ username: a, secretHash: 4711 }, { username: b, secretHash: hunter2 }] }
cameras: [{ id: 1, url: "rtsp://u:hunter2@a/", username: u, passwordFile: 4711 }, { id: 2, url: 4711, password: hunter2 }]
storage: { instances: [{ url: "https://u:hunter2@a/" }, { url: "https://u:hunter2@a/" }] }
http: { trustedProxies: ["https://u:hunter2@a/"] }
`,
  )
  t.notMatch(problems.join('\n'), /hunter2|4711/)
  t.match(problems, [
    /secretHash: .*, not a number$/,
    /secretHash/,
    /url/,
    /passwordFile: .*, not a number; write it in quotes$/,
    /url: .*, not a number$/,
  ])
})

t.test('a file that is not there, no text or no file is said to be so', async (t) => {
  const folder = t.testdir({ folder: {}, 'latin.yaml': Buffer.from([0x73, 0xe9]) })
  const problemOf = (name: string) => checkConfig(join(folder, name), surroundings).problems.map(formatProblem)
  t.strictSame(problemOf('none.yaml'), [`${folder}/none.yaml:1:1: there is no such file`])
  t.strictSame(problemOf('folder'), [`${folder}/folder:1:1: is a folder, not a file`])
  t.strictSame(problemOf('latin.yaml'), [`${folder}/latin.yaml:1:1: is not UTF-8 text`])
  t.strictSame(problemsOf(t, { 'gatehouse.yaml': 'site: {id: a}', 'conf.d': '' }), [
    'conf.d:1:1: cannot be read: ENOTDIR',
  ])
})

t.test('site.url is the address of the first listener, and a guess is pointed out', async (t) => {
  const open = configOf(t, 'site: {id: a}\nlisten: [{host: "::", port: 443, tls: {certFile: c, keyFile: k}}]')
  t.equal(open.config.site.url, 'https://box7')
  t.match(open.warnings[1], /gatehouse\.yaml:1:7: site\.url: is not set; https:\/\/box7 is assumed$/)
  const nameless = checkConfig(
    folderOf(t, { 'gatehouse.yaml': 'site: {id: a}\nlisten: [{host: 0.0.0.0, allowPlainHttp: true}]' }),
    {
      hostName: '1.2.3.4.5',
    },
  )
  t.equal(nameless.config?.site.url, 'http://localhost:8480')
  const local = configOf(t, 'site: {id: a}\nlisten: [{host: "::1", port: 81}]')
  t.equal(local.config.site.url, 'http://[::1]:81')
  t.notMatch(local.warnings.join(), /is assumed/)
})

t.test('what puts secrets at risk, and a file that is not there, is told at start', async (t) => {
  const file = folderOf(t, {
    'gatehouse.yaml': `site: { id: a, url: https://a.example }
listen: [{ host: 0.0.0.0, allowPlainHttp: true }, { host: localhost, port: 1 }, { host: 10.0.0.1, tls: { certFile: cert, keyFile: key } }]
metrics: { listen: { host: 10.0.0.1 } }
storage: { instances: [{ url: "http://10.0.0.9" }, { url: "http://127.0.0.1:81" }, { url: "http://[::1]:81" }] }
cameras: [{ id: 1, url: rtsp://a/, username: u, passwordFile: secret, purpose: p }]
privacy: { controller: c, contact: c }
`,
    cert: 'public',
    key: 'private',
  })
  chmodSync(join(dirname(file), 'cert'), 0o644)
  chmodSync(join(dirname(file), 'key'), 0o644)
  const folder = dirname(file)
  t.strictSame(loadConfig(file, surroundings).warnings, [
    `${file}:2:10: listen[0]: listens beyond this machine without TLS: secrets travel in the clear`,
    `${file}:2:131: listen[2].tls.keyFile: ${folder}/key can be read by every user of this machine (chmod o-r)`,
    `${file}:3:20: metrics.listen: listens beyond this machine without TLS: secrets travel in the clear`,
    `${file}:4:31: storage.instances[0].url: is not https: secrets travel in the clear`,
    `${file}:5:63: cameras[0].passwordFile: ${folder}/secret: there is no such file; make it, or correct the path`,
  ])
})

t.test('names, addresses and lists that would be ambiguous are refused', async (t) => {
  const refused = (yaml: string) =>
    problemsOf(t, `site: {id: a}\n${yaml}`).map((line) => line.replace(/^gatehouse\.yaml:2:\d+: /, ''))
  t.match(refused('listen: [{port: 1}, {port: 1}]'), ['listen[1]: another listener has 127.0.0.1:1 already'])
  t.match(refused('metrics: {listen: {port: 8480}}'), ['metrics.listen: a listener has 127.0.0.1:8480 already'])
  t.match(refused('storage: {instances: [{url: https://a.example}, {url: "https://A.example:443/"}]}'), [
    /entry 1 of the list has the same url/,
  ])
  t.match(refused('units: {stages: [a, b, a]}'), ['units.stages: expected a list of 1 to 100 stages, each only once'])
  t.match(refused('warehouses: [{id: 1}, {id: 1}]'), [/^warehouses\[1\]\.id: entry 1 of the list has the same id/])
  for (const host of ['10.0.0', '256.1.1.1', '[::1]', 'a b', '-a', 'a:80', 'fe80::1%eth0', '""']) {
    t.match(refused(`listen: [{host: "${host.replaceAll('"', '')}"}]`), [/an IP address or a host name/], host)
  }
  for (const cidr of ['10.0.0.0/33', '10', '0x0a.0.0.1', 'fd00::/129', 'example.com', 'fe80::1%eth0']) {
    t.match(refused(`http: {trustedProxies: ["${cidr}"]}`), [/an address or network/], cidr)
  }
  for (const url of [
    'ftp://a/',
    'https://',
    'https://u@a/',
    'https://@a/',
    'https://a/?q',
    'https://a/#f',
    'https://a b/',
    'a.example',
  ]) {
    t.match(refused(`storage: {instances: [{url: "${url}"}]}`), [/an https or http URL without query/], url)
  }
  for (const root of ['gatehouse', '/a/../b', '/a//b', '/./a']) {
    t.match(
      refused(
        `storage: {instances: [{url: https://a}], upload: {instance: https://a, username: u, passwordFile: p, root: "${root}"}}`,
      ),
      [/begins with \//],
      root,
    )
  }
  const own = problemsOf(t, 'site: {id: a, url: https://a}\nstorage: {instances: [{url: https://a/}]}')
  t.match(own, ['gatehouse.yaml:2:29: storage.instances[0].url: is site.url, which names the local accounts'])
})

t.test('secrets are read when they are needed, from files or from credentials of systemd', async (t) => {
  const folder = t.testdir({
    plain: 'hunter2\n',
    windows: 'hunter2\r\n',
    two: 'a\n\n',
    empty: '\n',
    bytes: Buffer.from([0xff]),
  })
  const env = { CREDENTIALS_DIRECTORY: folder }
  const credential = `\${CREDENTIALS_DIRECTORY}/plain`
  t.equal(readSecretFile(join(folder, 'plain')), 'hunter2')
  t.equal(readSecretFile(join(folder, 'windows')), 'hunter2')
  t.equal(readSecretFile(join(folder, 'two')), 'a\n')
  t.equal(readSecretFile(credential, env), 'hunter2')
  t.throws(() => readSecretFile(join(folder, 'none')), {
    code: 'SECRET_FILE_MISSING',
    message: `the secret file ${folder}/none does not exist`,
  })
  t.throws(() => readSecretFile(folder), { code: 'SECRET_FILE_UNREADABLE' })
  t.throws(() => readSecretFile(join(folder, 'empty')), { code: 'SECRET_FILE_INVALID' })
  t.throws(() => readSecretFile(join(folder, 'bytes')), { code: 'SECRET_FILE_INVALID' })

  const camera = `site: {id: a}\ncameras: [{id: 1, url: rtsp://a/, username: u, passwordFile: '${credential}'}]`
  const file = folderOf(t, { 'gatehouse.yaml': camera })
  writeFileSync(join(dirname(file), 'plain'), 'x', { mode: 0o600 })
  const asService = loadConfig(file, { ...surroundings, env: { CREDENTIALS_DIRECTORY: dirname(file) } })
  t.equal(asService.config.cameras[0]?.passwordFile, join(dirname(file), 'plain'))
  const asAdmin = loadConfig(file, surroundings)
  t.equal(asAdmin.config.cameras[0]?.passwordFile, credential)
  t.notMatch(asAdmin.warnings.join(), /passwordFile/)
})
