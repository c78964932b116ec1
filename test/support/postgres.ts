/** A real PostgreSQL in a separate folder, reached over a Unix socket and by nothing else. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { postgresBin } from '../../scripts/bench/postgres.ts'
import { waitUntil } from './waiting.ts'

export type TestPostgres = {
  /** Folder of the socket. */
  readonly folder: string
  /** Makes a database, empty or as another one is, and returns its address for this user. */
  database(name: string, template?: string): Promise<(user: string) => string>
  /** The address of a database for a user. */
  addressOf(name: string): (user: string) => string
  /** Asks as the superuser. */
  ask(database: string, sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** SIGKILL, as when the machine loses power while the disk goes on. */
  kill(): Promise<void>
  start(): Promise<void>
}

export type PostgresOptions = {
  /** Folder of its programs; default: where Debian puts them. */
  readonly bin?: string | undefined
  /** As it is when installed: what is committed is on the disk. */
  readonly isDurable?: boolean
  /** Listens at this address too, port 5432, and lets no one in there without TLS. */
  readonly tls?: { readonly address: string; readonly certFile: string; readonly keyFile: string } | undefined
}

const superuser = 'super'

/**
 * Starts a server that lives as long as the test. Each test file has its own. Without fsync by default, so that it is fast: a killed
 * server still has what it wrote, because the system keeps it.
 */
export async function startPostgres(
  t: { teardown(work: () => unknown): void },
  { bin = postgresBin(), isDurable = false, tls }: PostgresOptions = {},
): Promise<TestPostgres> {
  if (!bin) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  // Not under TMPDIR, which may be closed to the server's user, and whose path may be too long for a socket.
  const folder = mkdtempSync('/tmp/gatehouse-pg-')
  const who = notRoot()
  if (who) chownSync(folder, who.uid, who.gid)
  const data = join(folder, 'data')
  makeData(bin, data, who)
  let child: ChildProcess | undefined
  const settings = [
    ...[`listen_addresses=${tls?.address ?? ''}`, 'max_connections=60'],
    ...(tls ? encrypted(data, who, tls) : []),
    ...(isDurable
      ? ['shared_buffers=256MB', 'max_wal_size=1GB']
      : ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB']),
  ]
  const args = ['-D', data, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])]
  const end = async (signal: 'SIGINT' | 'SIGKILL') => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  const launch = () => {
    const server = spawn(join(bin, 'postgres'), args, { ...who, cwd: folder, stdio: 'ignore' })
    const last = () => server.kill('SIGKILL')
    process.once('exit', last)
    server.once('exit', () => process.off('exit', last))
    child = server
  }
  const start = async () => {
    launch()
    const isUp = () => {
      // It ends at once while a process of the server that was killed is still there.
      if (child?.exitCode !== null) launch()
      return answers(folder)
    }
    await waitUntil('PostgreSQL answers', isUp, { withinMs: 30_000, everyMs: 50 })
  }
  t.teardown(async () => {
    await end('SIGINT')
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  const addressOf = (name: string) => (user: string) => `postgres://${user}@/${name}?host=${folder}`
  return {
    ...{ folder, start, addressOf },
    database: async (name, template = 'template1') => {
      await asSuperuser(folder, 'postgres', (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`))
      return addressOf(name)
    },
    ask: (database, sql, values) =>
      asSuperuser(folder, database, async (client) => (await client.query(sql, values && [...values])).rows),
    kill: () => end('SIGKILL'),
  }
}

/** Making one takes a second of a processor; the next test copies the first one. */
function makeData(bin: string, data: string, who: ReturnType<typeof notRoot>): void {
  const program = join(bin, 'initdb')
  const kept = resolve(
    import.meta.dirname,
    '../../.cache/postgres',
    `${statSync(program).mtimeMs}-${who?.uid ?? 'own'}`,
  )
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to], { stdio: 'pipe' })
  if (existsSync(kept)) {
    copy(kept, data)
    return
  }
  const settings = ['-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(program, ['-D', data, ...settings], { ...who, cwd: join(data, '..'), stdio: 'pipe' })
  const part = `${kept}.${process.pid}`
  mkdirSync(join(kept, '..'), { recursive: true })
  copy(data, part)
  try {
    renameSync(part, kept)
  } catch {
    // Another test was first.
    rmSync(part, { recursive: true })
  }
}

/** Settings for TLS. The server takes a key only when it is its own and no one else can read it. */
function encrypted(data: string, who: ReturnType<typeof notRoot>, tls: NonNullable<PostgresOptions['tls']>): string[] {
  const [cert, key, rules] = ['server.crt', 'server.key', 'pg_hba.conf'].map((name) => join(data, name)) as [
    string,
    string,
    string,
  ]
  copyFileSync(tls.certFile, cert)
  copyFileSync(tls.keyFile, key)
  writeFileSync(rules, 'local all all trust\nhostssl all all 127.0.0.0/8 trust\n')
  chmodSync(key, 0o600)
  for (const file of who ? [cert, key, rules] : []) chownSync(file, who?.uid ?? 0, who?.gid ?? 0)
  return ['ssl=on']
}

export const ownerOf = (addressOf: (user: string) => string): string => addressOf(superuser)

async function asSuperuser<T>(folder: string, database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ host: folder, user: superuser, database })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

function answers(folder: string): Promise<boolean> {
  return asSuperuser(folder, 'postgres', (client) => client.query('SELECT 1')).then(
    () => true,
    () => false,
  )
}

/** PostgreSQL refuses to run as root; Debian's package makes a user for it. */
function notRoot(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (what: string) => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
