import { locateFfmpeg } from '../platform/ffmpeg.ts'
import type { Clock, Owner } from '../platform/index.ts'
import { ffmpegDialect, plainWords, probeStream, type StreamSource } from '../video/index.ts'

const leastSeconds = 2

/** Problems of a camera that is not connected yet, or still starts. */
const silence: readonly unknown[] = ['unreachable', 'name-unknown', 'busy']

/**
 * Opens a stream as the gateway does, with ffmpeg as the user `as`. Resolves with the reason why there are no pictures, or with a description of the stream. With
 * `isSilent` nothing answers, so nothing is known of address and password.
 */
export async function tryCamera(
  source: StreamSource,
  {
    ffmpegPath,
    clock,
    as,
  }: { readonly ffmpegPath: string | null; readonly clock: Clock; readonly as?: Owner | undefined },
): Promise<{ readonly problem: string; readonly isSilent: boolean } | { readonly shows: string }> {
  const { path } = locateFfmpeg({ configured: ffmpegPath })
  const ffmpeg = { path, dialect: await ffmpegDialect(path), as }
  const signal = new AbortController().signal
  const { facts, problem } = await probeStream({ ffmpeg, source, clock, leastSeconds, signal })
  if (!facts || facts.keyFrames === 0 || problem !== null) {
    const { what, hint } = plainWords(problem ?? 'no-picture')
    return { problem: `${what} ${hint}`, isSilent: silence.includes(problem) }
  }
  const { size, codec } = facts
  return { shows: `${size ? `${size.width} x ${size.height}` : 'pictures'}, ${codec}` }
}

/** Says what is wrong with the address of a stream; undefined: nothing. */
export function addressProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^rtsps?:$/.test(parsed.protocol) || parsed.hostname === '') {
    return 'the address of a stream begins with rtsp:// or rtsps://, such as rtsp://10.0.0.21:554/main'
  }
  if (parsed.username === '' && parsed.password === '') return undefined
  return 'leave user name and password out of the address; they are asked for, or given as --camera-username and --camera-password-file'
}
