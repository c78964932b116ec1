import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Workshop, writtenBytes } from './workshop.ts'

const packages = '/usr/lib/postgresql'
const patienceMs = 20_000

/** Where Debian puts the newest PostgreSQL; undefined where there is none. */
export function postgresBin(): string | undefined {
  if (!existsSync(packages)) return undefined
  const versions = readdirSync(packages).toSorted((a, b) => Number(b) - Number(a))
  return versions.map((version) => join(packages, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** A PostgreSQL of one's own: its data in a temporary folder, reachable by a socket in there and by nothing else. */
export class Postgres {
  readonly client: pg.Client
  readonly version: string
  /** Where its data and its socket are. */
  readonly folder: string
  readonly #child: ChildProcess

  private constructor(options: { client: pg.Client; version: string; child: ChildProcess; folder: string }) {
    this.client = options.client
    this.version = options.version
    this.#child = options.child
    this.folder = options.folder
  }

  /** Durable like the ledger: fsync and synchronous_commit are on, as they are by default. */
  static async start(workshop: Workshop, bin: string): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'))
    const who = owner()
    if (who) chownSync(folder, who.uid, who.gid)
    const data = join(folder, 'data')
    try {
      execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'], {
        ...who,
        cwd: folder,
        stdio: 'pipe',
      })
      const settings = { shared_buffers: '512MB', work_mem: '64MB', random_page_cost: '1.1', max_wal_size: '4GB' }
      const given = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
      const args = ['-D', data, '-k', folder, '-c', 'listen_addresses=', ...given]
      const child = workshop.owns(spawn(join(bin, 'postgres'), args, { ...who, cwd: folder, stdio: 'ignore' }))
      const client = await connect(folder)
      const version = (await client.query('SHOW server_version')).rows[0].server_version.split(' ')[0]
      return new Postgres({ client, version, child, folder })
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** CPU time of its processes since their start, in milliseconds, to 10 ms. */
  cpuMs(): number {
    const own = String(this.#child.pid)
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => cpuOf(pid))
      .reduce((sum, one) => sum + (one?.pid === own ? one.ownMs + one.endedMs : one?.parent === own ? one.ownMs : 0), 0)
  }

  /** Bytes that its processes have written to the disk since their start. */
  writtenBytes(): number {
    const own = String(this.#child.pid)
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids
      .filter((pid) => pid === own || cpuOf(pid)?.parent === own)
      .reduce((sum, pid) => sum + writtenBytes(Number(pid)), 0)
  }

  async stop(): Promise<void> {
    await this.client.end()
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGINT')
    await ended
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A process by proc(5): its CPU time, and that of the children that have ended, in clock ticks of 10 ms. */
function cpuOf(pid: string) {
  try {
    const [, parent = '', ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    const ticks = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * 10
    return { pid, parent, ownMs: ticks(9), endedMs: ticks(11) }
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}

/** PostgreSQL refuses to run as root; Debian's package makes a user for it. */
function owner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (what: string) => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function connect(folder: string): Promise<pg.Client> {
  const untilMs = performance.now() + patienceMs
  for (;;) {
    const client = new pg.Client({ host: folder, user: 'bench', database: 'postgres' })
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => {})
      if (performance.now() > untilMs) throw error
      await pause(50)
    }
  }
}
