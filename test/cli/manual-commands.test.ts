import { spawn } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { freePort } from '../../scripts/demo-parts/ports.ts'
import { helpTopics } from '../../src/console/help/topics.ts'
import { footage } from '../support/footage.ts'
import { blocksOf, type ManualBox, manualBox, putFile } from '../support/manual-box.ts'
import {
  csvOf,
  fileOf,
  isAdministered,
  isShell,
  manualPlayer,
  type Play,
  setUpBox,
  yamlOf,
} from '../support/manual-play.ts'
import { needs } from '../support/needs.ts'
import { jpeg } from '../support/photo.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(900_000)

/** Commands that another program runs: the file that does, and its text that runs them. A changed command is in no list. */
const elsewhere: Readonly<Record<string, readonly (readonly [commands: string, file: string, text: string])[]>> = {
  'README.md Try it': [
    ['scripts/demo', 'test/e2e/demo-runs.ts', "join(root, 'scripts/demo')"],
    ['scripts/test', '.ci/run', 'scripts/test'],
  ],
  'README.md Install': [
    ['npm ci', 'scripts/install', 'npm ci '],
    ['npm run build', 'package.json', '"build": "node scripts/build.ts"'],
    ['sudo gatehouse setup', 'scripts/appliance/first-install.ts', 'gatehouse setup '],
    ['sudo systemctl enable --now gatehouse', 'scripts/appliance/first-install.ts', 'systemctl enable --now gatehouse'],
  ],
  'appliance Roll back': [
    [
      'sudo gatehouse rollback --check\nsudo gatehouse rollback',
      'scripts/appliance/upgrades.ts',
      'gatehouse rollback --check && gatehouse rollback',
    ],
  ],
}

/** Stories of the demo that the README names, each with the test that plays it. */
const stories: Readonly<Record<string, string>> = {
  '--once': 'test/long/demo-story.test.ts',
  '--disaster': 'test/long/demo-disaster.test.ts',
  '--hub': 'test/hub/demo.test.ts',
}

/** Blocks whose text another test reads from the page and runs. */
const playedByOthers = (topic: string, heading: string): boolean =>
  ['backup', 'head-office'].includes(topic) || `${topic} ${heading}` === 'README.md First pallet'

const written = ['README.md', ...helpTopics].filter(
  (topic) => !['commands', 'config', 'errors', 'alerts'].includes(topic),
)
let box: ManualBox
t.before(async () => {
  box = await manualBox()
})
const stops: (() => unknown)[] = []
t.teardown(async () => {
  for (const stop of stops) await stop()
  await box.end()
})

const player = manualPlayer(() => box, isAdministered)
const { typed, play, hasPlayed } = player

t.test(
  'start: from the installed package to the first camera; apt alone is not run',
  needs('ffmpeg', 'curl'),
  async (t) => {
    const auth = { username: 'viewer', password: 'pass of the camera' }
    const camera = await startRtspServer({ streams: { main: await footage('crossing') }, auth })
    stops.push(() => camera.stop())
    const url = { 'rtsp://10.0.0.21:554/main': camera.url('main') }
    typed('start', 'Install the package')
    await setUpBox(t, player)
    await play(t, 'start', 'Choose TLS')
    putFile(box, 'home/slots.csv', csvOf('start'))
    await play(t, 'start', 'Add slots', { says: /3 lines, nothing wrong; it would be: 3 new/ })
    await play(t, 'start', 'Add slots', { edits: { ' --dry-run': '' }, says: /3 new/ })
    await play(t, 'start', 'Add slots', { nth: 1, says: /warehouse 2: Hall 2/ })
    for (const [nth, name] of ['assets.csv', 'stock.csv'].entries())
      putFile(box, `home/${name}`, csvOf('start', nth + 1))
    await play(t, 'start', 'Import pallets')
    await play(t, 'start', 'Place the first pallet', { edits: { HOSTNAME: 'localhost' }, says: /"effect":"applied"/ })
    await play(t, 'start', 'Add the first camera', { edits: url, input: `${auth.password}\n` })
    await play(t, 'start', 'Register the first webhook')
    await play(t, 'cameras', 'Add a camera')
    putFile(box, 'etc/gatehouse/secrets/cam1', `${auth.password}\n`)
    await play(t, 'cameras', 'Add a camera', { nth: 1, edits: { '--username': '--seconds 1 --username' } })
    await play(t, 'cameras', 'Add a camera', { nth: 2, edits: url, says: /url: rtsp:/ })
    putFile(
      box,
      'etc/gatehouse/conf.d/60-cameras.yaml',
      yamlOf('cameras', 'Add a camera')
        .replace(/rtsp:\S+main/, camera.url('main'))
        .replace(/.*detectUrl.*\n/, '')
        .replace('/etc', `${box.folder}/etc`),
    )
    await play(t, 'cameras', 'Add a camera', { nth: 3, says: /./ })
  },
)

