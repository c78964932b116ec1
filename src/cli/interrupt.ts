import { ExitError } from '../errors/index.ts'

/** Runs until it is done or SIGINT or SIGTERM comes; then everything that was started is ended first. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  let code = 0
  const interrupt = (signal: NodeJS.Signals) => {
    code = signal === 'SIGINT' ? 130 : 143
    controller.abort()
  }
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  try {
    await work(controller.signal)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
  if (controller.signal.aborted) throw new ExitError(code, '')
}
