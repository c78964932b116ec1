import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { cheapHash } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, isInstalled, runToEnd, startDaemon } from '../support/process.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))

async function tlsInit(cwd: string, ...args: string[]) {
  const { code, stdout, stderr } = await runToEnd(gatehouse, ['tls', 'init', '--json', ...args], { cwd })
  return { code, stderr, made: code === 0 ? JSON.parse(stdout) : undefined }
}

/** Returns the certificate and protocol that a client with `ca` gets, or its error. */
function handshake(port: number, options: { ca: Buffer; name?: string; maxVersion?: 'TLSv1.1' | 'TLSv1.2' }) {
  return new Promise<{ fingerprint?: string; protocol?: string | null; error?: string }>((resolve) => {
    const { name = 'localhost', ...rest } = options
    const socket: TLSSocket = connect(
      { host: '127.0.0.1', port, servername: name, minVersion: 'TLSv1', ...rest },
      () => {
        resolve({ fingerprint: socket.getPeerCertificate().fingerprint256, protocol: socket.getProtocol() })
        socket.destroy()
      },
    )
    socket.once('error', (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? error.message }))
  })
}

t.test('the box makes an authority and a certificate that a strict client takes', needs('openssl'), async (t) => {
  const cwd = folder()
  const { made } = await tlsInit(cwd, '--name', 'dock.example', '192.0.2.77')
  t.match(made, {
    certFile: join(cwd, 'tls/cert.pem'),
    keyFile: join(cwd, 'tls/key.pem'),
    caFile: join(cwd, 'tls/ca.pem'),
  })
  const strict = await runToEnd('openssl', ['verify', '-x509_strict', '-CAfile', made.caFile, made.certFile])
  t.match(strict, { code: 0 }, 'openssl with all of RFC 5280')
  const leaf = new X509Certificate(readFileSync(made.certFile))
  for (const name of ['dock.example', 'localhost']) t.ok(leaf.checkHost(name), name)
  for (const address of ['192.0.2.77', '127.0.0.1', '::1']) t.ok(leaf.checkIP(address), address)
  t.notOk(leaf.checkHost('elsewhere.example'))
  t.notOk(leaf.ca, 'it can vouch for nobody')
  t.equal(made.caFingerprint, new X509Certificate(readFileSync(made.caFile)).fingerprint256)
  t.equal(statSync(join(cwd, 'tls/ca.key')).mode & 0o777, 0o600, 'nobody else reads the key of the authority')
  t.equal(statSync(made.keyFile).mode & 0o007, 0, 'and not everybody that of the box')
})

t.test('the key of an authority without its certificate is never replaced', async (t) => {
  const cwd = folder()
  await tlsInit(cwd)
  const key = readFileSync(join(cwd, 'tls/ca.key'))
  rmSync(join(cwd, 'tls/ca.pem'))
  const { code, stderr } = await tlsInit(cwd)
  t.equal(code, 1)
  t.match(stderr, /ca\.pem is missing beside ca\.key: put it back/)
  t.same(readFileSync(join(cwd, 'tls/ca.key')), key)
})

const ownMounts = !isInstalled('unshare', '--mount', 'true') && 'needs a mount namespace of its own, so root'
t.test(
  'on an installed box the key lies beside the config, and the gateway reads it by its group',
  { skip: ownMounts },
  async (t) => {
    const script = `mount -t tmpfs none /etc
    mkdir --mode=750 /etc/gatehouse && chgrp 54321 /etc/gatehouse
    printf 'site: { id: dock, url: "https://dock.example:8443" }\\n' > /etc/gatehouse/gatehouse.yaml
    "$0" tls init --json && cd /etc/gatehouse/tls && stat --format '%n %g %a' . key.pem cert.pem ca.key`
    const { code, stdout, stderr } = await runToEnd('unshare', ['--mount', 'sh', '-e', '-c', script, gatehouse], {
      cwd: folder(),
    })
    t.match({ code, stderr }, { code: 0 })
    const [made = '', ...files] = stdout.trim().split('\n')
    t.match(JSON.parse(made), { keyFile: '/etc/gatehouse/tls/key.pem', names: ['dock.example'] })
    t.strictSame(files, ['. 54321 750', 'key.pem 54321 640', 'cert.pem 54321 644', 'ca.key 0 600'])
  },
)

t.test(
  'a second call makes a new certificate by the same authority, so that handhelds go on trusting the box',
  async (t) => {
    const cwd = folder()
    const first = (await tlsInit(cwd)).made
    const certificate = readFileSync(first.certFile, 'utf8')
    const second = (await tlsInit(cwd)).made
    t.equal(second.caFingerprint, first.caFingerprint)
    t.not(readFileSync(second.certFile, 'utf8'), certificate)
  },
)

