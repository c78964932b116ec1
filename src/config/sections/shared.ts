import { z } from 'zod'
import { type Facts, facts } from '../keys.ts'
import { kinds, oneOf, text, textLike, wholeNumber } from '../kinds.ts'
import { roleNames } from '../roles.ts'

/** Makes a key with its facts for the reference. */
export function key<S extends z.ZodType>(schema: S, sentence: string, more: Omit<Facts, 'sentence'> = {}): S {
  facts.add(schema, { sentence, ...more })
  return schema
}

/** Makes a map that may be left out: its keys then have their defaults. */
export function section<S extends z.core.$ZodShape>(shape: S) {
  // Every key of a section has a default, which the type of any shape cannot express; a test reads the config of `{}`.
  return z.strictObject(shape).prefault({} as never)
}

/** Makes a list with at least one entry. */
export function filledList<S extends z.ZodType>(entry: S, max: number, expected: string) {
  return z
    .array(entry)
    .min(1)
    .max(max)
    .register(kinds, { name: `list of ${kinds.get(entry)?.name ?? 'maps'}`, expected })
}

export const role = () => oneOf(roleNames)

export const id = () => wholeNumber(1, 2_147_483_647)

/** A user or group by the short or the full form (`names.ts`): a name, an @ and the URL of an instance. */
export const caller = () => text(128 + 'device:@'.length + 2048)

export const callers = () => z.array(caller()).prefault([])

export const whoIs =
  'alice is a local account, else a user or group of the only storage server; alice@URL, group:NAME@URL say it in full; device:NAME is a device'

/** Makes the kind of an account's name. No colon: the user name of Basic credentials ends at the first one. */
export const username = () =>
  textLike(/^(?! )[^:\p{Cc}]{1,128}(?<! )$/u, 'a user name of 1 to 128 characters, without a colon')
