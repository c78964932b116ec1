import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

/** A change that breaks something that must never break, and the test that fails on it. */
const guard = z.strictObject({
  breaks: z.string().min(1),
  /** The file that the change is made in. */
  file: z.string().min(1),
  /** Text of the file, in it exactly once. A run of white space matches any other, so that a formatter moves nothing. */
  find: z.string().min(1),
  replace: z.string(),
  /** A test file, or `check NAME`. */
  test: z.string().min(1),
  /** The title of the test that fails; absent for a check. */
  title: z.string().min(1).optional(),
})

const room = z.strictObject({
  /** The files without side effects that `npm run mutants -- ROOM` changes, and the tests that it runs. */
  pure: z.strictObject({ files: z.array(z.string()).min(1), tests: z.array(z.string()).min(1) }).optional(),
  guards: z.array(guard).default([]),
})

export type Guard = z.infer<typeof guard>
export type Room = z.infer<typeof room> & { readonly name: string }

/** The mutants of all rooms, in the order of their names. Throws with the file and the key that is wrong. */
export function rooms(): Room[] {
  return globSync('test/mutants/*.yaml')
    .toSorted()
    .map((path) => {
      const read = room.safeParse(parse(readFileSync(path, 'utf8')))
      if (!read.success) throw new Error(`${path}: ${z.prettifyError(read.error)}`)
      return { name: basename(path, '.yaml'), ...read.data }
    })
}

/** The file with the change in it. Throws when its text is not in the file exactly once. */
export function changed({ file, find, replace }: Guard): string {
  const text = readFileSync(file, 'utf8')
  const pattern = find.trim().split(/\s+/).map(literal).join('\\s+')
  const places = [...text.matchAll(new RegExp(pattern, 'g'))]
  const [place] = places
  if (place === undefined || places.length > 1) {
    throw new Error(`${file} has this text ${places.length} times, not once:\n${find}`)
  }
  return text.slice(0, place.index) + replace + text.slice(place.index + place[0].length)
}

/** A pattern for exactly this text. */
export const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
