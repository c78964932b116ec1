import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, relative, resolve } from 'node:path'
import { hashSecret, StorageClient } from '../auth/index.ts'
import {
  type Config,
  checkConfig,
  isLoopback,
  network,
  problemList,
  readSecretFile,
  SecretFileError,
  siteIdOf,
} from '../config/index.ts'
import { databaseFile } from '../database/index.ts'
import { EXIT_CONFIG, EXIT_USAGE, ExitError } from '../errors/index.ts'
import { type Clock, type RandomBytes, randomSecret } from '../platform/index.ts'
import { lookAtAccount } from '../upload/index.ts'
import { NewWarehouse } from '../warehouse/index.ts'
import type { Asker } from './asker.ts'
import { type Patch, problemOf } from './settings-file.ts'
import { addressProblem, tryCamera } from './try-camera.ts'

/** The questions as flags of the command. Questions with a given flag are not asked. */
export type SetupFlags = {
  readonly siteId?: string
  readonly url?: string
  readonly admin?: string
  readonly warehouse?: string
  readonly timezone?: string
  /** `box-ca`, `none` or `files:CERT,KEY`. */
  readonly tls?: string
  readonly port?: string
  readonly localPort?: string
  readonly camera?: readonly string[]
  readonly cameraUsername?: string
  readonly cameraPasswordFile?: string
  readonly storage?: string
  readonly storageUsername?: string
  readonly storagePasswordFile?: string
  /** Private networks that webhooks may be sent into; an empty text is none. */
  readonly webhookNetwork?: readonly string[]
  readonly dataDir?: string
  /** A camera or storage server that does not answer now is taken untried. */
  readonly takeSilent?: boolean
}

export type SetupNeeds = {
  readonly configFile: string
  readonly flags: SetupFlags
  readonly asker: Asker
  readonly clock: Clock
  readonly random: RandomBytes
  readonly version: string
  readonly hostName: string
  /** Whether a daemon runs with this config; then its ports are taken by itself. */
  readonly isServed: boolean
}

/** A file with a secret that has to be written: for the gateway, or for root alone. */
export type SecretToWrite = { readonly path: string; readonly secret: string; readonly forGateway: boolean }

export type Tls =
  | { readonly mode: 'as it is' | 'none' | 'box-ca' }
  | { readonly mode: 'files'; readonly certFile: string; readonly keyFile: string }

/** Everything that was answered and tested; nothing is written yet. */
export type SetupPlan = {
  readonly siteId: string
  readonly url: string
  readonly admin: string
  readonly tls: Tls
  readonly patch: Patch
  readonly secrets: readonly SecretToWrite[]
  readonly warehouse: { readonly name: string; readonly timezone: string } | null
}

/** Asks what a first installation needs, or takes the flags, and tests each answer. Throws ExitError. Writes nothing. */
export async function planSetup(needs: SetupNeeds): Promise<SetupPlan> {
  const { configFile } = needs
  const checked = existsSync(configFile) ? checkConfig(configFile) : undefined
  if (checked && !checked.config) throw new ExitError(EXIT_CONFIG, problemList(checked.problems))
  const steps = new Questions(needs, checked?.config)
  const site = await steps.site()
  const admin = await steps.admin()
  const storage = await steps.storage()
  const cameras = await steps.cameras()
  const warehouse = await steps.warehouse()
  const networks = await steps.webhookNetworks()
  const { tls, siteId, url } = site
  const patch = { ...site.patch, ...admin.patch, ...storage.patch, ...cameras.patch, ...networks, ...steps.folders() }
  const secrets = [...admin.secrets, ...storage.secrets, ...cameras.secrets]
  return { siteId, url, tls, admin: admin.name, patch, secrets, warehouse }
}

type Answered = { readonly patch: Patch; readonly secrets: readonly SecretToWrite[] }
const nothing: Answered = { patch: {}, secrets: [] }
const asItIs = 'as it is'
const usualPorts = { tls: 8443, plain: 8480 }
const testHash = `scrypt:16384:8:1:${'A'.repeat(22)}:${'A'.repeat(43)}`

/** The questions, one method for each subject. */
class Questions {
  readonly #needs: SetupNeeds
  /** The config as it is; undefined: there is none yet. */
  readonly #config: Config | undefined
  readonly #isFirst: boolean
  #siteId = ''

  constructor(needs: SetupNeeds, config: Config | undefined) {
    this.#needs = needs
    this.#config = config
    // The package brings a config in which everything is commented out but for an example of site.id.
    this.#isFirst = config === undefined || config.auth.users.length === 0
  }

