import canonicalize from 'canonicalize'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/** Reads a JSON text. Throws SyntaxError. */
export const parsedJson = (text: string): Json => JSON.parse(text)

/** Values nested deeper are left to the package, which needs no stack for them. */
const deepest = 64

/**
 * Returns the RFC 8785 text of a value: keys sorted by UTF-16 code units, shortest numbers, no white space, absent keys omitted.
 * Throws TypeError for values that JSON cannot hold (NaN, a lone surrogate). It gives the same text as the package `canonicalize`.
 * A verification makes a text for each leaf, and the package spends most of its time on the order of keys.
 */
export function canonicalJson(value: Json): string {
  return textOf(value, 0)
}

function textOf(value: Json, depth: number): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not JSON`)
    return String(value === 0 ? 0 : value)
  }
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value === null) return 'null'
  if (value === undefined) throw new TypeError('nothing to canonicalize')
  if (depth === deepest) return canonicalize(value) as string
  return isList(value) ? listText(value, depth) : objectText(value, depth)
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

function listText(list: readonly Json[], depth: number): string {
  let text = '['
  for (let i = 0; i < list.length; i += 1) text += (i === 0 ? '' : ',') + textOf(list[i] ?? null, depth + 1)
  return `${text}]`
}

function objectText(object: { readonly [key: string]: Json | undefined }, depth: number): string {
  const { sorted, names } = orderOf(Object.keys(object))
  let text = ''
  for (let i = 0; i < sorted.length; i += 1) {
    const value = object[sorted[i] as string]
    if (value === undefined) continue
    text += (text === '' ? '{' : ',') + names[i] + textOf(value, depth + 1)
  }
  return text === '' ? '{}' : `${text}}`
}

/** Characters that JSON writes as they are: no quotation mark, backslash, control character or half of a pair. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

function quoted(text: string): string {
  if (plain.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate is not JSON')
  return JSON.stringify(text)
}

/** Keys in the order in which an object has them, in canonical order, and as they are written. */
type Order = { readonly keys: readonly string[]; readonly sorted: readonly string[]; readonly names: readonly string[] }

/** Leaves of a kind have the same keys, so most orders are known. By the number of keys. */
const orders = new Map<number, Order[]>()
const mostOrders = 16
const mostKeys = 100

function orderOf(keys: readonly string[]): Order {
  const known = orders.get(keys.length)
  for (const order of known ?? []) if (isSame(order.keys, keys)) return order
  const sorted = keys.toSorted()
  const order = { keys, sorted, names: sorted.map((key) => `${quoted(key)}:`) }
  if (keys.length > mostKeys) return order
  orders.set(keys.length, known && known.length < mostOrders ? [...known, order] : [order])
  return order
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  for (let i = 0; i < some.length; i += 1) if (some[i] !== others[i]) return false
  return true
}