t.test('an admin’s own certificate is taken after a look, and never replaced unasked', async (t) => {
  const [cwd, elsewhere] = [folder(), folder()]
  const { made: theirs } = await tlsInit(elsewhere)
  const { made: other } = await tlsInit(folder())
  const wrong = await tlsInit(cwd, '--cert', theirs.certFile, '--key', other.keyFile)
  t.match(wrong, { code: 1, stderr: /is not the key of the certificate/ })
  t.match(await tlsInit(cwd, '--cert', theirs.certFile), { code: 2, stderr: /--cert and --key belong together/ })
  t.match(await tlsInit(cwd, '--cert', theirs.keyFile, '--key', theirs.keyFile), { code: 1, stderr: /holds no PEM/ })
  const { made } = await tlsInit(cwd, '--cert', theirs.certFile, '--key', theirs.keyFile)
  t.equal(readFileSync(made.certFile, 'utf8'), readFileSync(theirs.certFile, 'utf8'))
  t.match(await tlsInit(cwd), { code: 1, stderr: /not of this box's authority; --force replaces it/ })
  t.match(await tlsInit(cwd, '--force'), { code: 0 })
  t.match(await tlsInit(cwd, '--name', 'a b'), { code: 2, stderr: /no name or address/ })
  t.match(await tlsInit(cwd, '--days', '0'), { code: 2, stderr: /1 to 3650/ })
})

t.test(
  'a listener with the made certificate speaks modern TLS only, and takes a new one without a restart',
  async (t) => {
    const cwd = folder()
    const { made } = await tlsInit(cwd)
    const config = join(cwd, 'gatehouse.yaml')
    writeFileSync(
      config,
      `site: { id: dc-7 }
dataDir: state
runtimeDir: run
listen: [{ host: 0.0.0.0, port: 0, tls: { certFile: tls/cert.pem, keyFile: tls/key.pem } }]
`,
    )
    const daemon = await startDaemon(['--config', config], { cwd })
    t.teardown(() => daemon.end('SIGTERM'))
    const port = Number(new URL(daemon.url).port)
    const ca = readFileSync(made.caFile)
    const first = await handshake(port, { ca })
    t.match(first, {
      protocol: 'TLSv1.3',
      fingerprint: new X509Certificate(readFileSync(made.certFile)).fingerprint256,
    })
    t.match(await handshake(port, { ca, maxVersion: 'TLSv1.2' }), { protocol: 'TLSv1.2' })
    t.match(await handshake(port, { ca, maxVersion: 'TLSv1.1' }), { error: /./ }, 'nothing older')
    t.match(await handshake(port, { ca, name: 'elsewhere.example' }), { error: 'ERR_TLS_CERT_ALTNAME_INVALID' })

    await tlsInit(cwd, '--config', config)
    daemon.child.kill('SIGHUP')
    await daemon.logged('config reloaded')
    const second = await handshake(port, { ca })
    t.equal(second.fingerprint, new X509Certificate(readFileSync(made.certFile)).fingerprint256, 'the new one')
    t.not(second.fingerprint, first.fingerprint)

    writeFileSync(made.certFile, 'no certificate')
    daemon.child.kill('SIGHUP')
    await daemon.logged('the new certificate is bad; the old one stays')
    t.equal((await handshake(port, { ca })).fingerprint, second.fingerprint)
  },
)

t.test('plain HTTP for other machines must be meant', async (t) => {
  const cwd = folder()
  const check = (listen: string) => {
    const auth = `auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }`
    writeFileSync(join(cwd, 'gatehouse.yaml'), `site: { id: dc-7 }\n${auth}\nlisten: [${listen}]\n`)
    return runToEnd(gatehouse, ['config', 'check', 'gatehouse.yaml'], { cwd })
  }
  t.match(await check('{ host: 0.0.0.0, port: 8480 }'), { code: 78, stderr: /allowPlainHttp: true if that is meant/ })
  t.match(await check('{ host: 10.0.0.5, port: 8480 }'), { code: 78 })
  t.match(await check('{ host: 0.0.0.0, port: 8480, allowPlainHttp: true }'), { code: 0 })
  t.match(await check('{ host: 127.0.0.1, port: 8480 }'), { code: 0 })
})

t.test('a collector of metrics comes with its token, to a listener of its own', async (t) => {
  const cwd = folder()
  writeFileSync(
    join(cwd, 'gatehouse.yaml'),
    `site: { id: dc-7 }
dataDir: state
runtimeDir: run
listen: [{ host: 127.0.0.1, port: 0 }]
metrics: { listen: { host: 127.0.0.1, port: 0 } }
`,
  )
  const daemon = await startDaemon(['--config', 'gatehouse.yaml'], { cwd })
  t.teardown(() => daemon.end('SIGTERM'))
  const port = daemon.log().match(/"port":(\d+),"msg":"metrics for a collector"/)?.[1]
  const token = readFileSync(join(cwd, 'state/metrics-token'), 'utf8').trim()
  const ask = (path: string, authorization?: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: authorization ? { authorization } : {} })
  const answer = await ask('/metrics', `Bearer ${token}`)
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/plain; version=/)
  t.match(await answer.text(), /^gatehouse_log_leaves 0$/m)
  t.equal((await ask('/metrics')).status, 401)
  t.equal((await ask('/metrics', `Bearer ${token}x`)).status, 401)
  t.equal((await ask('/api/health', `Bearer ${token}`)).status, 404, 'and nothing else is there')
  t.notMatch(daemon.log(), token, 'the token is in no log')
})
