import { createHash } from 'node:crypto'
import { base32 } from '../auth/index.ts'

/** Claims about a person, as the provider sent them. */
export type Claims = { readonly [claim: string]: unknown }

/** 60 bits: no second subject of a provider has the tag of a colleague. */
const tagLetters = 12
const longestName = 100

/**
 * Returns the name of a person: the provider's name for people, and a tag of the subject. The subject alone is unique and stays
 * (OpenID Connect Core, 5.7). Names change hands, and at some providers people change their own.
 */
export function usernameOf(sub: string, claims: Claims): string {
  const [named = sub] = [claims['preferred_username'], claims['upn'], claims['email']].flatMap(cleaned)
  return `${named}~${tagOf(sub)}`
}

const tagOf = (sub: string): string =>
  base32(createHash('sha256').update(sub).digest()).slice(0, tagLetters).toLowerCase()

/** Returns a list with the text as the gateway stores names; an empty one for no text. */
function cleaned(value: unknown): string[] {
  if (typeof value !== 'string') return []
  const characters = [...value.toWellFormed().normalize('NFC').replace(/\p{C}/gu, '').trim()]
  const name = characters.slice(0, longestName).join('').trim()
  return name === '' ? [] : [name]
}
