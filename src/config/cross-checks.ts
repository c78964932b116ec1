import type { z } from 'zod'
import { shareAround } from '../platform/index.ts'
import { isHost, isLoopback } from './kinds.ts'
import { callbackNameOf, type Expected, type Namespace, nameProblem, oidcInstance, readName } from './names.ts'

/**
 * Checks that compare values. They run even when other values are wrong, so that one run finds every problem, and
 * therefore accept any value.
 */
export type CrossCheck = (value: unknown, context: z.core.$RefinementCtx) => void

export const always = { when: () => true }

/** Says whether an issue comes from a cross check, which has its own message. */
export const isCrossCheck = (issue: z.core.$ZodIssue): boolean =>
  issue.code === 'custom' && issue.params?.['crossCheck'] === true

export function tell(context: z.core.$RefinementCtx, path: (string | number)[], message: string): void {
  context.addIssue({ code: 'custom', path, message, params: { crossCheck: true } })
}

/** Returns a check that no two entries of a list have the same value under `name`. */
export function distinct(name: string): CrossCheck {
  return (entries, context) => {
    for (const { index, first } of repeats(entries, (entry) => field(entry, name))) {
      tell(context, [index, name], `entry ${first + 1} of the list has the same ${name}`)
    }
  }
}

export const distinctAddresses: CrossCheck = (listeners, context) => {
  for (const { index, value } of repeats(listeners, address)) {
    tell(context, [index], `another listener has ${value} already`)
  }
}

export const allDifferent = (list: readonly string[]): boolean => new Set(list).size === list.length

/** One cell of the motion detector; motion in a smaller area cannot be distinguished from noise. */
const leastZone = 1 / 144

export const zonesAreLarge: CrossCheck = (zones, context) => {
  if (!Array.isArray(zones)) return
  zones.forEach((zone, index) => {
    if (Array.isArray(zone) && shareAround(zone.map(pointOf)) < leastZone)
      tell(context, [index], 'expected a zone of at least 0.7 % of the picture')
  })
}

const pointOf = (point: unknown) => ({ x: Number(field(point, 'x')), y: Number(field(point, 'y')) })

export const uploadIsKnown: CrossCheck = (storage, context) => {
  const wanted = field(storage, 'upload', 'instance')
  const instances = field(storage, 'instances')
  if (typeof wanted !== 'string' || !Array.isArray(instances)) return
  if (instances.some((instance) => field(instance, 'url') === wanted)) return
  tell(context, ['upload', 'instance'], 'expected one of storage.instances')
}

/** Refuses copies of the ledger to a storage server that is not set. */
export const backupHasStorage: CrossCheck = (config, context) => {
  if (field(config, 'storage', 'upload')) return
  for (const kind of ['segments', 'file']) {
    if (field(config, 'backup', kind, 'to') !== 'storage') continue
    tell(context, ['backup', kind, 'to'], 'storage needs storage.upload, with its server and account')
  }
}

/** Refuses a witness under another name than its key has: its cosignatures would never be found. */
export const nameIsOfKey: CrossCheck = (witness, context) => {
  const [name, vkey] = [field(witness, 'name'), field(witness, 'vkey')]
  if (typeof name !== 'string' || typeof vkey !== 'string' || !vkey.includes('+')) return
  const own = vkey.slice(0, vkey.indexOf('+'))
  if (own !== name) tell(context, ['name'], `its key says ${own}`)
}

export const witnessIsNamed: CrossCheck = (witness, context) => {
  if (field(witness, 'enabled') !== true || typeof field(witness, 'name') === 'string') return
  tell(context, ['name'], 'needed when the witness is enabled')
}

export const hubHasToken: CrossCheck = (hub, context) => {
  if (typeof field(hub, 'url') !== 'string' || typeof field(hub, 'tokenFile') === 'string') return
  tell(context, ['tokenFile'], 'needed with url; "gatehouse hub join" writes it')
}

export const passwordHasUser: CrossCheck = (camera, context) => {
  if (typeof field(camera, 'passwordFile') !== 'string' || field(camera, 'username') !== null) return
  tell(context, ['passwordFile'], 'needs username beside it')
}

export const metricsHaveTheirOwnAddress: CrossCheck = (config, context) => {
  const metrics = address(field(config, 'metrics', 'listen'))
  const listeners = field(config, 'listen')
  if (metrics === undefined || !Array.isArray(listeners)) return
  if (!listeners.some((listener) => address(listener) === metrics)) return
  tell(context, ['metrics', 'listen'], `a listener has ${metrics} already`)
}

/** Refuses plain HTTP on the network without `allowPlainHttp`, because everyone there could read the secrets. */
export const plainHttpIsMeant: CrossCheck = (listeners, context) => {
  if (!Array.isArray(listeners)) return
  for (const [index, listener] of listeners.entries()) {
    const host = field(listener, 'host')
    if (typeof host !== 'string' || !isHost(host) || isLoopback(host) || field(listener, 'tls')) continue
    if (field(listener, 'allowPlainHttp') === true) continue
    tell(
      context,
      [index],
      'serves other machines without tls (see gatehouse tls init); allowPlainHttp: true if that is meant',
    )
  }
}

