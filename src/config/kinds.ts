import { hash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseWeeklyHours } from '../platform/index.ts'
import { parseDuration } from './duration.ts'
import { parseSize } from './size.ts'

/** Kind of a single value; messages and reference are made from it. */
type Kind = {
  /** For the reference: `duration`, `0 to 1`. */
  readonly name: string
  /** Completes "expected …". */
  readonly expected: string
  /** For the reference, where the value is written with a unit or counted in one. */
  readonly unit?: string
  /** A wrong value may be a secret, so messages never repeat it. */
  readonly discreet?: true
  /** The value is a path to this. */
  readonly path?: 'folder' | 'file' | 'secret'
  /** The names to choose from. */
  readonly choices?: readonly string[]
}

export const kinds = z.registry<Kind>()

const plainText = (value: string, max: number) =>
  value.length > 0 && value.length <= max && value.trim() === value && value.isWellFormed() && !/\p{Cc}/u.test(value)

export function text(max: number) {
  const expected = `text of 1 to ${max} characters, without control characters or spaces at its ends`
  return z
    .string()
    .refine((value) => plainText(value, max))
    .register(kinds, { name: 'text', expected })
}

/** Makes a kind for text of one form, which `expected` names. */
export function textLike(form: RegExp, expected: string) {
  return z.string().regex(form).register(kinds, { name: 'text', expected })
}

/** Makes a kind for names of keys in signed notes: no space of any kind, no plus sign. */
export function keyName() {
  return textLike(/^[^\s+\p{C}]{1,255}$/u, 'a name of 1 to 255 characters, without spaces and plus signs')
}

/** Length of the public key of each signature type of signed notes, in bytes. */
const publicKeyBytes: Readonly<Record<number, number>> = { 1: 32, 4: 32, 6: 1312 }

/** Makes a kind for verifier keys (c2sp.org/signed-note) of these signature types. */
export function vkey(types: readonly number[]) {
  const expected = `a verifier key NAME+ID+KEY of type ${types.map((type) => `0x0${type}`).join(' or ')}, whole and unchanged`
  return z
    .string()
    .refine((value) => isVkey(value, types))
    .register(kinds, { name: 'verifier key', expected })
}

/** Says whether the id in a verifier key is that of its key, so that a typing error is found here. */
function isVkey(value: string, types: readonly number[]): boolean {
  const [, name = '', id, encoded = ''] = /^([^\s+\p{C}]{1,255})\+([0-9a-f]{8})\+(.+)$/u.exec(value) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  const [type = 0] = bytes
  if (bytes.toString('base64') !== encoded || !types.includes(type)) return false
  if (bytes.length !== (publicKeyBytes[type] ?? 0) + 1) return false
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), bytes]), 'hex').startsWith(id ?? '-')
}

export function wholeNumber(min: number, max: number, unit?: string) {
  const kind = { name: `${min} to ${max}`, expected: `a whole number from ${min} to ${max}` }
  return z
    .int()
    .min(min)
    .max(max)
    .register(kinds, unit ? { ...kind, unit } : kind)
}

export function number(min: number, max: number, unit?: string) {
  const kind = { name: `${min} to ${max}`, expected: `a number from ${min} to ${max}` }
  return z
    .number()
    .min(min)
    .max(max)
    .register(kinds, unit ? { ...kind, unit } : kind)
}

export function flag() {
  return z.boolean().register(kinds, { name: 'true or false', expected: 'true or false' })
}

export function oneOf<const T extends readonly [string, ...string[]]>(choices: T) {
  return z
    .enum(choices)
    .register(kinds, { name: choices.join(', '), expected: `one of ${choices.join(', ')}`, choices })
}

/** Makes a kind for map keys with these choices; not every one must be present. */
export function keyOneOf(choices: readonly string[]) {
  return z
    .string()
    .refine((value) => choices.includes(value))
    .register(kinds, { name: choices.join(', '), expected: `one of ${choices.join(', ')}`, choices })
}

/** Makes a kind for durations; the value becomes milliseconds. */
export function duration() {
  return readAs(parseDuration, {
    name: 'duration',
    expected: 'a duration with its unit, such as 500ms, 30s, 5m, 12h or 7d',
    unit: 'ms, s, m, h, d',
  })
}

