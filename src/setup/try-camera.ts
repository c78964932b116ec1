import { askCameraClock, streamProbe } from '../app/index.ts'
import { locateFfmpeg } from '../platform/ffmpeg.ts'
import { systemClock } from '../platform/index.ts'
import {
  type Finding,
  judgeStream,
  plainWords,
  ringBytes,
  type StreamSource,
  usualPreRecordSeconds,
} from '../video/index.ts'

const leastSeconds = 2

/** Problems of a camera that is not connected yet, or still starts. */
const silence: readonly unknown[] = ['unreachable', 'name-unknown', 'busy']

/**
 * `isSilent`: nothing answers, so nothing is known of address and password. `changes`: what should be changed in the camera.
 */
type Tried =
  | { readonly problem: string; readonly isSilent: boolean }
  | { readonly shows: string; readonly changes: readonly Finding[] }

/**
 * Opens a stream as the gateway of `dataDir` does. Resolves with the reason why there are no pictures, or with a description of the
 * stream.
 */
export async function tryCamera(
  source: StreamSource,
  { ffmpegPath, dataDir }: { readonly ffmpegPath: string | null; readonly dataDir: string },
): Promise<Tried> {
  const { path } = locateFfmpeg({ configured: ffmpegPath })
  const streams = streamProbe(dataDir)
  const { signal } = new AbortController()
  const [{ facts, problem }, { measured }] = await Promise.all([
    streams.probe({ ffmpegPath: path, source, leastSeconds }, signal),
    askCameraClock(source, { clock: systemClock, signal }),
  ])
  await streams.end()
  if (!facts || facts.keyFrames === 0 || problem !== null) {
    const { what, hint } = plainWords(problem ?? 'no-picture')
    return { problem: `${what} ${hint}`, isSilent: silence.includes(problem) }
  }
  const { size, codec } = facts
  const clock = measured && ({ seconds: measured.offsetMs / 1000, from: measured.by } as const)
  const findings = judgeStream(facts, clock, { preRecordSeconds: usualPreRecordSeconds, ringBytes })
  return {
    shows: `${size ? `${size.width} x ${size.height}` : 'pictures'}, ${codec}`,
    changes: findings.filter(({ verdict }) => verdict === 'change'),
  }
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
