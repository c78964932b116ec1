import { webcrypto } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { ExitError } from '../../errors/index.ts'
import { canonicalJson, type Json } from '../../log/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { followHandOvers, isObject, maxHandOvers, originOfLog, parseObject } from '../../proof/index.ts'
import { statementFirstLine } from '../transparency/keys.ts'
import { type NoteKey, readCheckpointText, readNote, readVkey, verifySignatures, vkeyOf } from '../transparency/note.ts'

const firstLine = statementFirstLine('untouched')
/** Lists of 10,000 ids and 1,000 gaps with their words; a note of a checkpoint may be 256 KiB. */
const largestBytes = 4 * 1024 * 1024

/** Result of a check of a statement; `words` are lines for people. */
export type StatementVerdict = {
  readonly ok: boolean
  readonly words: readonly string[]
  readonly keyIsFromStatement: boolean
  readonly statement: Readonly<Record<string, unknown>> | undefined
}

/** Returns the text of a file that is a signed statement; undefined for any other. Throws ExitError when it cannot be read. */
export function readStatement(path: string): string | undefined {
  try {
    const fd = openSync(path, 'r')
    const start = Buffer.alloc(firstLine.length + 1)
    try {
      readSync(fd, start)
    } finally {
      closeSync(fd)
    }
    return start.toString('latin1') === `${firstLine}\n` ? readFileSync(path, 'utf8') : undefined
  } catch (error) {
    throw new ExitError(1, `${path} cannot be read: ${errorMessage(error)}`)
  }
}

class StatementFault extends Error {}

/** Checks a signed statement that a slot was untouched, and the checkpoint inside it. Never throws for its contents. */
export async function verifyStatement(text: string, trusted: readonly NoteKey[]): Promise<StatementVerdict> {
  try {
    return await check(text, trusted)
  } catch (error) {
    if (!(error instanceof StatementFault)) throw error
    const words = [`fails because ${error.message}`]
    return { ok: false, words, keyIsFromStatement: false, statement: undefined }
  }
}

async function check(text: string, trusted: readonly NoteKey[]): Promise<StatementVerdict> {
  const { note, statement } = readText(text)
  const { checkpoint, key } = statement
  const head = isObject(checkpoint) && typeof checkpoint['note'] === 'string' ? readNote(checkpoint['note']) : undefined
  const tree = head && readCheckpointText(head.text)
  if (!isObject(checkpoint) || !head || !tree || tree.isExtended) throw new StatementFault('it has no checkpoint')
  const origin = originOfLog({ siteId: String(statement['siteId']), logId: String(checkpoint['logId']) })
  if (tree.origin !== origin) throw new StatementFault('its checkpoint is of another log')
  if (tree.size !== checkpoint['size'] || tree.root.toString('base64') !== checkpoint['rootHash']) {
    throw new StatementFault('its checkpoint has another size or root than it says')
  }
  const begin = trusted.filter(({ name, type }) => name === origin && type !== 4)
  const given = await followed(origin, statement['handOvers'], begin)
  const own = typeof key === 'string' ? readVkey(key) : undefined
  // Somebody who names a key wants that one: the key inside counts only without any.
  const isOwnKey = trusted.every(({ type }) => type === 4)
  const keys = isOwnKey && own ? [own] : given
  const signed = verifySignatures(
    note,
    keys.filter(({ type, name }) => type === 1 && name === origin),
  )
  const [signature] = signed
  if (!signature) throw new StatementFault(`no Ed25519 key of ${origin} that is known here signed it`)
  if (signed.some(({ holds }) => !holds)) throw new StatementFault('its signature does not verify')
  const heads = verifySignatures(head, keys)
  if (heads.length === 0 || heads.some(({ holds }) => !holds)) {
    throw new StatementFault('the signature of its checkpoint does not verify')
  }
  const isFollowed = !isOwnKey && !begin.some((key) => vkeyOf(key) === vkeyOf(signature.key))
  const words = wordsOf(statement, signature.key, isOwnKey)
  if (isFollowed) words.push('the key that you know was rotated to this one')
  return { ok: true, keyIsFromStatement: isOwnKey, statement, words }
}

/** Returns the keys that are trusted, and those to which they were rotated. */
async function followed(origin: string, handOvers: unknown, begin: readonly NoteKey[]): Promise<readonly NoteKey[]> {
  if (handOvers === undefined) return begin
  if (!Array.isArray(handOvers) || handOvers.length > maxHandOvers) {
    throw new StatementFault(`it has no list of at most ${maxHandOvers} hand-overs`)
  }
  try {
    const led = await followHandOvers(webcrypto.subtle, origin, handOvers, begin.map(vkeyOf))
    return led.flatMap((vkey) => readVkey(vkey) ?? [])
  } catch (error) {
    throw new StatementFault(errorMessage(error))
  }
}

function readText(text: string) {
  const note = text.length > largestBytes ? undefined : readNote(text, largestBytes)
  const [first, json, end, ...more] = note?.text.split('\n') ?? []
  if (!note || first !== firstLine || json === undefined || end !== '' || more.length > 0) {
    throw new StatementFault('it is not a signed statement')
  }
  const statement = parseObject(json)
  if (!statement || canonicalJson(statement as Json) !== json) throw new StatementFault('it is not canonical JSON')
  return { note, statement }
}

function wordsOf(statement: Readonly<Record<string, unknown>>, key: NoteKey, isOwnKey: boolean): string[] {
  const { slot, from, to, untouched, events, watchedShare, madeAt, checkpoint } = statement
  const label = isObject(slot) ? String(slot['slot_id']) : ''
  const size = isObject(checkpoint) ? checkpoint['size'] : ''
  const many = Array.isArray(events) ? events.length : 0
  return [
    `slot ${label} from ${from} to ${to}: ${untouched === true ? 'untouched' : `${many} events`}`,
    `a camera watched ${(Number(watchedShare) * 100).toFixed(2)} % of the time`,
    `as the log was at ${madeAt}, with ${size} leaves; later events are not covered`,
    isOwnKey
      ? `signed by the key inside this file; compare it with the one you know: ${vkeyOf(key)}`
      : `signed by ${key.name}`,
  ]
}
