import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { hashSecret } from '../../src/auth/index.ts'
import { checkConfig } from '../../src/config/index.ts'
import { modelFaults } from '../../src/console/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { brightModel } from '../support/tiny-model.ts'

t.setTimeout(240_000)

const secretHash = await hashSecret('a secret', systemRandom)
const auth = `auth: { users: [{ username: ada, role: admin, secretHash: "${secretHash}" }] }`

/** A folder with these files; its gatehouse.yaml. */
function folderOf(t: Test, files: Record<string, string | Uint8Array>): string {
  const folder = t.testdir({})
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  }
  return folder
}

/** Returns the output of `gatehouse config check` for a config, without the folder in its file names. */
async function check(t: Test, config: string, files: Record<string, string | Uint8Array> = {}) {
  const folder = folderOf(t, { 'gatehouse.yaml': config, ...files })
  const { code, stdout, stderr } = await runToEnd(gatehouse, ['config', 'check', join(folder, 'gatehouse.yaml')])
  const bare = (text: string) =>
    text
      .replaceAll(`${folder}/`, '')
      .split('\n')
      .filter((line) => line !== '')
  return { code, out: bare(stdout), err: bare(stderr) }
}

t.test('a config that works is ok', async (t) => {
  t.same(await check(t, `site: { id: dc-7 }\n${auth}\n`), { code: 0, out: ['gatehouse.yaml: ok'], err: [] })
})

t.test('files that are missing, empty or no files are found before the daemon needs them', async (t) => {
  const config = `site: { id: dc-7 }
${auth}
listen: [{ host: 10.0.0.1, tls: { certFile: tls/cert.pem, keyFile: tls } }]
storage: { instances: [{ url: "https://cloud.example.com", caFile: ca.pem }] }
cameras:
  - { id: 1, url: "rtsp://10.0.0.21/", username: viewer, passwordFile: empty }
ffmpeg: { path: /nowhere/ffmpeg }
`
  const { code, err } = await check(t, config, { empty: '', 'tls/other': '' })
  t.equal(code, 78)
  t.same(err, [
    'gatehouse: 5 problems in the config',
    'gatehouse.yaml:3:45: listen[0].tls.certFile: tls/cert.pem: there is no such file; make it, or correct the path',
    'gatehouse.yaml:3:68: listen[0].tls.keyFile: tls is a folder; name the file in it',
    'gatehouse.yaml:4:68: storage.instances[0].caFile: ca.pem: there is no such file; make it, or correct the path',
    'gatehouse.yaml:6:72: cameras[0].passwordFile: empty is empty; write its value into it',
    'gatehouse.yaml:7:17: ffmpeg.path: /nowhere/ffmpeg: there is no such file; make it, or correct the path',
  ])
})

t.test(
  'a file that may not be read is found',
  { skip: process.getuid?.() === 0 && 'needs a user other than root' },
  async (t) => {
    const folder = folderOf(t, {
      'gatehouse.yaml': `site: { id: a }\n${auth}\nmetrics: { listen: { tokenFile: token } }`,
      token: 'x',
    })
    chmodSync(join(folder, 'token'), 0o000)
    const { code, stderr } = await runToEnd(gatehouse, ['config', 'check', join(folder, 'gatehouse.yaml')])
    t.match(
      [code, stderr],
      [78, /tokenFile: .*token: this user may not read it; let the user who runs gatehouse read it/],
    )
  },
)

t.test('a certificate with which the listener would not start is found', async (t) => {
  const config = `site: { id: dc-7 }\n${auth}\nlisten: [{ host: 10.0.0.1, tls: { certFile: cert, keyFile: key } }]\n`
  const { code, err } = await check(t, config, { cert: 'no PEM', key: 'no PEM' })
  t.equal(code, 78)
  t.match(err, ['gatehouse: 1 problem in the config', /^gatehouse\.yaml:3:33: listen\[0\]\.tls: /])
})

