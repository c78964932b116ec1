import { readFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { StorageServer, type StorageUser } from './storage-server.ts'

type Extra = {
  readonly as?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly bytes?: readonly [length: number, fill?: string]
  readonly propfind?: readonly string[]
  readonly cutAfter?: number
  readonly transferChunked?: boolean
  readonly begin?: string
  readonly sendFirst?: number
}
type Expected = readonly [status: number, headers: string, body?: string] | null
type Operation = Readonly<Record<string, string | number | boolean>>
/** A request with its answer; in `before` the status alone. Or an act of another client. */
type Step =
  | readonly [line: string, answer: Expected | number]
  | readonly [line: string, extra: Extra, answer: Expected | number]
  | readonly [operation: Operation, answer?: Expected]

type Scenario = {
  readonly name: string
  readonly server?: 'unbuffered'
  readonly before?: string
  readonly steps: readonly Step[]
}
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Table = {
  readonly about: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly bodies: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly before: Readonly<Record<string, readonly Step[]>>
  readonly scenarios: readonly Scenario[]
}

/** Recorded answers of a real storage server; its head explains the columns. */
export const table: Table = JSON.parse(
  readFileSync(new URL('../fixtures/storage-server/exchanges.json', import.meta.url), 'utf8'),
)

/** A difference from the record. `step`: from 1; 0: in the steps of `before`. */
type Difference = { readonly step: number; readonly request: string; readonly what: string }

type Got = { readonly status: number; readonly headers: ReadonlyMap<string, string>; readonly body: Buffer }

const lookedAt = (table.about['headers'] ?? '')
  .replace(/^.*at: |\. One that.*$/g, '')
  .split(', ')
  .map((name) => name.replace(/ \(.*$/, ''))

/** Plays one scenario against a new stand-in, and returns the differences from the record. */
export async function play(scenario: Scenario): Promise<Difference[]> {
  const player = await Player.start()
  try {
    const before = table.before[scenario.before ?? ''] ?? []
    return [
      ...(await player.playAll(before)).map((one) => ({ ...one, step: 0 })),
      ...(await player.playAll(scenario.steps)),
    ]
  } finally {
    await player.stop()
  }
}

class Player {
  readonly #server: StorageServer
  readonly #clock: { nowMs: number }
  readonly #names: Record<string, string>
  readonly #open = new Map<string, { readonly request: ClientRequest; readonly rest: Buffer }>()

  private constructor(server: StorageServer, clock: { nowMs: number }) {
    this.#server = server
    this.#clock = clock
    const accounts = { USER: 'uploader', OTHER: 'olga', PERSON: 'paula', QUOTA_USER: 'quentin', TFA_USER: 'tessa' }
    this.#names = { ROOT: 'r1', ID: 'i1', BASE: server.url, EMAIL: 'paula@example.com', NEW_USER: 'nora' }
    for (const [name, id] of Object.entries({ ...accounts, DISABLED_USER: 'dora' })) {
      Object.assign(this.#names, { [name]: id, [`${name}.app`]: `${id}-app`, [`${name}.login`]: `${id} login` })
      this.#names[`${name}^`] = `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`
    }
  }

  static async start(): Promise<Player> {
    const clock = { nowMs: Date.UTC(2026, 10, 28, 12) }
    const server = await StorageServer.start({ users: usersOfTable(), now: () => clock.nowMs })
    const { dav } = server
    dav.quotas.set('quentin', 1_048_576)
    dav.files.set('olga/Readonly', 'folder')
    dav.files.set('olga/Readonly/there.bin', Buffer.from('there'))
    dav.shares.set('uploader/Readonly', { owner: 'olga', folder: 'Readonly', mayWrite: false })
    return new Player(server, clock)
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }

  async playAll(steps: readonly Step[]): Promise<Difference[]> {
    const differences: Difference[] = []
    for (const [index, step] of steps.entries()) {
      const expected = step.length === 1 ? null : (step.at(-1) as Expected | number)
      const got = await this.#play(step)
      const request = typeof step[0] === 'string' ? step[0] : JSON.stringify(step[0])
      const found = expected === null || !got ? [] : this.#compare(expected, got)
      differences.push(...found.map((what) => ({ step: index + 1, request, what })))
    }
    return differences
  }

  async #play(step: Step): Promise<Got | undefined> {
    const [first] = step
    if (typeof first === 'string') return this.#send(first, step.length === 3 ? (step[1] as Extra) : {})
    if (typeof first['finish'] !== 'string') return this.#operate(first)
    const waiting = this.#open.get(first['finish'])
    waiting?.request.end(waiting.rest)
    return waiting && answerTo(waiting.request)
  }

  #operate(operation: Operation): undefined {
    const { operate, ms = 0, group = '', on, folder = '' } = operation
    const user = this.#server.users.find(({ id }) => id === this.#names[String(operation['user'])])
    const { dav } = this.#server
    const shared = this.#filled(String(folder))
    switch (operate) {
      case 'wait':
        this.#clock.nowMs += Number(ms)
        return
      case 'forget failures':
        this.#server.forgetFailures()
        return
      case 'empty':
        dav.forget(user?.id ?? '')
        return
      case 'share':
        dav.files.set(`olga/${shared}`, 'folder')
        dav.shares.set(`uploader/${shared}`, { owner: 'olga', folder: shared, mayWrite: true })
        return
      case 'unshare':
        dav.shares.delete(`uploader/${shared}`)
        return
      case 'make app password':
        user?.appPasswords?.push('extra')
        break
      case 'get app password by e-mail':
        if (user) user.appPasswordsByEmail = ['extra']
        break
      case 'make account':
        this.#server.users.push({ id: 'nora', groups: [], appPasswords: ['extra'], isUnused: true })
        break
      case 'delete app password on the console':
        this.#server.revoke('extra', 'another process')
        return
      case 'disable':
      case 'enable':
        if (user) user.disabled = operate === 'disable'
        return
      case 'maintenance':
        this.#server.misbehave(on ? 'maintenance' : undefined)
        return
      case 'add to group':
        user?.groups.push(String(group))
        return
      case 'remove from group':
        user?.groups.splice(user.groups.indexOf(String(group)), 1)
        return
      case 'make OAuth token':
        if (user) user.tokens = ['token']
        this.#names['TOKEN'] = 'token'
        return
      case 'expire OAuth token':
        this.#server.revoke('token', 'another process')
        return
      default:
        throw new Error(`no one knows how to ${operate}`)
    }
    this.#names['EXTRA'] = 'extra'
  }

  async #send(line: string, extra: Extra): Promise<Got | undefined> {
    const [, method = '', path = ''] = line.match(/^(\S+) (.*)$/) ?? []
    const { as = 'Basic {USER}:{USER.app}', transferChunked, cutAfter, begin, sendFirst } = extra
    const body = bodyOf(extra)
    const length = transferChunked ? { 'Transfer-Encoding': 'chunked' } : body && { 'Content-Length': body.length }
    const sent = request(this.#server.url, {
      ...{ method, agent: false, path: this.#filled(path) },
      headers: {
        ...(as !== null && { Authorization: authorization(this.#filled(as)) }),
        ...Object.fromEntries(Object.entries(extra.headers ?? {}).map(([name, value]) => [name, this.#filled(value)])),
        ...length,
      },
    })
    if (cutAfter !== undefined) return cutOff(sent, body?.subarray(0, cutAfter))
    if (begin === undefined || !body) {
      sent.end(body)
      return answerTo(sent)
    }
    this.#open.set(begin, { request: sent, rest: body.subarray(sendFirst) })
    await new Promise((resolve) => sent.write(body.subarray(0, sendFirst), resolve))
    return undefined
  }

  #filled(text: string): string {
    return text
      .replace(/\{([^{}]+)\*(\d+)\}/g, (_, what: string, times: string) => what.repeat(Number(times)))
      .replace(/\{([A-Z_.a-z^]+)\}/g, (whole, name: string) => this.#names[name] ?? whole)
      .replace(/~\//, '/remote.php/dav/')
  }

  #compare(expected: readonly [number, string, string?] | number, got: Got): string[] {
    if (typeof expected === 'number') return got.status === expected ? [] : [`status ${got.status}, not ${expected}`]
    const [status, headers, body] = expected
    if (got.status !== status) return [`status ${got.status}, not ${status}`]
    const wanted = table.headers[headers] ?? {}
    const wrong = lookedAt.flatMap((name) => {
      const value = got.headers.get(name.toLowerCase())
      if (name === 'Content-Length' && wanted[name] === undefined && got.body.length > 0) return []
      if (wanted[name] === undefined) return value === undefined ? [] : [`header ${name}: ${value}, not sent there`]
      return this.#fits(wanted[name], value) ? [] : [`header ${name}: ${value}, not ${wanted[name]}`]
    })
    return [...wrong, ...(body === undefined ? [] : this.#compareBody(table.bodies[body] ?? {}, got.body))]
  }

  #compareBody(wanted: Readonly<Record<string, Json>>, body: Buffer): string[] {
    const got = bodyIn(wanted, body)
    return this.#isLike(wanted, got) ? [] : [`body ${JSON.stringify(got)?.slice(0, 600)}`]
  }

  /** Whether a value has the shape of a recorded one. */
  #isLike(wanted: Json, got: Json | undefined): boolean {
    if (typeof wanted === 'string') return typeof got === 'string' && this.#fits(wanted, got)
    if (wanted === null || typeof wanted !== 'object') return wanted === got
    if (got === null || typeof got !== 'object') return false
    const keys = Object.keys(wanted)
    if (Array.isArray(wanted) && (got as readonly Json[]).length !== keys.length) return false
    const [w, g] = [wanted, got] as [Record<string, Json>, Record<string, Json>]
    return keys.every((key) => key in w && this.#isLike(w[key] ?? null, g[key]))
  }

  #fits(wanted: string, got: string | undefined): boolean {
    if (got === undefined) return false
    const filled = this.#filled(wanted.replace('{DAV}', table.about['DAV'] ?? ''))
    const pattern = filled
      .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
      .replace(/\{ETAG: (\d+) hex\}/g, '[0-9a-f]{$1}')
      .replace('{FILEID: digits}', '\\d+')
      .replace('{FILEID: at least 8 digits, then the instance id}', '\\d{8,}oc[0-9a-z]+')
      .replace('{DATE}', '\\w{3}, \\d\\d \\w{3} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT')
    return new RegExp(`^${pattern}$`, 's').test(got)
  }
}

function usersOfTable(): StorageUser[] {
  const user = (id: string, more: Partial<StorageUser> = {}): StorageUser => ({
    ...{ id, groups: [], appPasswords: [`${id}-app`], password: `${id} login` },
    ...more,
  })
  return [
    ...['uploader', 'olga', 'quentin', 'dora'].map((id) => user(id)),
    user('paula', { groups: ['gate-ops'], email: 'paula@example.com' }),
    user('tessa', { groups: ['gate-ops'], hasSecondFactor: true }),
  ]
}

/** The value of Authorization for `Basic NAME:SECRET`; another one as it is. */
function authorization(as: string): string {
  const [, pair] = as.match(/^Basic (.*:.*)$/) ?? []
  return pair === undefined ? as : `Basic ${Buffer.from(pair).toString('base64')}`
}

function bodyOf({ bytes, propfind }: Extra): Buffer | undefined {
  if (bytes) return Buffer.alloc(bytes[0], bytes[1] ?? 'a')
  if (!propfind) return undefined
  const spaces = 'xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'
  const names = propfind.map((name) => `<${name}/>`).join('')
  return Buffer.from(`<?xml version="1.0"?><d:propfind ${spaces}><d:prop>${names}</d:prop></d:propfind>`)
}

async function cutOff(sent: ClientRequest, body: Buffer | undefined): Promise<undefined> {
  sent.on('error', () => {})
  await new Promise((resolve) => sent.write(body, resolve))
  sent.destroy()
}

function answerTo(sent: ClientRequest): Promise<Got> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject)
    sent.once('response', (response: IncomingMessage) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const headers = new Map<string, string>()
        const { rawHeaders: raw, statusCode: status = 0 } = response
        for (let i = 0; i < raw.length; i += 2) {
          const [name = '', value = ''] = [raw[i]?.toLowerCase(), raw[i + 1]]
          headers.set(name, headers.has(name) ? `${headers.get(name)} | ${value}` : value)
        }
        resolve({ status, headers, body: Buffer.concat(parts) })
      })
    })
  })
}

