import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { within } from './bounds.ts'

/** One step of a story that went as it should. */
export type PlayedStep = { readonly step: string; readonly ms: number; readonly detail: string }

/** The step that failed; the message says why. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
  readonly step: string
  /** Folder with all files of the story, for inspection. */
  readonly folder: string | undefined

  constructor(step: string, cause: unknown, folder?: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.step = step
    this.folder = folder
  }
}

const stepLimitMs = 120_000

/** Output of each step, and limits of the story. */
type Playing = {
  readonly print: (line: string) => void
  readonly signal?: AbortSignal | undefined
  /** How many times as long as usual a step may take. */
  readonly patience?: number
}

/** Plays steps one after the other, each within a time limit, and tells each at once. */
export class Steps {
  readonly played: PlayedStep[] = []
  readonly #print: (line: string) => void
  readonly #signal: AbortSignal | undefined
  readonly #limitMs: number

  constructor(options: Playing) {
    this.#print = options.print
    this.#signal = options.signal
    this.#limitMs = stepLimitMs * (options.patience ?? 1)
  }

  /** Plays a step and returns the result of `act` to later steps. Throws StepFailed. */
  async play<T extends { readonly detail: string }>(step: string, act: () => Promise<T>): Promise<T> {
    const startedMs = performance.now()
    try {
      const done = await within(act(), this.#limitMs, this.#signal)
      const played = { step, ms: Math.round(performance.now() - startedMs), detail: done.detail }
      this.played.push(played)
      this.#print(`ok      ${step} (${played.ms} ms)`)
      return done
    } catch (error) {
      throw new StepFailed(step, error)
    }
  }
}

/** Ends something that a story has started. */
export type Ending = () => unknown

/** Where a story is played. */
export type Stage = {
  readonly steps: Steps
  readonly folder: string
  readonly atEnd: (ending: Ending) => void
}

/**
 * Plays a story in a temporary folder, and ends all that it started. Throws StepFailed with the step that went wrong; only then
 * the folder stays.
 */
export async function playIn(options: Playing, story: (stage: Stage) => Promise<void>): Promise<PlayedStep[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'))
  const steps = new Steps(options)
  const endings: Ending[] = []
  let keep = false
  try {
    await story({ steps, folder, atEnd: (ending) => endings.push(ending) })
    return steps.played
  } catch (error) {
    keep = !options.signal?.aborted
    throw error instanceof StepFailed ? new StepFailed(error.step, error.cause, keep ? folder : undefined) : error
  } finally {
    for (const end of endings.toReversed()) await end()
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
}

/** The steps as a table, for people. */
export function tableOf(played: readonly PlayedStep[]): string {
  const stepWidth = Math.max(...played.map(({ step }) => step.length))
  const row = (n: string, step: string, ms: string, detail: string) =>
    `${n.padStart(2)}  ${step.padEnd(stepWidth)}  ${ms.padStart(6)}  ${detail}`.trimEnd()
  const rows = played.map(({ step, ms, detail }, i) => row(String(i + 1), step, String(ms), detail))
  return [row('', 'step', 'ms', 'what happened'), ...rows].join('\n')
}
