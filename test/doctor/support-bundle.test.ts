import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { redactorOf } from '../../src/doctor/bundle/redactor.ts'
import { cheapHash } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { newBox, runningBox } from '../support/running.ts'

t.setTimeout(180_000)

/** The files of a zip, by name. */
async function unpack(file: string): Promise<Record<string, string>> {
  const into = mkdtempSync(join(tmpdir(), 'gatehouse-bundle-'))
  try {
    const { code, stderr } = await runToEnd('python3', ['-m', 'zipfile', '-e', file, into])
    if (code !== 0) throw new Error(stderr)
    return Object.fromEntries(readdirSync(into).map((name) => [name, readFileSync(join(into, name), 'utf8')]))
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

/** Everything that must not leave the box, by where it is planted. */
const planted = {
  'password file of a camera': 'cam file Pa55/+=',
  'user name at a camera': 'cam-account-name',
  'password of the upload account': 'upload-Pa55word',
  'token of the metrics': 'metrics-token-77',
  'secret of the admin': 'ada-secret',
  'secret of a webhook': 'webhook-secret-4242',
  'token in the path of a receiver': 'hook-path-token-99',
  'token in the query of a probe': 'probe-query-token',
  environment: 'env-secret-value-31',
  'secret of a first admin': 'first-admin-secret',
  'a person in the config': 'Adalberta',
  'a person who scanned': 'Zwiebelmann',
  'password in the log': 'log-line-Pa55',
} as const
const { 'password file of a camera': cameraPassword } = planted

/** A box with a secret in every place that can hold one. */
async function boxFullOfSecrets(t: Test) {
  const files = {
    cam2: cameraPassword,
    cloud: planted['password of the upload account'],
    metrics: planted['token of the metrics'],
  }
  const config = {
    auth: {
      users: [
        { username: 'ada', role: 'admin', secretHash: cheapHash(planted['secret of the admin']) },
        { username: planted['a person in the config'], role: 'operator', secretHash: cheapHash('x') },
      ],
    },
    cameras: [
      {
        id: 1,
        url: `rtsp://127.0.0.1:1/a`,
        owner: planted['a person in the config'],
      },
      { id: 2, url: 'rtsp://127.0.0.1:1/b', username: planted['user name at a camera'], passwordFile: 'cam2' },
    ],
    storage: {
      instances: [{ url: 'http://127.0.0.1:1' }],
      upload: { instance: 'http://127.0.0.1:1', username: 'gw-upload', passwordFile: 'cloud', root: '/g' },
    },
    uplink: { probes: [`http://127.0.0.1:1/?key=${planted['token in the query of a probe']}`] },
    metrics: { listen: { host: '127.0.0.1', port: 0, tokenFile: 'metrics' } },
  }
  const box = await runningBox(t, config, files)
  writeFileSync(join(box.cwd, 'state/first-admin'), `${planted['secret of a first admin']}\n`)
  return box
}

/** A journal whose lines hold what a careless line could. */
function journalIn(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const lines = [
    `opened rtsp://x:${planted['password in the log']}@10.0.0.1/a`,
    `camera 2 said 401 to ${cameraPassword} of ${planted['user name at a camera']}`,
    `Authorization: Bearer ${planted['secret of the admin']}`,
    `scan by ${planted['a person who scanned'].toLowerCase()}; admin ada signed in`,
    `password=${planted['secret of a webhook']} ${planted['token in the path of a receiver']}`,
  ]
  writeFileSync(join(bin, 'journalctl'), `#!/bin/sh\ncat <<'END'\n${lines.join('\n')}\nEND\n`)
  chmodSync(join(bin, 'journalctl'), 0o755)
  return { ...process.env, PATH: `${bin}:${process.env['PATH']}`, SUPPORT_PASSWORD: planted.environment }
}

t.test('nothing secret and no person is in a bundle, wherever it was planted', needs('python3'), async (t) => {
  const box = await boxFullOfSecrets(t)
  const post = (path: string, body: unknown) =>
    fetch(`${box.url}/api/${path}`, { method: 'POST', headers: box.headers, body: JSON.stringify(body) })
  const hook = {
    url: `https://receiver.example/${planted['token in the path of a receiver']}`,
    events: ['whms.placement'],
    secret: planted['secret of a webhook'],
  }
  t.equal((await post('webhooks', hook)).status, 201)
  const { gateway } = box.running
  await gateway.backup({ target: join(box.cwd, 'b.tar'), media: false }, planted['a person who scanned'])
  const env = journalIn(box.cwd)
  const args = ['support-bundle', '--config', 'gatehouse.yaml', '--out', 'bundle.zip', '--json']
  const { code, stdout, stderr } = await runToEnd(gatehouse, args, { cwd: box.cwd, env })
  t.equal(code, 0, stderr)
  const { file, files } = JSON.parse(stdout) as { file: string; files: string[] }
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.strictSame(files.toSorted(), [
    ...['README.txt', 'about.json', 'alerts.json', 'config-problems.txt', 'config.yaml', 'database.json'],
    ...['doctor.json', 'doctor.txt', 'log.txt', 'metrics.txt', 'status.json'],
  ])
  const unpacked = await unpack(file)
  const all = Object.values(unpacked).join('\n')
  for (const [where, secret] of Object.entries(planted)) {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
    t.notOk(
      forms.some((form) => all.toLowerCase().includes(form.toLowerCase())),
      `${where}: ${secret}`,
    )
  }
  t.notMatch(all, /scrypt:/)
  const text = (name: string) => unpacked[name] ?? ''
  t.match(text('config.yaml'), /username: "?\[person\]|id: dc-7/)
  t.match(JSON.parse(text('database.json')), { schema: Number, tables: [{ name: String, rows: Number }] })
  t.match(text('metrics.txt'), /gatehouse_/)
  t.match(text('log.txt'), /camera 2 said 401 to \[secret\] of \[secret\]/)
  t.match(JSON.parse(text('doctor.json')), { running: true, findings: [{ topic: 'gateway' }] })
})

t.test('a config that was refused is no way out for its secrets', needs('python3'), async (t) => {
  const box = newBox(t)
  writeFileSync(join(box.cwd, 'cam2'), 'pass-of-a-file\n', { mode: 0o600 })
  writeFileSync(
    box.file,
    `site: { id: dc-7 }
webhookSecret: misplaced-secret-1
cameras:
  - { id: 1, url: "rtsp://cam-url-user:cam%2Durl-Pa55@127.0.0.1:1/a" }
  - { id: 2, url: "rtsp://127.0.0.1:1/b", passwordFile: cam2 }
`,
  )
  const bin = join(box.cwd, 'bin')
  mkdirSync(bin)
  const lines = 'cam-url-user cam-url-Pa55 cam%2Durl-Pa55 misplaced-secret-1 pass-of-a-file'
  writeFileSync(join(bin, 'journalctl'), `#!/bin/sh\necho '${lines}'\n`, { mode: 0o755 })
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
  const args = ['support-bundle', '--config', 'gatehouse.yaml', '--out', 'b.zip']
  t.equal((await runToEnd(gatehouse, args, { cwd: box.cwd, env })).code, 0)
  const files = await unpack(join(box.cwd, 'b.zip'))
  t.equal(files['log.txt'], `${Array(5).fill('[secret]').join(' ')}\n`)
  for (const secret of lines.split(' ')) t.notOk(JSON.stringify(files).includes(secret), secret)
  t.match(files['config-problems.txt'], /gatehouse\.yaml:2:1.*webhookSecret/)
})

t.test('a bundle can be made while the gateway does not run, and overwrites no file', async (t) => {
  const box = newBox(t)
  const make = () =>
    runToEnd(gatehouse, ['support-bundle', '--config', 'gatehouse.yaml', '--out', 'b.zip'], { cwd: box.cwd })
  t.match(await make(), { code: 0, stdout: /b\.zip: \d+ files\. Look through it/ })
  t.match(await make(), { code: 1, stderr: /b\.zip cannot be written: EEXIST/ })
})

t.test('a secret is found in the forms in which programs write it, a person only as a whole word', async (t) => {
  const redact = redactorOf({ secrets: ['p/ss "word"', 'abc'], people: ['Anna', 'admin'] })
  t.equal(redact('p%2Fss%20%22word%22'), '[secret]')
  t.equal(redact('{"x":"p/ss \\"word\\""}'), '{"x":"[secret]"}')
  t.equal(redact('abc abcde ANNA Annabel admin'), '[secret] abcde [person] Annabel admin')
  t.equal(redact('https://a.example/x?token=1&b=2 rtsp://u:p@h/'), 'https://a.example/x?[query] rtsp://***@h/')
  t.equal(redact('{"password": "x\\"y", "n": 1}'), '{"password": "[secret]", "n": 1}')
})
