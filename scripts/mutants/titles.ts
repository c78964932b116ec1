import { existsSync, readFileSync } from 'node:fs'
import type { Mutant } from './read.ts'

/**
 * Patterns of titles to try one after the other, as TAP_GREP takes them: the test that noticed the last time, else the
 * one that has the words in its title or its body. Last comes undefined, the whole file.
 */
export function attempts(mutant: Mutant, noticedBy: string | undefined): (string | undefined)[] {
  if (!existsSync(mutant.caughtBy)) return [undefined]
  const likely = noticedBy === undefined ? likelyTitle(mutant) : `^${quoted(noticedBy)}$`
  return likely === undefined ? [undefined] : [likely, undefined]
}

function likelyTitle({ caughtBy, says }: Mutant): string | undefined {
  const text = readFileSync(caughtBy, 'utf8')
  const place = text.indexOf(says)
  // Titles may be put together from data, such as the name of a story; "not ok" is in none.
  if (place < 0) return says === 'not ok' ? undefined : quoted(says)
  const before =
    text
      .slice(0, text.indexOf('\n', place))
      .split(/^(?=(?:void |await )?t\.test\()/m)
      .at(-1) ?? ''
  const title = before.match(/^(?:void |await )?t\.test\(\s*(['"])(.*?)\1,/)?.[2]
  if (title === undefined || title.includes(says) || /^\}/m.test(before)) return quoted(says)
  return `^${quoted(title)}$`
}

/** A pattern for exactly these words. */
const quoted = (words: string): string => words.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
