import { findIdentifier, type Identifier, identifierAt } from './identifiers.ts'
import type { Fault } from './value-rules.ts'

/** Values by application identifier, in the order in which they were read. */
export type Elements = ReadonlyMap<string, string>

/** The character for FNC1 after a value without a fixed length. */
export const GS = '\x1d'

/** Returns the element strings of a symbol as a reader sends them; undefined when the text cannot be cut to its end. */
export function cutElements(text: string): Elements | undefined {
  const elements = new Map<string, string>()
  for (let at = 0; at < text.length; ) {
    const identifier = identifierAt(text, at)
    if (!identifier) return undefined
    const from = at + identifier.id.length
    const end = endOf(identifier, text, from)
    if (!putElement(elements, identifier, text.slice(from, end))) return undefined
    at = text[end] === GS ? end + 1 : end
  }
  return elements.size > 0 ? elements : undefined
}

function endOf({ fixedLength }: Identifier, text: string, from: number): number {
  if (fixedLength !== undefined) return from + fixedLength
  const end = text.indexOf(GS, from)
  return end < 0 ? text.length : end
}

/**
 * The form that people read and type: `(00)340123450000000015(10)LOT7`. Labels print it with blanks, and no value has
 * one. All of it, or it is none.
 */
export function bracketedElements(text: string): Elements | undefined {
  const tight = text.replaceAll(' ', '')
  if (!/^(?:\(\d{2,4}\)[^(]+)+$/.test(tight)) return undefined
  const elements = new Map<string, string>()
  for (const [, id = '', value = ''] of tight.matchAll(/\((\d{2,4})\)([^(]*)/g)) {
    const identifier = findIdentifier(id)
    if (!identifier || !putElement(elements, identifier, value)) return undefined
  }
  return elements
}

/** Adds a value. Returns false when it is no value of its identifier, or when there is another value already. */
export function putElement(elements: Map<string, string>, identifier: Identifier, value: string): boolean {
  const { id, fixedLength, characters } = identifier
  if (!characters.test(value) || (fixedLength !== undefined && value.length !== fixedLength)) return false
  if ((elements.get(id) ?? value) !== value) return false
  elements.set(id, value)
  return true
}

/** Returns what is wrong with a value; undefined when nothing is. */
export function faultOf(id: string, value: string): Fault | undefined {
  const identifier = findIdentifier(id)
  if (!identifier) return 'rule'
  let at = 0
  let worst: Fault | undefined
  for (const { isOptional, characters, min, max, rules } of identifier.parts) {
    if (isOptional && at === value.length) break
    const part = value.slice(at, at + max)
    at += part.length
    if (part.length < min || !characters.test(part)) return 'rule'
    for (const { holds, fault } of rules) {
      if (holds(part)) continue
      if (fault === 'check digit') return fault
      worst = fault
    }
  }
  return at < value.length ? 'rule' : worst
}

/** Returns whether two of the elements exclude each other. */
export function contradictThemselves(elements: Elements): boolean {
  const ids = [...elements.keys()]
  return ids.some((id) => {
    const contradicts = findIdentifier(id)?.contradicts ?? []
    return contradicts.some((pattern) => ids.some((other) => other !== id && pattern.test(other)))
  })
}

/**
 * Returns the element strings as a symbol carries them. A GS is behind each value whose length the standard does not fix, unless it
 * is the last. The reverse is `cutElements`.
 */
export function elementText(elements: Elements): string {
  const all = [...elements]
  return all
    .map(([id, value], i) => {
      const isClosed = i === all.length - 1 || findIdentifier(id)?.fixedLength !== undefined
      return `${id}${value}${isClosed ? '' : GS}`
    })
    .join('')
}
