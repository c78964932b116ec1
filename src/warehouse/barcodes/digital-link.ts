import { type Elements, putElement } from './element-strings.ts'
import { findIdentifier, type Identifier } from './identifiers.ts'

/**
 * An address read by GS1 Digital Link: URI Syntax 1.6. `elements`: its element strings; undefined when it breaks the syntax.
 * `key`: identifier and value of its key; undefined without one.
 */
export type ReadLink = { readonly elements: Elements | undefined; readonly key: readonly [string, string] | undefined }

const form = /^https?:\/\/([^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?/i

export const isAddress = (text: string): boolean => form.test(text)

/** Returns whether the address is on the host that GS1 reserves for Digital Links. */
export const isOfGs1 = (address: string): boolean => /^https?:\/\/id\.gs1\.org(?:[/?#:]|$)/i.test(address)

/**
 * Reads an address as a Digital Link: `https://HOST/…/01/09506000134352/21/12345?17=270101`. Names of identifiers in
 * letters (`/gtin/`) ended with version 1.2 of the standard; compressed links are not read.
 */
export function readLink(address: string): ReadLink {
  const [, , path = '', query = ''] = address.match(form) ?? []
  const pairs = keyed(path)
  const [key] = pairs
  if (!key) return { elements: undefined, key: undefined }
  const named = [key[0], padded(key[0], decoded(key[1]))] as const
  const elements = new Map<string, string>()
  const isRead = putPath(elements, pairs) && putQuery(elements, pairs, query)
  return { elements: isRead ? elements : undefined, key: named }
}

/** Returns the pairs of identifier and value behind which the path ends, from the last key of a Digital Link on. */
function keyed(path: string): [string, string][] {
  const parts = path.split('/').slice(1)
  const pairs: [string, string][] = []
  for (let i = parts.length - 2; i >= 0; i -= 2) {
    const [id = '', value = ''] = parts.slice(i, i + 2)
    const identifier = findIdentifier(id)
    if (!identifier) return []
    pairs.unshift([id, value])
    if (identifier.qualifiers) return pairs
  }
  return []
}

function putPath(elements: Map<string, string>, pairs: readonly [string, string][]): boolean {
  const ids = pairs.map(([id]) => id)
  if (!areInOrder(ids) || new Set(ids).size < ids.length) return false
  return pairs.every(([id, value]) => put(elements, findIdentifier(id), decoded(value)))
}

/** Reads the attributes; parameters with a name of letters do not belong to GS1. */
function putQuery(elements: Map<string, string>, pairs: readonly [string, string][], query: string): boolean {
  const inPath = pairs.map(([id]) => id)
  return query.split('&').every((pair) => {
    const [, id, value = ''] = pair.match(/^(\d+)=(.*)$/) ?? []
    if (id === undefined) return true
    const identifier = findIdentifier(id)
    if (!identifier?.isAttribute || belongsIntoPath(inPath, id)) return false
    return put(elements, identifier, decoded(value.replaceAll('+', ' ')))
  })
}

function put(elements: Map<string, string>, identifier: Identifier | undefined, value: string): boolean {
  return identifier !== undefined && putElement(elements, identifier, padded(identifier.id, value))
}

/** Returns whether the qualifiers after the key are one of its choices, with or without gaps. */
function areInOrder([key = '', ...behind]: readonly string[]): boolean {
  const choices = findIdentifier(key)?.qualifiers ?? []
  return choices.some((choice) => {
    const places = behind.map((id) => choice.indexOf(id))
    return places.every((place, i) => place >= 0 && place > (places[i - 1] ?? -1))
  })
}

function belongsIntoPath(inPath: readonly string[], id: string): boolean {
  if (inPath.includes(id)) return false
  return inPath.some((_, i) => areInOrder([...inPath.slice(0, i + 1), id, ...inPath.slice(i + 1)]))
}

/** Returns a GTIN of 8, 12 or 13 digits, which a link may contain, with 14 digits. */
function padded(id: string, value: string): string {
  return id === '01' && /^(?:\d{8}|\d{12,13})$/.test(value) ? value.padStart(14, '0') : value
}

/** GS1 has no character outside ASCII, so a byte is a character. */
function decoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