t.test('operate: journalctl, apt, dpkg and systemctl edit are not run', needs('curl'), async (t) => {
  await play(t, 'operate', 'Check the gateway', {
    edits: { 'sudo gatehouse doctor': 'sudo gatehouse doctor --no-cameras || [ $? -eq 1 ]' },
    says: /ledger/,
  })
  typed('operate', 'Read the log')
  typed('operate', 'Free the disk')
  const made = await box.run('sudo gatehouse credential --username erp --role operator')
  const hash = /scrypt:[^"\s]+/.exec(made.stdout)?.[0] ?? ''
  putFile(
    box,
    'etc/gatehouse/conf.d/60-users.yaml',
    yamlOf('people', 'Programs, scanners and badges').replace('scrypt:…', hash),
  )
  putFile(
    box,
    'etc/gatehouse/conf.d/70-metrics.yaml',
    yamlOf('operate', 'Monitor with Prometheus').replace('0.0.0.0', '127.0.0.1'),
  )
  await play(t, 'operate', 'Change the config')
  await play(t, 'operate', 'Change the config', { nth: 1, says: /well, up for/ })
  await play(t, 'operate', 'Change the config', { nth: 2, edits: { cam1: 'cam2' }, input: 'password\n' })
  await play(t, 'operate', 'Renew the certificate')
  typed('operate', 'Upgrade')
  typed('operate', 'Upgrade', { nth: 1 })
  await play(t, 'operate', 'Roll back', { code: 1, says: /no (earlier|previous|other) version|nothing to go back/i })
  await play(t, 'operate', 'Get help', { says: /\.zip/ })
})

t.test(
  'evidence: an auditor checks proofs and statements with the scripts alone',
  needs('curl', 'jq', 'openssl', 'xxd'),
  async (t) => {
    const asAdmin = `-s --fail-with-body -H "Authorization: Bearer $(cat /etc/gatehouse/secrets/account-admin)" -H 'X-Storage-Instance: ${box.url}' -H 'X-Storage-Username: admin'`
    const get = async (path: string, file: string) => {
      const { code, stdout } = await box.run(`curl ${asAdmin} '${box.localUrl}${path}' >${file}`)
      t.equal(code, 0, `${path} ${stdout}`)
    }
    const keys = (await play(t, 'evidence', 'Keys')).stdout.trim().split('\n')
    t.equal(keys.length, 2)
    await waitUntil(
      'a detection',
      async () => {
        await get('/api/iot/detection-events?limit=1', 'detections.json')
        return JSON.parse(readFileSync(box.at('home/detections.json'), 'utf8')).data.length === 1
      },
      { withinMs: 300_000, everyMs: 1000 },
    )
    await play(t, 'evidence', 'Check a proof bundle', {
      edits: { 'proof 12': 'proof 1', '--detection 7': '--detection 1' },
    })
    for (const name of ['recipe.sh', 'statement.sh']) await get(`/help/${name}`, name)
    const key = { "'gatehouse/dc-7/…+7b070d3c+AdXi…'": `'${keys.join(' ')}'` }
    await play(t, 'evidence', 'Check a proof bundle', { nth: 1, edits: key, says: /signature.*holds/ })
    await play(t, 'evidence', 'Check a proof bundle', { nth: 2, says: /"kind": "placement"/ })
    await get(
      '/api/whms/slots/B-01-01/untouched?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z&format=note',
      'slot.note',
    )
    await play(t, 'evidence', 'Check a statement', { edits: key, says: /untouched/ })
    await get('/api/log/checkpoint', 'kept.txt')
    await play(t, 'evidence', 'Check everything', { says: /everything matches/ })
    await play(t, 'evidence', 'Check everything', { nth: 1 })
    await play(t, 'evidence', 'Change the keys')
    await box.run('gatehouse ledger proof 1 --out later.json')
    await play(t, 'evidence', 'Change the keys', {
      nth: 1,
      edits: { ' FILE >h': ' later.json >h', OLD: keys.join(' ') },
      says: /gatehouse\/dc-7/,
    })
  },
)

t.test(
  'integrate: a program sends events, reads, and receives a signed webhook',
  needs('curl', 'openssl', 'python3'),
  async (t) => {
    const { stdout } = await play(t, 'integrate', 'Get an account')
    const entry = /\{ username: .*\}/.exec(stdout)?.[0] ?? ''
    putFile(box, 'etc/gatehouse/conf.d/wms.yaml', `auth:\n  users:\n    - ${entry}\n`)
    await box.run('gatehouse config check && systemctl reload gatehouse')
    await play(t, 'integrate', 'Get an account', {
      nth: 1,
      edits: { 'gateway.example': 'localhost:8443' },
      says: /Fingerprint=/,
    })
    const secret = /^secret .*: (\S+)/m.exec(stdout)?.[1] ?? ''
    const exported = await play(t, 'integrate', 'Get an account', {
      nth: 2,
      edits: { 'https://gateway.example': box.url, '…': `${secret}\nenv | grep -E '^(GW|NAME|SECRET)='` },
    })
    const env: Record<string, string> = { CURL_CA_BUNDLE: box.at('home/gatehouse-ca.pem') }
    for (const name of ['GW', 'NAME', 'SECRET'])
      env[name] = new RegExp(`^${name}=(.*)$`, 'm').exec(exported.stdout)?.[1] ?? ''
    const asks = (heading: string, more: Play = {}) =>
      play(t, 'integrate', heading, { env, says: /"success":true/, ...more })
    // The zone and slots of the list are there already.
    await asks('Make two slots', { edits: { '"A"': '"W"' } })
    await asks('Make two slots', { nth: 1, edits: { '"A"': '"W"', 'A-01': 'W-01' }, says: /W-01-02/ })
    await asks('Post an event', { edits: { 'A-01': 'W-01', 'scan-0001': 'scan-1001' }, says: /"effect":"applied"/ })
    await asks('Send late scans', { says: /"status":201.*REFERENCE_NOT_FOUND/ })
    await asks('Read the floor', { says: /W-01-01/ })
    await asks('Read the floor', { nth: 1, says: /W-01-01/ })
    await asks('Copy the whole ledger', { says: /(?:)/ })
    t.match(readFileSync(box.at('home/events.ndjson'), 'utf8').split('\n')[0], /"seq":/)
    await asks('Follow the stream', { edits: { 'curl -N': 'curl -N --max-time 3' }, code: 28, says: /event: hello/ })
    writeFileSync(box.at('home/pallet.jpg'), jpeg())
    await asks('Upload a photo', { says: /"mediaType":"image\/jpeg"/ })
    await receiveWebhooks(t, env)
  },
)

/** Starts each receiver of the page, registers it, and lets the gateway send a test. */
async function receiveWebhooks(t: Test, env: Record<string, string>): Promise<void> {
  await play(t, 'integrate', 'Receive webhooks', { edits: { 'erp.example': 'localhost' } })
  cpSync(box.at('home/cert.pem'), box.at('etc/gatehouse/receivers-ca.pem'))
  const config = yamlOf('integrate', 'Receive webhooks')
    .replace('10.20.0.0/16', '127.0.0.0/8')
    .replace('/etc', `${box.folder}/etc`)
  putFile(box, 'etc/gatehouse/conf.d/80-webhooks.yaml', config)
  await box.run('systemctl reload gatehouse')
  for (const [language, command] of [
    ['js', process.execPath],
    ['python', 'python3'],
  ] as const) {
    const port = String(await freePort())
    const [code] = blocksOf(fileOf('integrate')).filter((one) => one.language === language)
    const file = language === 'js' ? 'receiver.mjs' : 'receiver.py'
    putFile(box, `home/${file}`, code?.text.replace('8443', port) ?? '')
    const receiver = spawn(command, [file], {
      cwd: box.at('home'),
      stdio: 'ignore',
      env: { ...process.env, WEBHOOK_SECRET: 'a secret of both sides' },
    })
    stops.push(() => receiver.kill())
    const isUp = async () => (await box.run(`curl -sk https://localhost:${port}`)).code !== 7
    await waitUntil(`${file} listens`, isUp, { everyMs: 500 })
    const { stdout } = await play(t, 'integrate', 'Receive webhooks', {
      nth: 1,
      env,
      edits: { 'erp.example:8443': `localhost:${port}`, 'register-erp': language },
      says: /"active":true/,
    })
    const hook = { '019cae08-8580-72d9-b8b2-568fa2da50fe': JSON.parse(stdout).id }
    await play(t, 'integrate', 'Receive webhooks', { nth: 2, env, edits: hook, says: /"delivered":true/ })
    await play(t, 'integrate', 'Replay the outbox', {
      env: { ...env, HOOK: JSON.parse(stdout).id },
      edits: { '2026-03-02T08:00:00Z': new Date().toISOString() },
      says: /"success":true/,
    })
  }
}

t.test('appliance: a serial scale is named; its service reads it in test/firmware', async (t) => {
  await play(t, 'appliance', 'Read a serial scale', { input: 'secret of the scale\n' })
  t.match(readFileSync(box.at('state/scales/dock-1.conf'), 'utf8'), /^scale=dock-1\nusername=scale-1$/m)
  t.equal(readFileSync(box.at('state/scales/dock-1.secret'), 'utf8'), 'secret of the scale\n')
})

t.test('privacy: a person is erased', async (t) => {
  rmSync(box.at('etc/gatehouse/conf.d/wms.yaml'))
  await box.run('systemctl reload gatehouse')
  await play(t, 'privacy', 'Erase a person', { edits: { NAME: 'wms' }, says: /erased/ })
})

t.test('each command of README and manual was played here, or is run by another test', (t) => {
  for (const topic of written)
    for (const { heading, line, text } of blocksOf(fileOf(topic)).filter(isShell)) {
      if (hasPlayed(topic, { line }) || playedByOthers(topic, heading)) continue
      const commands = text
        .split('\n')
        .map((one) => one.replace(/\s+#.*/, ''))
        .filter((one) => one !== '' && !isAdministered(one))
      const others = elsewhere[`${topic} ${heading}`] ?? []
      t.same(
        commands,
        others.flatMap(([one]) => one.split('\n')),
        `${fileOf(topic)}:${line}: no test runs this block`,
      )
      for (const [command, file, part] of others) t.ok(readFileSync(file, 'utf8').includes(part), `${file}: ${command}`)
    }
  const tryIt =
    readFileSync('README.md', 'utf8')
      .split(/^## /m)
      .find((one) => one.startsWith('Try it')) ?? ''
  t.same(
    [...tryIt.matchAll(/`(--\w+)`/g)].map(([, option]) => option),
    Object.keys(stories),
  )
  for (const [option, file] of Object.entries(stories)) t.ok(readFileSync(file, 'utf8').includes(`['${option}'`), file)
  t.end()
})