const inside = (of: XmlElement, name?: string): XmlElement[] =>
  of.children.filter((one) => one instanceof XmlElement).filter((one) => name === undefined || one.name === name)

/** Reads a body in the form of a recorded one: `error`, `multistatus`, `json`, `html` or bytes. */
function bodyIn(wanted: Readonly<Record<string, Json>>, body: Buffer): Json {
  const text = body.toString('utf8')
  const [kind = ''] = Object.keys(wanted)
  switch (kind) {
    case 'error':
      return { error: errorIn(text, wanted['error'] as Record<string, Json>) }
    case 'multistatus':
      return { multistatus: statusesIn(text) }
    case 'json':
      return text.startsWith('{') ? { json: withOtherKeys(JSON.parse(text), wanted['json'] ?? null) } : { text }
    case 'html': {
      const of = (tag: string) => text.match(new RegExp(`<${tag}>(.*?)</${tag}>`))?.[1] ?? null
      return { html: { title: of('title'), heading: of('h2') } }
    }
    case 'bytes':
      return 'begins' in wanted
        ? { bytes: 'some', begins: text.slice(0, String(wanted['begins']).length) }
        : { bytes: body.length, fill: String(wanted['fill']).length === 1 ? fillOf(body) : runsOf(text) }
    default:
      return { [kind]: text }
  }
}

