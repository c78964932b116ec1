import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { EXIT_USAGE } from '../errors/index.ts'
import type { Owner } from '../platform/index.ts'
import { readLine, type StateLine, statesForm } from './states.ts'

/** Words that start a version: the path of a binary, and for tests what follows it. */
export type Program = readonly [string, ...string[]]

export type ProgramVersion = {
  readonly version: string
  /** The newest schema that it knows. */
  readonly schema: number
}

/** Where the unit of systemd lets the daemon unpack. */
const daemonsCache = '/var/cache/gatehouse'

/** Passes only the environment that a program needs to run. */
const given = (names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/** Answers of a version about a ledger by question, or the reason why there are none. */
export type Answers =
  | { readonly by: ProgramVersion; readonly answers: ReadonlyMap<string, StateLine['answer']> }
  /** `isUnknown`: this version has no such command, which is no fault of the ledger. */
  | { readonly problem: string; readonly isUnknown: boolean }

/**
 * Has another version compute the derived states of a copy of the ledger, in a separate process with the lowest priority and a
 * limited heap. Ends it at the deadline.
 */
export async function answersOf(
  [command, ...args]: Program,
  asked: {
    readonly folder: string
    readonly since: string
    readonly most: number
    readonly limitMs: number
    readonly as?: Owner | undefined
  },
): Promise<Answers> {
  const words = ['upgrade', 'states', asked.folder, '--since', asked.since, '--most', String(asked.most)]
  const child = spawn(command, [...args, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate session: an older version of another user has no business on the terminal of root.
    detached: true,
    timeout: Math.ceil(asked.limitMs) + 1,
    ...asked.as,
    env: {
      ...given(asked.as ? ['PATH', 'TZ'] : ['PATH', 'TZ', 'HOME', 'PKG_NATIVE_CACHE_PATH']),
      NODE_OPTIONS: '--max-old-space-size=512',
      // Another user's home is not where this one may unpack.
      ...(asked.as && { PKG_NATIVE_CACHE_PATH: daemonsCache }),
    },
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000)
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  ended.catch(() => {})
  const answers = new Map<string, StateLine['answer']>()
  let by: ProgramVersion | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    const read = readLine(line)
    if (by && read) answers.set(read.question, read.answer)
    else if (read?.question === statesForm) by = read.answer as ProgramVersion
  }
  const code = await ended.then(
    ([exit]) => exit,
    (error: Error) => {
      said = error.message
      return null
    },
  )
  if (code === 0 && by) return { by, answers }
  if (code === EXIT_USAGE || code === 0) return { problem: 'it has no command for that yet', isUnknown: true }
  const why =
    code === null ? 'it did not come to an end in time, or did not run' : said.trim().replace(/^gatehouse: /, '')
  return { problem: why, isUnknown: false }
}
