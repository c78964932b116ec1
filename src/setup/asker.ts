import { createInterface, type Interface } from 'node:readline'
import { Writable } from 'node:stream'
import { EXIT_USAGE, ExitError } from '../errors/index.ts'
import { terminalText } from '../platform/index.ts'

/** One question. Its answer is never empty where `fallback` is not. */
export type Question = {
  readonly text: string
  /** Value of an empty answer; undefined: an empty answer does not count. */
  readonly fallback: string | undefined
  /** Says what is wrong with the form of an answer, in words for the person; undefined: nothing. */
  readonly check?: (answer: string) => string | undefined | Promise<string | undefined>
  /** Says what does not work with an answer of the right form, such as a server that is away; undefined: nothing. */
  readonly look?: (answer: string) => Promise<string | undefined>
  /** Does not show what is typed. */
  readonly isSecret?: boolean
  /** The end of the input means the fallback, so that a script which pipes the answers before this one still works. */
  readonly isOptional?: boolean
}

/** Somebody who answers. */
export type Asker = {
  ask(question: Question): Promise<string>
  /** Says something between two questions. */
  say(text: string): void
  close(): void
}

/** Asks a person at a terminal, or a program that pipes one answer a line. Questions go to `out`, which is stderr. */
export function askerOn(input: NodeJS.ReadStream, out: NodeJS.WriteStream): Asker {
  let isHidden = false
  const shown = new Writable({
    write(chunk, _, done) {
      if (!isHidden) out.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input, output: shown, terminal: input.isTTY === true })
  const next = lineReader(lines)
  const answerTo = async (question: Question): Promise<string> => {
    const { text, fallback, isSecret = false, isOptional = false } = question
    out.write(terminalText(fallback === undefined || fallback === '' ? `${text}: ` : `${text} [${fallback}]: `))
    isHidden = isSecret
    const answer = await next()
    isHidden = false
    if (isSecret) out.write('\n')
    if (answer === undefined && isOptional) return fallback ?? ''
    if (answer === undefined) throw new ExitError(1, `there is no answer to "${text}"; nothing was changed`)
    return answer.trim() === '' ? (fallback ?? '') : answer.trim()
  }
  return {
    async ask(question) {
      for (;;) {
        const answer = await answerTo(question)
        const isMissing = answer === '' && question.fallback === undefined
        const problem = isMissing ? 'an answer is needed' : await problemWith(question, answer)
        if (problem === undefined) return answer
        out.write(terminalText(`  ${problem}\n`))
      }
    },
    say: (text) => void out.write(terminalText(`${text}\n`)),
    close: () => lines.close(),
  }
}

const problemWith = async ({ check, look }: Question, answer: string) => (await check?.(answer)) ?? look?.(answer)

/** Returns a function that gives one line after the other; undefined at the end. Lines that come early wait. */
function lineReader(lines: Interface): () => Promise<string | undefined> {
  const waiting: string[] = []
  let wanted: ((line: string | undefined) => void) | undefined
  let isOver = false
  lines.on('line', (line) => {
    if (wanted) wanted(line)
    else waiting.push(line)
    wanted = undefined
  })
  lines.on('close', () => {
    isOver = true
    wanted?.(undefined)
  })
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  return () => {
    const line = waiting.shift()
    if (line !== undefined || isOver) return Promise.resolve(line)
    return new Promise((resolve) => {
      wanted = resolve
    })
  }
}

/** Takes the fallback of every question, and refuses what has none: for `--yes`. */
export function nobodyToAsk(out: NodeJS.WriteStream): Asker {
  return {
    async ask(question) {
      const { text, fallback } = question
      if (fallback === undefined) throw new ExitError(EXIT_USAGE, `"${text}" has no default; give the answer as a flag`)
      const problem = await problemWith(question, fallback)
      if (problem !== undefined) throw new ExitError(1, `${text}: ${problem}`)
      return fallback
    },
    say: (text) => void out.write(terminalText(`${text}\n`)),
    close: () => {},
  }
}
