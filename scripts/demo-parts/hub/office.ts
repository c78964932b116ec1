import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import got from 'got'
import { stringify } from 'yaml'
import { ownerOf, type TestPostgres } from '../../../test/support/postgres.ts'
import { type Account, signIn } from '../client.ts'
import { Daemon, type GatewayCommand } from '../daemon.ts'

const answerLimitMs = 20_000

/** The code that lets one gateway in, as `gatehouse hub enrol --json` prints it. */
export type Code = { readonly code: string; readonly siteId: string }

/** One head office over HTTPS, with its own certificate authority and database. */
export class Office extends Daemon {
  readonly #port: number
  /** Its certificate authority. */
  readonly caFile: string

  constructor(options: GatewayCommand & { folder: string; port: number }) {
    const url = `https://127.0.0.1:${options.port}`
    super({
      ...options,
      ...{ url, name: 'the head office', args: ['hub', 'serve'], credential: ['hub', 'credential'] },
      configFile: join(options.folder, 'hub.yaml'),
      logFile: join(options.folder, 'hub.log'),
      answers: async () => (await this.#ask('/api/health', {})).status === 200,
    })
    this.#port = options.port
    this.caFile = join(options.folder, 'tls', 'ca.pem')
  }

  /** Certificate, database, tables and one account that sees everything, made by its own commands. Returns the account. */
  async prepare(postgres: TestPostgres): Promise<{ readonly account: Account; readonly migrated: string }> {
    await this.#must(['tls', 'init', '--dir', join(this.folder, 'tls'), '--name', '127.0.0.1'])
    const addressOf = await postgres.database('hub')
    const configure = (users: readonly object[]) => {
      const tls = { certFile: 'tls/cert.pem', keyFile: 'tls/key.pem' }
      const config = {
        site: { id: 'head-office', url: this.url },
        listen: [{ host: '127.0.0.1', port: this.#port, tls }],
        dataDir: 'state',
        auth: { users },
        hub: { database: { url: addressOf('hub_app'), ownerUrl: ownerOf(addressOf) } },
      }
      writeFileSync(this.configFile, stringify(config), { mode: 0o600 })
    }
    configure([])
    const account = await this.credential('director', 'admin')
    const { username, role, secretHash } = account
    configure([{ username, role, secretHash }])
    return { account, migrated: await this.#must(['hub', 'migrate', '--config', this.configFile]) }
  }

  /** A code for the gateway of a site. */
  async enrol(siteId: string, name: string): Promise<Code> {
    const args = ['hub', 'enrol', '--site', siteId, '--name', name, '--config', this.configFile, '--json']
    return JSON.parse(await this.#must(args)) as Code
  }

  /** The body of the 200 for someone who is signed in; text when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  async get(account: Account, path: string): Promise<any> {
    const { status, text } = await this.#ask(path, signIn(account))
    if (status !== 200) throw new Error(`GET ${path} at the head office answered ${status}: ${text}`)
    return text.startsWith('{') ? JSON.parse(text) : text
  }

  async #must(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args)
    if (code === 0) return stdout
    throw new Error(`gatehouse ${args.slice(0, 2).join(' ')} failed with exit code ${code}: ${stderr.trim()}`)
  }

  async #ask(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await got(`${this.url}${path}`, {
      ...{ headers, throwHttpErrors: false, followRedirect: false, retry: { limit: 0 } },
      https: { certificateAuthority: readFileSync(this.caFile, 'utf8') },
      timeout: { request: answerLimitMs },
    })
    return { status: statusCode, text: body }
  }
}