function errorIn(xml: string, wanted: Record<string, Json>): Json {
  const root = parseXml(xml).root
  const values = Object.fromEntries((root ? inside(root) : []).map(({ name, text }) => [name, text]))
  const { 's:exception': exception = null, 's:message': message = null, ...more } = values
  const contains = wanted['messageContains'] as readonly string[] | undefined
  return { exception, message, ...more, messageContains: contains?.filter((part) => message?.includes(part)) ?? null }
}

function statusesIn(xml: string): Json {
  const root = parseXml(xml).root
  return (root ? inside(root, 'd:response') : []).map((response) => ({
    href: inside(response, 'd:href')[0]?.text ?? '',
    propstats: inside(response, 'd:propstat').map((propstat) => ({
      status: inside(propstat, 'd:status')[0]?.text ?? '',
      props: Object.fromEntries(
        inside(propstat, 'd:prop')
          .flatMap((prop) => inside(prop))
          .map((prop) => [prop.name, inside(prop).length > 0 ? `<${inside(prop)[0]?.name}/>` : prop.text]),
      ),
    })),
  }))
}

/** The record has only some keys of a user, and the names of the others. */
function withOtherKeys(got: Json, wanted: Json): Json {
  if (got === null || typeof got !== 'object' || Array.isArray(got)) return got
  const [g, w] = [got, wanted] as [Record<string, Json>, Record<string, Json>]
  const filled = Object.fromEntries(
    Object.entries(g).map(([key, value]) => [key, withOtherKeys(value, w?.[key] ?? null)]),
  )
  const others = Object.keys(g).filter((key) => !(key in (w ?? {})))
  return { ...filled, otherKeys: others.sort().join(' ') }
}

const fillOf = (body: Buffer) => (new Set(body).size === 1 ? String.fromCharCode(body[0] ?? 0) : runsOf(String(body)))
/** `3 "a", then 3 "b"` */
const runsOf = (text: string) =>
  (text.match(/(.)\1*/gs) ?? []).map((run) => `${run.length} "${run[0]}"`).join(', then ')
