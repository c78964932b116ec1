import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ExitError } from '../errors/index.ts'
import { isBundled } from '../platform/bundle.ts'
import { daemonUser, sandboxed, systemClock, unitText } from '../platform/index.ts'
import { ffmpegDialect, type Probed, probeStream, type StreamSource } from '../video/index.ts'

/** A stream to be opened and measured. */
export type WantedStream = {
  readonly ffmpegPath: string
  readonly source: StreamSource
  readonly leastSeconds: number
}

export type StreamProbe = {
  /** Opens a stream as the daemon does and measures it. Throws ExitError when the sandbox cannot be started. */
  probe(wanted: WantedStream, signal: AbortSignal): Promise<Probed>
  /** Resolves when no process is left. */
  end(): Promise<void>
}

/** One line each way between a command of root and its sandboxed process. */
export type ProbeQuestion = { readonly id: number; readonly wanted: WantedStream }
export type ProbeReply = { readonly id: number; readonly probed: Probed }

/** Opens a stream in this process. */
export async function probeHere(wanted: WantedStream, signal: AbortSignal): Promise<Probed> {
  const { ffmpegPath: path, source, leastSeconds } = wanted
  return probeStream({
    ffmpeg: { path, dialect: await ffmpegDialect(path) },
    source,
    clock: systemClock,
    leastSeconds,
    signal,
  })
}

/**
 * Returns a probe of streams for a command. ffmpeg reads bytes of cameras: a command of root starts a process for it at once, as the
 * daemon's user and within the limits of the daemon's unit, and may give its own rights up then.
 */
export function streamProbe(dataDir: string): StreamProbe {
  const owner = daemonUser(dataDir)
  if (!owner) return { probe: probeHere, end: async () => {} }
  const program = isBundled ? [process.execPath] : [process.execPath, ...process.execArgv, process.argv[1] ?? '']
  const [command = '', ...args] = sandboxed(owner, unitText(), [...program, 'camera', 'measure'])
  return new SandboxedProbe(spawn(command, args, { stdio: 'pipe' }))
}

class SandboxedProbe implements StreamProbe {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>
  readonly #open = new Map<number, PromiseWithResolvers<Probed>>()
  #said = ''
  #isOver = false
  #lastId = 0

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    const over = (why: string) => {
      this.#isOver = true
      for (const { reject } of this.#open.values()) reject(this.#failure(why))
      this.#open.clear()
    }
    this.#closed = once(child, 'close').catch(() => {})
    child.on('error', ({ message }) => over(message))
    child.on('close', () => over(this.#said))
    child.stdin.on('error', () => {})
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-500)
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, probed }: ProbeReply = JSON.parse(line)
      this.#open.get(id)?.resolve(probed)
      this.#open.delete(id)
    })
  }

  probe(wanted: WantedStream, signal: AbortSignal): Promise<Probed> {
    if (this.#isOver) return Promise.reject(this.#failure(this.#said))
    const id = ++this.#lastId
    const reply = Promise.withResolvers<Probed>()
    this.#open.set(id, reply)
    signal.addEventListener('abort', () => this.#child.stdin.end(), { once: true })
    this.#child.stdin.write(`${JSON.stringify({ id, wanted } satisfies ProbeQuestion)}\n`)
    return reply.promise
  }

  async end(): Promise<void> {
    this.#child.stdin.end()
    await this.#closed
  }

  #failure(why: string): ExitError {
    return new ExitError(1, `ffmpeg cannot be started in its sandbox: ${why.trim() || 'it ended'}`)
  }
}