/** Refuses a `site.url` that is a storage instance too: X-Storage-Instance would mean two sets of accounts. */
export const siteIsNoInstance: CrossCheck = (config, context) => {
  const url = field(config, 'site', 'url')
  const instances = field(config, 'storage', 'instances')
  if (typeof url !== 'string' || !Array.isArray(instances)) return
  const index = instances.findIndex((instance) => field(instance, 'url') === url)
  if (index >= 0) tell(context, ['storage', 'instances', index, 'url'], 'is site.url, which names the local accounts')
}

/** Refuses names of callers that mean no one, or that could be two people. */
export const namesAreSomebody: CrossCheck = (config, context) => {
  const space = namespaceOf(config)
  for (const { text, path, expected } of namesIn(config)) {
    const problem = nameProblem(readName(text), space, expected)
    if (problem !== undefined) tell(context, path, problem)
  }
}

/** Refuses two providers whose people would be one, or whose answers would come back at one address. */
export const providersDiffer: CrossCheck = (providers, context) => {
  const nameOf = (provider: unknown) => {
    const issuer = field(provider, 'issuer')
    return typeof issuer === 'string' && URL.canParse(issuer) ? callbackNameOf(issuer) : undefined
  }
  for (const { index, first, value } of repeats(providers, nameOf)) {
    tell(context, [index, 'issuer'], `entry ${first + 1} of the list has the redirect address …/${value} already`)
  }
}

type WrittenName = { readonly text: string; readonly path: (string | number)[]; readonly expected: Expected }

/** Yields every place of the config where callers are named. */
export function* namesIn(config: unknown): Generator<WrittenName> {
  for (const [list, others] of [
    ['cameras', ['owner']],
    ['warehouses', []],
  ] as const) {
    for (const [index, entry] of listOf(field(config, list)).entries()) {
      for (const [at, text] of listOf(field(entry, 'viewers')).entries()) {
        if (typeof text === 'string') yield { text, path: [list, index, 'viewers', at], expected: 'user or group' }
      }
      for (const key of others) {
        const text = field(entry, key)
        if (typeof text === 'string') yield { text, path: [list, index, key], expected: 'user' }
      }
    }
  }
  for (const [index, channel] of listOf(field(config, 'alerts', 'channels')).entries()) {
    for (const [at, text] of listOf(field(channel, 'webPush', 'people')).entries()) {
      if (typeof text !== 'string') continue
      yield { text, path: ['alerts', 'channels', index, 'webPush', 'people', at], expected: 'user or group' }
    }
  }
  for (const text of keysOf(field(config, 'rateLimit', 'users'))) {
    yield { text, path: ['rateLimit', 'users', text], expected: 'user' }
  }
  for (const text of keysOf(field(config, 'auth', 'groupRoles'))) {
    yield { text, path: ['auth', 'groupRoles', text], expected: 'group' }
  }
}

/** Returns the namespace of short names, as far as the config itself has it, and the instances of `auth.oidc`. */
export function namespaceOf(config: unknown): Namespace & { readonly providers: readonly string[] } {
  const strings = (values: unknown[]) => values.filter((value) => typeof value === 'string')
  const siteUrl = field(config, 'site', 'url')
  const accounts = new Set(listOf(field(config, 'auth', 'users')).map((user) => field(user, 'username')))
  const groups = new Set(keysOf(field(config, 'auth', 'groupRoles')).map((text) => readName(text).name))
  return {
    siteUrl: typeof siteUrl === 'string' ? siteUrl : undefined,
    instances: strings(listOf(field(config, 'storage', 'instances')).map((instance) => field(instance, 'url'))),
    providers: strings(listOf(field(config, 'auth', 'oidc')).map((provider) => field(provider, 'issuer')))
      .filter((issuer) => URL.canParse(issuer))
      .map(oidcInstance),
    isLocal: (name) => accounts.has(name),
    isGroup: (name) => groups.has(name),
  }
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const keysOf = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : [])

type Repeat = { readonly index: number; readonly first: number; readonly value: unknown }

function repeats(entries: unknown, sameness: (entry: unknown) => unknown): Repeat[] {
  if (!Array.isArray(entries)) return []
  const values = entries.map(sameness)
  return values
    .map((value, index) => ({ index, first: values.indexOf(value), value }))
    .filter(({ index, first, value }) => value !== undefined && first < index)
}

/** Returns `host:port`; undefined for port 0, which is any free port. */
function address(listener: unknown): string | undefined {
  const host = field(listener, 'host')
  const port = field(listener, 'port')
  return typeof host === 'string' && typeof port === 'number' && port > 0 ? `${host}:${port}` : undefined
}

export function field(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null | undefined)?.[name], value)
}