/** Makes a kind for sizes; the value becomes bytes. */
export function size() {
  return readAs(parseSize, {
    name: 'size',
    expected: 'a size with its unit, such as 512B, 1KiB, 256MiB or 2GiB',
    unit: 'B, KiB, MiB, GiB',
  })
}

/** Makes a kind for hours of the week, which stay text. */
export function recordingHours() {
  return z
    .string()
    .refine((value) => parseWeeklyHours(value) !== undefined)
    .register(kinds, {
      name: 'hours of the week',
      expected:
        'days and hours such as "Mo-Fr 06:00-22:00", "Sa 08:00-12:00" or "Mo-Su 22:00-06:00", with the days Mo Tu We Th Fr Sa Su; whole days are 00:00-24:00',
    })
}

/** Makes a kind for text that `read` converts, or refuses with undefined. */
function readAs<T>(read: (value: string) => T | undefined, kind: Kind) {
  const schema = z.string().transform((value, context) => {
    const found = read(value)
    if (found !== undefined) return found
    context.addIssue({ code: 'custom' })
    return z.NEVER
  })
  return schema.register(kinds, kind)
}

export function url(schemes: readonly string[]) {
  return z
    .string()
    .refine((value) => isUrl(value, schemes))
    .register(kinds, urlKind(schemes, 'URL'))
}

/** Makes a kind for server URLs. They are compared as text, so the value has no final slash and no default port. */
export function serverUrl() {
  return readAs(normalServerUrl, urlKind(serverSchemes, 'URL without query'))
}

