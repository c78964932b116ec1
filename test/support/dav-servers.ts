import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../../scripts/demo-parts/ports.ts'
import { apacheModules as modules } from '../../scripts/machine.ts'
import { waitUntil } from './waiting.ts'

/** A real WebDAV server in a separate process, with the account of `uploads.ts`. `files`: where it keeps them. */
export type DavServer = { readonly url: string; readonly files: string }

const user = 'gatehouse-dc7'
const password = 'app-password-of-dc7'
const htpasswd = `${user}:{SHA}${createHash('sha1').update(password).digest('base64')}`

async function answers(t: Test, child: ChildProcess, url: string): Promise<void> {
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  let said = ''
  child.stderr?.on('data', (text) => {
    said += text
  })
  await waitUntil(`${url} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`it has ended: ${said}`)
    return fetch(url).then(
      () => true,
      () => false,
    )
  })
}

/** A folder with `files` and `run` that the server's own user may enter. */
function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-dav-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  for (const name of ['files', 'run']) mkdirSync(join(folder, name))
  return folder
}

/** `rclone serve webdav` on a folder with `files` in it. */
export async function startRclone(t: Test, files: string = newFolder(t)): Promise<DavServer> {
  const port = await freePort()
  const child = spawn(
    'rclone',
    ['serve', 'webdav', join(files, 'files'), '--addr', `127.0.0.1:${port}`, '--user', user, '--pass', password],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, RCLONE_CONFIG: join(files, 'rclone.conf') } },
  )
  const url = `http://127.0.0.1:${port}`
  await answers(t, child, url)
  return { url, files: join(files, 'files') }
}

const sabre = '/usr/share/php/Sabre/autoload.php'

/** SabreDAV, from which Nextcloud's WebDAV descends, in PHP's own server. */
export async function startSabre(t: Test): Promise<DavServer> {
  const folder = newFolder(t)
  const port = await freePort()
  writeFileSync(
    join(folder, 'index.php'),
    `<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require '${sabre}';
class Accounts extends Sabre\\DAV\\Auth\\Backend\\AbstractBasic {
  protected function validateUserPass($name, $secret) { return $name === '${user}' && $secret === '${password}'; }
}
$server = new Sabre\\DAV\\Server(new Sabre\\DAV\\FS\\Directory('${join(folder, 'files')}'));
$server->setBaseUri('/');
$server->addPlugin(new Sabre\\DAV\\Auth\\Plugin(new Accounts(), 'evidence'));
$server->exec();
`,
  )
  const child = spawn('php', ['-S', `127.0.0.1:${port}`, join(folder, 'index.php')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = `http://127.0.0.1:${port}`
  await answers(t, child, url)
  return { url, files: join(folder, 'files') }
}

/** apache2 with mod_dav below `/dav`. */
export async function startApache(t: Test): Promise<DavServer> {
  const folder = newFolder(t)
  const port = await freePort()
  const load = [
    'mpm_event',
    'authn_core',
    'authn_file',
    'authz_core',
    'authz_user',
    'auth_basic',
    'alias',
    'dav',
    'dav_fs',
  ]
  const found = load.filter((name) => existsSync(join(modules, `mod_${name}.so`)))
  const isRoot = process.getuid?.() === 0
  const config = `${found.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/run/apache.pid
ErrorLog ${folder}/run/error.log
DavLockDB ${folder}/run/locks
Mutex file:${folder}/run
${isRoot ? 'User www-data\nGroup www-data' : ''}
Alias /dav ${folder}/files
<Location /dav>
  Dav On
  AuthType Basic
  AuthName evidence
  AuthUserFile ${folder}/run/users
  Require valid-user
</Location>
`
  writeFileSync(join(folder, 'apache.conf'), config)
  writeFileSync(join(folder, 'run/users'), `${htpasswd}\n`)
  if (isRoot) spawnSync('chown', ['-R', 'www-data', join(folder, 'files'), join(folder, 'run')])
  const child = spawn('/usr/sbin/apache2', ['-f', join(folder, 'apache.conf'), '-DFOREGROUND'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = `http://127.0.0.1:${port}/dav`
  await answers(t, child, url)
  return { url, files: join(folder, 'files') }
}
