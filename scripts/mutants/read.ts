import { globSync, readFileSync } from 'node:fs'

/** A patch that breaks something on purpose, and what must notice. Its head: `breaks:`, `caught-by:`, `says:`. */
export type Mutant = {
  readonly file: string
  /** What it breaks, in one sentence. */
  readonly breaks: string
  /** A test file, or `check NAME`. */
  readonly caughtBy: string
  /** Words that the failure must contain: the right test must fail, not just any. */
  readonly says: string
}

/** Throws when a patch does not say what it breaks and who must notice. */
export function mutants(): Mutant[] {
  return globSync('test/mutants/*.patch').sort().map(read)
}

/** The files that its patch changes, makes or takes away. */
export function touchedBy({ file }: Mutant): string[] {
  const touched = readFileSync(file, 'utf8').matchAll(/^diff --git a\/(\S+)/gm)
  return [...new Set([...touched].map(([, path = '']) => path))]
}

function read(file: string): Mutant {
  const head = readFileSync(file, 'utf8').split(/^diff --git /m)[0] ?? ''
  const of = (key: string) => head.match(new RegExp(`^${key}: (.+)$`, 'm'))?.[1]?.trim()
  const [breaks, caughtBy, says] = [of('breaks'), of('caught-by'), of('says')]
  if (!breaks || !caughtBy || !says) throw new Error(`${file} must say breaks:, caught-by: and says:`)
  return { file, breaks, caughtBy, says }
}
