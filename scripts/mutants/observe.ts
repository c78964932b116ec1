import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Mutant } from './read.ts'
import { TapStream } from './tap-stream.ts'

const longestMs = 300_000

/** A process that lives for seconds is faster when it makes room for what it loads, in place of tidying up after it. */
const beforeTests = [
  '--max-semi-space-size=64',
  '--min-semi-space-size=64',
  '--import=./scripts/mutants/first-example.ts',
]

/** Quietly: else tap notes in the options of a test that it is left out, and so leaves out all that share these options. */
const onlyThis = (title: string) => ({ TAP_TIMEOUT: '60', TAP_GREP: `/${title}/`, TAP_FILTER_QUIETLY: '1' })

export type Observed = {
  readonly isCaught: boolean
  /** The test of the file that noticed. */
  readonly noticedBy?: string
  readonly output: string
}

/** Where and how the program of a test or a check runs. */
export type Place = { readonly tree: string; readonly env: NodeJS.ProcessEnv }

/**
 * Runs the test file or check of the mutant until it says the words in a failure; it is ended at that moment.
 *
 * @param only pattern of the titles to run; without it all of them run
 */
export async function observe({ caughtBy, says }: Mutant, { tree, env }: Place, only?: string): Promise<Observed> {
  const check = caughtBy.match(/^check (.+)$/)?.[1]
  const program = spawn(process.execPath, check ? ['scripts/check.ts', check] : [...beforeTests, caughtBy], {
    cwd: tree,
    // Its own group, so that the daemons and browsers of an ended test end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...(only === undefined ? { TAP_TIMEOUT: '280' } : onlyThis(only)) },
  })
  const end = () => endGroup(program.pid)
  const tooLong = setTimeout(end, longestMs)
  const tap = new TapStream(says)
  let output = ''
  let noticed: { readonly title: string } | undefined
  const read = async (stream: NodeJS.ReadableStream, isTap: boolean) => {
    for await (const line of createInterface({ input: stream })) {
      output += `${line}\n`
      if (noticed || !isTap) continue
      noticed = tap.push(line)
      if (noticed) end()
    }
  }
  const ended = new Promise<number | null>((settle) => program.once('close', settle))
  await Promise.all([read(program.stdout, check === undefined), read(program.stderr, false)])
  const status = await ended
  clearTimeout(tooLong)
  end()
  if (noticed) return { isCaught: true, noticedBy: noticed.title, output }
  // A check, and a test that ends before it has a title, say it in their own words.
  return { isCaught: status !== 0 && status !== null && unreported(output).includes(says), output }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The output without results and reports of tests. */
const unreported = (output: string): string =>
  output.replace(/^\s*(?:ok |not ok |# Subtest: ).*$/gm, '').replace(/^\s*---\n[\s\S]*?^\s*\.\.\.$/gm, '')