  /** Returns the place of the ledger, when it differs from that of the package. */
  folders(): Patch {
    const { dataDir } = this.#needs.flags
    return dataDir === undefined ? {} : { dataDir, runtimeDir: dataDir }
  }

  async site(): Promise<{ siteId: string; url: string; tls: Tls; patch: Patch }> {
    const { flags, hostName } = this.#needs
    const now = this.#config
    this.#siteId = await this.#answer(flags.siteId, {
      text: 'Id of this site; it is in every leaf of the log and is chosen once',
      fallback: now && !this.#isFirst ? now.site.id : siteIdOf(hostName),
      check: (id) => problemOf(this.#needs.configFile, { ...this.folders(), site: { id } }),
    })
    const tls = await this.#tls()
    const hasTls = tls.mode === 'box-ca' || tls.mode === 'files'
    const host = hasTls ? siteIdOf(hostName).toLowerCase() : '127.0.0.1'
    const usual = `${hasTls ? 'https' : 'http'}://${host}:${flags.port ?? (hasTls ? usualPorts.tls : usualPorts.plain)}`
    const said = await this.#answer(flags.url, {
      text: 'Address of this gateway, as handhelds and browsers reach it',
      fallback: now && !this.#isFirst ? now.site.url : usual,
      check: (text) => this.#problem({ site: { id: this.#siteId, url: text } }),
    })
    const url = new URL(said).origin
    const listen = tls.mode === asItIs ? undefined : await this.#listeners(tls, new URL(url))
    const isSame = now !== undefined && now.site.id === this.#siteId && now.site.url === url
    const own = isSame && !this.#isFirst ? {} : { site: { id: this.#siteId, url } }
    return { siteId: this.#siteId, url, tls, patch: { ...own, ...(listen && { listen }) } }
  }

  async #tls(): Promise<Tls> {
    const answer = await this.#answer(this.#needs.flags.tls, {
      text: 'TLS: box-ca (an authority of this box), none, or files:CERT,KEY',
      fallback: this.#isFirst ? 'box-ca' : asItIs,
      check: (text) => (tlsOf(text) ? undefined : 'answer box-ca, none, or files:CERT,KEY'),
    })
    return tlsOf(answer) as Tls
  }

  /** Returns a listener for the floor, and with TLS one for this machine itself. Throws ExitError when a port is taken. */
  async #listeners(tls: Tls, url: URL): Promise<Patch[]> {
    const { flags } = this.#needs
    const hasTls = tls.mode !== 'none'
    const port = portOf(flags.port ?? (url.port || String(hasTls ? usualPorts.tls : usualPorts.plain)), '--port')
    const host = !hasTls && isLoopback(url.hostname) ? '127.0.0.1' : '0.0.0.0'
    const local = { host: '127.0.0.1', port: portOf(flags.localPort ?? String(usualPorts.plain), '--local-port') }
    const folder = join(dirname(this.#needs.configFile), 'tls')
    const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
    const plain = host === '127.0.0.1' ? { host, port } : { host, port, allowPlainHttp: true }
    const listen: { host: string; port: number; tls?: typeof files }[] = hasTls
      ? [{ host, port, tls: files }, local]
      : [plain]
    const taken = this.#needs.isServed ? [] : await Promise.all(listen.map((one) => whyTaken(one.host, one.port)))
    const why = taken.find((reason) => reason !== undefined)
    if (why !== undefined) throw new ExitError(1, `${why}; --port and --local-port choose others`)
    return listen
  }

  async admin(): Promise<Answered & { name: string }> {
    const { flags, configFile, random } = this.#needs
    const users = this.#config?.auth.users ?? []
    const name = await this.#answer(flags.admin, {
      text: 'User name of the admin',
      fallback: users.find(({ role }) => role === 'admin')?.username ?? 'admin',
      check: (username) => this.#problem({ auth: { users: [{ username, role: 'admin', secretHash: testHash }] } }),
    })
    const known = users.find(({ username }) => username === name)
    if (known && known.role !== 'admin')
      throw new ExitError(1, `${name} is ${known.role} in the config; choose another name`)
    if (known) return { ...nothing, name }
    const secret = randomSecret(random)
    const user = { username: name, role: 'admin', secretHash: await hashSecret(secret, random) }
    const path = secretFileOf(configFile, name)
    return { name, patch: { auth: { users: [user] } }, secrets: [{ path, secret, forGateway: false }] }
  }

  async storage(): Promise<Answered> {
    const { flags, clock, version, asker } = this.#needs
    const known = this.#config?.storage.instances ?? []
    const url = await this.#answer(flags.storage, {
      text: 'File storage server that knows your people and keeps copies (empty: none)',
      fallback: known[0]?.url ?? '',
      check: (text) => (text === '' ? undefined : this.#problem({ storage: { instances: [{ url: text }] } })),
      look: async (text) => (text === '' ? undefined : this.#serverProblem(text)),
    })
    const origin = url === '' ? '' : new URL(url).href.replace(/\/$/, '')
    if (url === '' || known.some((one) => one.url === origin)) return nothing
    const instances = [...known.map((one) => ({ url: one.url, ...(one.caFile && { caFile: one.caFile }) })), { url }]
    const username = await this.#answer(flags.storageUsername, {
      text: 'Account that uploads clips and photos to it (empty: no uploads)',
      fallback: '',
    })
    if (username === '') return { patch: { storage: { instances } }, secrets: [] }
    const password = await this.#password(flags.storagePasswordFile, 'Its application password')
    const account = { instance: { url, caFile: null }, username, password }
    const { problem, isRefused } = await lookAtAccount(account, { clock, version })
    if (problem === null) asker.say(`  signed in at ${url} as ${username}`)
    else if (flags.takeSilent && !isRefused) asker.say(`  taken untried: ${username} at ${url}: ${problem}`)
    else throw new ExitError(1, `${username} cannot sign in at ${url}: ${problem}`)
    const { path, secrets } = this.#kept(flags.storagePasswordFile, password, 'storage')
    const upload = { instance: url, username, passwordFile: path }
    return { patch: { storage: { instances, upload } }, secrets }
  }

  /**
   * Returns the file from which the gateway reads a password. It is a separate file, because the given file may be for root alone,
   * or be gone tomorrow. A file beside the config is used as it is, because the admin maintains it.
   */
  #kept(given: string | undefined, secret: string, name: string) {
    const folder = dirname(this.#needs.configFile)
    if (given !== undefined && !relative(folder, resolve(given)).startsWith('..')) {
      return { path: resolve(given), secrets: [] }
    }
    const path = join(folder, 'secrets', name)
    return { path, secrets: [{ path, secret, forGateway: true }] }
  }

  async #serverProblem(url: string): Promise<string | undefined> {
    const { clock, version, flags, asker } = this.#needs
    const answer = await new StorageClient({ clock, version, instances: () => [{ url, caFile: null }] }).ask(url)
    if (answer.kind !== 'unclear') return undefined
    const problem = `${url} does not answer as a storage server: ${answer.why}`
    if (!flags.takeSilent) return problem
    asker.say(`  taken untried: ${problem}`)
    return undefined
  }

  async cameras(): Promise<Answered> {
    const { flags } = this.#needs
    const known = this.#config?.cameras ?? []
    let id = Math.max(0, ...known.map((camera) => camera.id))
    const found: { camera: Patch; secrets: readonly SecretToWrite[] }[] = []
    const add = async (url: string) => {
      if (!known.some((camera) => camera.url === url)) found.push(await this.#camera(++id, url))
    }
    for (const url of flags.camera?.filter(Boolean) ?? []) {
      const problem = addressProblem(url)
      if (problem !== undefined)
        throw new ExitError(EXIT_USAGE, `--camera ${JSON.stringify(url.replace(/\/\/.*@/, '//…@'))}: ${problem}`)
      await add(url)
    }
    for (let url = 'more'; flags.camera === undefined && url !== ''; ) {
      url = await this.#answer(undefined, {
        text: `Address of a camera, rtsp://HOST/PATH (empty: no ${id === 0 ? 'camera' : 'further one'})`,
        fallback: '',
        check: (text) => (text === '' ? undefined : addressProblem(text)),
      })
      if (url !== '') await add(url)
    }
    if (found.length === 0) return nothing
    return { patch: { cameras: found.map(({ camera }) => camera) }, secrets: found.flatMap(({ secrets }) => secrets) }
  }

  /** Asks for the account of a camera and tries to get its picture. */
  async #camera(id: number, url: string) {
    const { flags, asker } = this.#needs
    const username = await this.#answer(flags.cameraUsername, { text: '  its user name (empty: none)', fallback: '' })
    const password = username === '' ? null : await this.#password(flags.cameraPasswordFile, '  its password')
    const source = { url, username: username === '' ? null : username, password }
    const dataDir = flags.dataDir ?? this.#config?.dataDir ?? ''
    const seen = await tryCamera(source, { ffmpegPath: this.#config?.ffmpeg.path ?? null, dataDir })
    if (!('problem' in seen)) {
      asker.say(`  ${url} gives pictures: ${seen.shows}`)
      for (const { topic, value, words } of seen.changes) asker.say(`  CHANGE ${topic}, ${value}: ${words}`)
    } else if (flags.takeSilent && seen.isSilent) asker.say(`  taken untried: ${url}: ${seen.problem}`)
    else throw new ExitError(1, `${url} gives no picture: ${seen.problem} Nothing was changed.`)
    if (password === null) return { camera: { id, url, ...(username !== '' && { username }) }, secrets: [] }
    const { path, secrets } = this.#kept(flags.cameraPasswordFile, password, `camera-${id}`)
    return { camera: { id, url, username, passwordFile: path }, secrets }
  }

  async warehouse(): Promise<SetupPlan['warehouse']> {
    const { flags } = this.#needs
    const dataDir = flags.dataDir ?? this.#config?.dataDir
    const hasLedger = this.#needs.isServed || (dataDir !== undefined && existsSync(databaseFile(dataDir)))
    const name = await this.#answer(flags.warehouse, {
      text: `Name of ${hasLedger ? 'a further' : 'the first'} warehouse${hasLedger ? ' (empty: none)' : ''}`,
      fallback: hasLedger ? '' : 'Hall 1',
      check: (text) => (text === '' ? undefined : warehouseProblem(text, 'UTC')),
    })
    if (name === '') return null
    const timezone = await this.#answer(flags.timezone, {
      text: 'Its time zone',
      fallback: Intl.DateTimeFormat().resolvedOptions().timeZone,
      check: (zone) => warehouseProblem(name, zone),
    })
    return { name, timezone }
  }

  /** Asks on a first installation. Later only a flag adds networks; those of the config stay. */
  async webhookNetworks(): Promise<Patch> {
    const { webhookNetwork } = this.#needs.flags
    const known = this.#config?.webhooks.allowNetworks ?? []
    const found = new Set<string>()
    const ask = async (flag?: string) => {
      const answer = await this.#answer(flag, {
        text: `Private network of webhook receivers, such as 10.0.0.0/8 (empty: no ${found.size === 0 ? 'network' : 'further one'})`,
        fallback: '',
        check: (text) => (text === '' ? undefined : this.#problem({ webhooks: { allowNetworks: [text] } })),
        isOptional: true,
      })
      if (answer !== '') found.add(network().parse(answer))
      return answer
    }
    for (const flag of webhookNetwork ?? []) await ask(flag)
    if (webhookNetwork === undefined && this.#isFirst) while ((await ask()) !== '');
    const allowNetworks = [...new Set([...known, ...found])]
    return allowNetworks.length === known.length ? {} : { webhooks: { allowNetworks } }
  }

  /** Returns the fault in a part of the config, together with the earlier answers. */
  #problem(patch: Patch): string | undefined {
    const site = { id: this.#siteId, ...(patch['site'] as object | undefined) }
    return problemOf(this.#needs.configFile, { ...this.folders(), ...patch, site })
  }

  async #password(file: string | undefined, text: string): Promise<string> {
    if (file === undefined) return this.#needs.asker.ask({ text, fallback: undefined, isSecret: true })
    try {
      return readSecretFile(file)
    } catch (error) {
      if (error instanceof SecretFileError) throw new ExitError(1, error.message, error)
      throw error
    }
  }

  /** Takes a flag, or asks. A flag that is wrong ends the setup. */
  async #answer(flag: string | undefined, question: Parameters<Asker['ask']>[0]): Promise<string> {
    if (flag === undefined) return this.#needs.asker.ask(question)
    const refuse = (exitCode: number, problem: string | undefined) => {
      if (problem === undefined) return
      throw new ExitError(exitCode, `${question.text}: ${JSON.stringify(flag)}: ${problem}`)
    }
    refuse(EXIT_USAGE, await question.check?.(flag))
    refuse(1, await question.look?.(flag))
    return flag
  }
}

function tlsOf(text: string): Tls | undefined {
  if (text === asItIs || text === 'none' || text === 'box-ca') return { mode: text }
  const [, certFile, keyFile] = /^files:([^,]+),([^,]+)$/.exec(text) ?? []
  return certFile && keyFile ? { mode: 'files', certFile, keyFile } : undefined
}

function portOf(text: string, flag: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new ExitError(EXIT_USAGE, `${flag} is a port from 1 to 65535`)
  return port
}

function warehouseProblem(name: string, timezone: string): string | undefined {
  const { error } = NewWarehouse.safeParse({ name, timezone })
  return error?.issues[0]?.message
}

/** Returns where the secret of an account is kept, for root alone. */
export function secretFileOf(configFile: string, username: string): string {
  return join(dirname(configFile), 'secrets', `account-${username.replaceAll(/[^\w.-]/g, '_')}`)
}

/** Resolves with why a port cannot be listened at; undefined: it is free. */
function whyTaken(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? `another program listens at ${host}:${port}` : `${host}:${port}: ${code}`),
    )
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}
