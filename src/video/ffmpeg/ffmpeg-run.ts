import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { pipeline } from 'node:stream/promises'
import { lowerPriority } from './low-priority.ts'

/** Cause of a failure: the `video` itself, the `disk`, or the `program`, which was not found, could not run, or was ended. */
export type Obstacle = 'video' | 'disk' | 'program'

/** ffmpeg failed; the message is its last output. */
export class CuttingError extends Error {
  override readonly name = 'CuttingError'
  readonly obstacle: Obstacle

  constructor(message: string, { obstacle = 'video' as Obstacle } = {}) {
    super(message)
    this.obstacle = obstacle
  }

  /** Whether ffmpeg read the video and refused it. */
  get isVerdict(): boolean {
    return this.obstacle === 'video'
  }
}

const shortestLimitMs = 120_000
/** ffmpeg is killed when it takes longer than `shortestLimitMs` and this for each byte of its input: 0.25 MB/s. */
const limitMsPerByte = 0.004
const keptChars = 8000
/** A shell, a wrapper or the loader of programs ends with these when it cannot start ffmpeg; ffmpeg with 255 after a signal. */
const unstartedCodes: readonly (number | null)[] = [null, 126, 127, 255]
/** Messages of ffmpeg when the cause is not the video. */
const diskTrouble =
  /No space left on device|Disk quota exceeded|Input\/output error|Read-only file system|Permission denied/
const programTrouble =
  /Cannot allocate memory|Resource temporarily unavailable|Too many open files|error while loading shared/

/** Returns how long cutting so many bytes may take: a card that other writers keep busy is slow, and so is encoding. */
export function cutLimitMs(sizeBytes: number): number {
  return shortestLimitMs + Math.round(sizeBytes * limitMsPerByte)
}

/** Output of ffmpeg: stderr and stdout. */
type Output = { readonly said: string; readonly wrote: string }

export type RunOptions = {
  /** Standard input of ffmpeg: an open file, or bytes. */
  readonly input?: number | AsyncIterable<Buffer>
  readonly limitMs?: number
}

/** Runs ffmpeg at a low priority. Rejects with CuttingError when it fails. */
export function runFfmpeg(
  ffmpeg: string,
  args: readonly string[],
  { input, limitMs = shortestLimitMs }: RunOptions = {},
) {
  return new Promise<Output>((resolve, reject) => {
    let said = ''
    const wrote: string[] = []
    const child = started(ffmpeg, ['-nostdin', '-hide_banner', ...args], {
      stdio: [typeof input === 'object' ? 'pipe' : (input ?? 'ignore'), 'pipe', 'pipe'],
      // In a separate group: a signal to the gateway's group, such as Ctrl-C, must not end a cut.
      detached: true,
    })
    endAfter(child, limitMs)
    lowerPriority(child.pid)
    // A broken pipe is ignored: ffmpeg says on stderr why it stopped reading.
    if (child.stdin && typeof input === 'object') pipeline(input, child.stdin).catch(() => {})
    child.stdout?.setEncoding('utf8').on('data', (text: string) => wrote.push(text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said.slice(0, keptChars)}${text}`.slice(0, 2 * keptChars)
    })
    child.on('error', (error) => reject(new CuttingError(error.message, { obstacle: 'program' })))
    child.on('close', (code, signal) => {
      if (code === 0) resolve({ said, wrote: wrote.join('') })
      else reject(failure(code, signal, said))
    })
  })
}

/** Starts a program. Throws CuttingError where Node throws at once, as it does without memory. */
function started(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options)
  } catch (error) {
    throw new CuttingError(String(error), { obstacle: 'program' })
  }
}

/** Kills a process that takes longer. Node's own `timeout` goes on when a program cannot be started, and keeps the thread alive. */
export function endAfter(child: ChildProcess, limitMs: number): void {
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
  child.once('close', () => clearTimeout(limit))
}

function failure(code: number | null, signal: NodeJS.Signals | null, said: string): CuttingError {
  const message = `ffmpeg ended with ${signal ?? code}: ${said.trim().slice(-1000)}`
  if (diskTrouble.test(said)) return new CuttingError(message, { obstacle: 'disk' })
  const isProgram = unstartedCodes.includes(code) || programTrouble.test(said)
  return new CuttingError(message, { obstacle: isProgram ? 'program' : 'video' })
}