t.test('a config in which nobody can sign in is refused, and says how to get in', async (t) => {
  const nobody = await check(t, 'site: { id: dc-7 }\nauth: { users: [] }\n')
  t.equal(nobody.code, 78)
  t.match(
    nobody.err[1],
    /^gatehouse\.yaml:2:16: auth\.users: no one can sign in: .*gatehouse credential --username NAME/,
  )
  const placeholder = await check(
    t,
    `site: { id: dc-7 }\nauth: { users: [{ username: ada, secretHash: "scrypt:…" }] }\n`,
  )
  t.equal(placeholder.code, 78)
  t.match(
    placeholder.err[1],
    /^gatehouse\.yaml:2:46: auth\.users\[0\]\.secretHash: is not whole, so "ada" can never sign in/,
  )
  const storage = 'storage: { instances: [{ url: "https://cloud.example.com" }] }'
  t.equal((await check(t, `site: { id: dc-7 }\n${storage}\n`)).code, 0, 'accounts of a storage server are enough')
})

t.test('the address of a printer is a host, and its port stands apart', async (t) => {
  for (const host of ['http://10.0.0.41', '10.0.0.41:9100', 'socket://printer:9100', 'printer:9100', '10.0.0.41/']) {
    const { code, err } = await check(t, `site: { id: dc-7 }\n${auth}\nprinters: [{ name: dock, host: "${host}" }]\n`)
    t.equal(code, 78, host)
    t.match(err[1], /^gatehouse\.yaml:3:32: printers\[0\]\.host: expected an IP address or a host name, without http:/)
  }
  for (const host of ['10.0.0.41', 'printer-1.lan', 'fd00::41']) {
    t.equal((await check(t, `site: { id: dc-7 }\n${auth}\nprinters: [{ name: dock, host: "${host}" }]\n`)).code, 0)
  }
})

t.test('a number that YAML reads otherwise than it is written is refused', async (t) => {
  const wrong = await check(
    t,
    `site: { id: 0123 }
auth: { users: [{ username: 0815, role: admin, secretHash: "${secretHash}" }] }
listen: [{ port: 08480 }]
cameras: [{ id: 007, url: "rtsp://a/", slots: [0o17, 0x1F] }]
`,
  )
  t.equal(wrong.code, 78)
  t.same(wrong.err, [
    'gatehouse: 6 problems in the config',
    'gatehouse.yaml:1:13: site.id: 0123 is read as the number 123; write "0123" in quotes if it is a name, 123 if it is a number',
    'gatehouse.yaml:2:29: auth.users[0].username: 0815 is read as the number 815; write "0815" in quotes if it is a name, 815 if it is a number',
    'gatehouse.yaml:3:18: listen[0].port: 08480 is read as the number 8480; write "08480" in quotes if it is a name, 8480 if it is a number',
    'gatehouse.yaml:4:17: cameras[0].id: 007 is read as the number 7; write "007" in quotes if it is a name, 7 if it is a number',
    'gatehouse.yaml:4:48: cameras[0].slots[0]: 0o17 is read as the number 15; write "0o17" in quotes if it is a name, 15 if it is a number',
    'gatehouse.yaml:4:54: cameras[0].slots[1]: 0x1F is read as the number 31; write "0x1F" in quotes if it is a name, 31 if it is a number',
  ])
  const fine = `site: { id: "0123" }\n${auth}\nlisten: [{ port: 0 }]\ncameras: [{ id: 7, url: "rtsp://a/", motion: { sensitivity: 0.30, masks: [[{x: 0, y: 0}, {x: 1.0, y: 0}, {x: 0.50, y: 0.5}]] } }]\n`
  t.equal((await check(t, fine)).code, 0, 'quotes, a plain zero and fractions are as they seem')
})

t.test('a version whose pages the floor should keep is ignored with a warning', async (t) => {
  const config = (floorLayout: string) =>
    `site: { id: dc-7 }\n${auth}\nlisten: [{ port: 0 }]\nupdates: { floorLayout: ${floorLayout} }\n`
  const warning =
    'warning: gatehouse.yaml:4:25: updates.floorLayout: is ignored: the floor sees the pages of the running version; remove the key'
  t.notMatch((await check(t, config('automatic'))).out.join('\n'), 'floorLayout')
  const checked = await check(t, config('1.2.0'))
  t.equal(checked.code, 0)
  t.match(checked.out.join('\n'), warning)
})