/** Makes a kind for issuers of OpenID Connect. They are compared as text with what the provider says, so nothing is changed. */
export function issuer() {
  const kind = urlKind(['https'], 'URL without query')
  return z
    .string()
    .refine((value) => isUrl(value, ['https']) && !/[?#]/.test(value))
    .register(kinds, kind)
}

/** Makes a kind for web origins: scheme, host and port. */
export function origin() {
  const kind = { ...urlKind(serverSchemes, 'URL'), name: 'origin', expected: 'an https or http address without a path' }
  return readAs((value) => {
    const url = normalServerUrl(value)
    return url !== undefined && new URL(url).origin === url ? url : undefined
  }, kind)
}

const serverSchemes = ['https', 'http']

function urlKind(schemes: readonly string[], what: string): Kind {
  const expected = `an ${schemes.join(' or ')} ${what} of up to 2048 characters, without user name or password in it`
  return { name: `${schemes.join(' or ')} URL`, expected, discreet: true }
}

function isUrl(value: string, schemes: readonly string[]): boolean {
  if (value.length > 2048 || /[\s\\]/.test(value) || !URL.canParse(value)) return false
  // `user@` is searched in the text too: the parser drops an empty user.
  return schemes.includes(new URL(value).protocol.slice(0, -1)) && /^[a-z]+:\/\/[^/?#@]+([/?#]|$)/i.test(value)
}

function normalServerUrl(value: string): string | undefined {
  if (!isUrl(value, serverSchemes) || /[?#]/.test(value)) return undefined
  const { origin, pathname } = new URL(value)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

/**
 * Makes a kind for networks; the value is the network's address with its prefix: `10.1.2.3/8` as `10.0.0.0/8`,
 * `10.1.2.3` as `10.1.2.3/32`.
 */
export function network() {
  const expected = 'an address or network such as 10.0.0.7, 10.0.0.0/8 or fd00::/8'
  return readAs(normalNetwork, { name: 'CIDR', expected })
}

function normalNetwork(value: string): string | undefined {
  const cidr = value.includes('/') ? value : `${value}/${value.includes(':') ? 128 : 32}`
  const [, bits] = cidr.split('/')
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) return `${ipaddr.IPv4.networkAddressFromCIDR(cidr)}/${bits}`
  if (cidr.includes('%') || !ipaddr.IPv6.isValidCIDR(cidr)) return undefined
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr)}/${bits}`
}

/** Makes a kind for addresses of PostgreSQL. A password belongs in a separate file. */
export function databaseUrl() {
  const expected =
    'a postgres URL such as postgres://hub_app@10.0.0.9/hub?sslmode=verify-full or postgres://hub_app@/hub?host=/run/postgresql, with a database and without a password; sslmode is disable or verify-full'
  return z
    .string()
    .refine((value) => readDatabaseUrl(value) !== undefined)
    .register(kinds, { name: 'postgres URL', expected, discreet: true })
}

/** The parts of a PostgreSQL address. `host` is a folder for a Unix socket; `user` is empty when the URL names none. */
export type DatabaseAddress = {
  readonly user: string
  readonly host: string
  readonly port: number
  readonly database: string
  readonly verifiesTls: boolean
}

/** Reads the address of a PostgreSQL database; undefined when it is not one. */
export function readDatabaseUrl(value: string): DatabaseAddress | undefined {
  // A URL has no user without a host; `@/` means the socket that `?host=` names.
  const text = value.replace('@/', '@socket.invalid/').replace(/^(postgres(?:ql)?:\/\/)\//, '$1socket.invalid/')
  if (value.length > 2048 || /[\s\\#]/.test(value) || !URL.canParse(text)) return undefined
  const { protocol, username, password, hostname, port, pathname, searchParams } = new URL(text)
  const database = decodeURIComponent(pathname.slice(1))
  const host = searchParams.get('host') ?? (hostname === 'socket.invalid' ? '' : hostname.replaceAll(/^\[|\]$/g, ''))
  const mode = searchParams.get('sslmode')
  if (!/^postgres(ql)?:$/.test(protocol) || password !== '' || database === '' || host === '') return undefined
  if (![null, 'disable', 'verify-full'].includes(mode)) return undefined
  if ([...searchParams.keys()].some((name) => name !== 'host' && name !== 'sslmode')) return undefined
  return {
    user: decodeURIComponent(username),
    host,
    port: Number(port || 5432),
    database,
    verifiesTls: mode === 'verify-full',
  }
}

export function host() {
  return z.string().refine(isHost).register(kinds, {
    name: 'address or host name',
    expected: 'an IP address or a host name, without http:// before it and a port behind it',
  })
}

export function isHost(value: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(value)) return true
  if (value.includes(':')) return ipaddr.IPv6.isValid(value) && !value.includes('%')
  const labels = value.split('.')
  // A name whose last label is a number is a mistyped address, not a host name.
  const named = labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  return named && value.length <= 253 && !/^\d+$/.test(labels.at(-1) ?? '')
}

/** The three path kinds have absolute values: the loader resolves them before the schema runs. */
export const folder = () => path('folder')
export const file = () => path('file')
/** A file that only the gateway should be able to read. */
export const secretFile = () => path('secret')

function path(what: NonNullable<Kind['path']>) {
  const expected = `the path of a ${what === 'folder' ? 'folder' : 'file'}`
  return z
    .string()
    .refine((value) => value.length > 0 && value.length <= 4096 && !value.includes('\0'))
    .register(kinds, { name: 'path', expected, path: what, ...(what === 'secret' && { discreet: true }) })
}

/** Makes a kind for folders of a storage server. The value has no final slash, so `/` becomes the empty text. */
export function remoteFolder() {
  const expected = 'a path of folders that begins with /, without . and ..'
  return readAs(normalRemoteFolder, { name: 'path', expected })
}

function normalRemoteFolder(value: string): string | undefined {
  const [before, ...folders] = value.replace(/\/$/, '').split('/')
  const fine = folders.every((folder) => plainText(folder, 250) && folder !== '.' && folder !== '..')
  return value.startsWith('/') && before === '' && fine ? value.replace(/\/$/, '') : undefined
}

export function secretHash() {
  return z
    .string()
    .regex(/^scrypt:\S+$/)
    .register(kinds, {
      name: 'hash',
      expected: 'a hash that begins with scrypt:, as "gatehouse credential" prints it',
      discreet: true,
    })
}

/** Says whether an address or host name can only mean this machine. */
export function isLoopback(hostName: string): boolean {
  if (/^(.+\.)?localhost\.?$/i.test(hostName)) return true
  return ipaddr.isValid(hostName) && ipaddr.process(hostName).range() === 'loopback'
}

/** Makes a kind for a flag that the gateway may also decide itself. */
export function flagOrAuto() {
  const words = 'auto, true or false'
  return z.union([z.literal('auto'), z.boolean().register(kinds, { name: words, expected: words })])
}

/** Makes the word `storage` another choice beside a map. */
export function orStorage<T extends z.ZodObject>(map: T) {
  const expected = `storage, or a map with ${Object.keys(map.shape).join(' and ')}`
  kinds.add(map, { name: 'storage or a map', expected })
  return z.union([z.literal('storage'), map])
}