t.test('analytics of a camera that do not count are a warning, and their rules have known meanings', async (t) => {
  const config = (motion: string, kind = 'vehicle') =>
    `site: { id: dc-7 }\n${auth}\nlisten: [{ port: 0 }]\ncameras:\n  - { id: 1, url: "rtsp://10.0.0.21/main", ${motion}\n      analytics: { rules: { "Gate line": ${kind} } } }\n`
  const checked = await check(t, config(''))
  t.equal(checked.code, 0)
  t.match(
    checked.out.join('\n'),
    'warning: gatehouse.yaml:6:18: cameras[0].analytics: has no effect while motion.source is pictures; set motion.source to camera or both',
  )
  for (const source of ['camera', 'both'])
    t.notMatch((await check(t, config(`motion: { source: ${source} },`))).out.join('\n'), 'analytics')
  const wrong = await check(t, config('motion: { source: both },', 'ghost'))
  t.match(
    wrong.err.join('\n'),
    /analytics\.rules.*expected one of person, vehicle, animal, line, motion, tamper, ignore/,
  )
  t.match((await check(t, config('motion: { source: eyes },'))).err.join('\n'), /one of pictures, camera, both/)
})

t.test('a model that browsers could not use is found before somebody looks at a camera', async (t) => {
  const config = (more: string) => `site: { id: dc-7 }\n${auth}\nconsole: { objectDetection: { ${more} } }\n`
  const on = 'enabled: true, modelFile: model.onnx'
  t.same(await check(t, config(on), { 'model.onnx': 'nothing' }), {
    ...{ code: 78, out: [] },
    err: [
      'gatehouse: 1 problem in the config',
      'gatehouse.yaml:3:57: console.objectDetection.modelFile: model.onnx is no ONNX model, or not all of one',
    ],
  })
  const looked = (more: string, files: Record<string, string | Uint8Array> = {}) => {
    const checked = checkConfig(join(folderOf(t, { 'gatehouse.yaml': config(more), ...files }), 'gatehouse.yaml'))
    const models = checked.config ? modelFaults(checked.config, checked) : []
    const all = [...checked.problems, ...checked.faults, ...models, ...checked.warnings]
    return all.map(({ message }) => message)
  }
  t.match(looked(on), [/there is no such file; make it, or correct the path$/])
  t.same(looked(on, { 'model.onnx': brightModel() }), [])
  t.match(looked('enabled: true'), [/^is not set, so nothing is marked in live pictures/])
  t.same(looked('enabled: false, modelFile: null, confidenceThreshold: 0.5, maxDetections: 20, fps: 5'), [])
})

t.test('problems are told to programs as they are to people', async (t) => {
  const folder = folderOf(t, {
    'open.yaml': `site: {id: a, url: https://a.example}\n${auth}\nlisten: [{host: 10.0.0.1, allowPlainHttp: true}]`,
    'bad.yaml': 'site: {id: a}\nlitsen: []',
    'nobody.yaml': 'site: {id: a}',
  })
  const file = (name: string) => join(folder, name)
  const asJson = async (name: string) => {
    const { code, stdout, stderr } = await runToEnd(gatehouse, ['config', 'check', file(name), '--json'])
    return { code, stderr, found: JSON.parse(stdout) }
  }
  t.strictSame(await asJson('bad.yaml'), {
    code: 78,
    stderr: '',
    found: {
      ok: false,
      files: [file('bad.yaml')],
      problems: [
        { file: file('bad.yaml'), line: 2, column: 1, path: 'litsen', message: 'unknown key; did you mean listen?' },
      ],
      warnings: [],
    },
  })
  t.match(await asJson('nobody.yaml'), { code: 78, found: { ok: false, problems: [{ path: 'auth.users', line: 1 }] } })
  t.match(await asJson('open.yaml'), { code: 0, found: { ok: true, warnings: [{ path: 'listen[0]', line: 3 }] } })
})
