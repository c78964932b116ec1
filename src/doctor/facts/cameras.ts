import { askCameraClock, type StreamProbe } from '../../app/index.ts'
import { type CameraConfig, readSecretFile, SecretFileError } from '../../config/index.ts'
import type { Clock } from '../../platform/index.ts'
import { cleanText, judgeStream, plainWords, ringBytes } from '../../video/index.ts'
import type { StreamSeen } from '../findings/cameras.ts'

type StreamNeeds = {
  readonly ffmpegPath: string
  readonly streams: StreamProbe
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Streams that are opened at the same time: each is an ffmpeg, and decodes nothing. */
const atOnce = 4
const leastSeconds = 3

type Wanted = Pick<StreamSeen, 'id' | 'name' | 'key'> & { readonly camera: CameraConfig; readonly url: string }

/** Opens every stream of the cameras that are switched on, as the gateway does, and measures each for some seconds. */
export async function streamsSeen(cameras: readonly CameraConfig[], needs: StreamNeeds): Promise<StreamSeen[]> {
  const wanted = cameras
    .filter(({ enabled }) => enabled)
    .flatMap((camera): Wanted[] => {
      const { id, name, url, detectUrl } = camera
      const main = { ...{ id, name, camera, url }, key: 'url' as const }
      return detectUrl ? [main, { ...main, url: detectUrl, key: 'detectUrl' }] : [main]
    })
  const seen: StreamSeen[] = []
  const left = wanted.map((one, at) => ({ one, at }))
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      seen[next.at] = await lookAt(next.one, needs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return seen
}

async function lookAt(
  { id, name, key, camera, url }: Wanted,
  { ffmpegPath, streams, clock, signal }: StreamNeeds,
): Promise<StreamSeen> {
  const which = { id, name, key, measured: [], stranger: null }
  const password = passwordOf(camera)
  if (password === undefined) return { ...which, problem: plainWords('password-unreadable') }
  const source = { url, username: camera.username, password }
  const [{ facts, problem }, asked] = await Promise.all([
    streams.probe({ ffmpegPath, source, leastSeconds }, signal),
    askCameraClock({ url, username: null, password: null }, { clock, signal }),
  ])
  const { measured, stranger } = asked
  if (!facts || facts.keyFrames === 0 || problem !== null) {
    return { ...which, problem: plainWords(problem ?? 'no-picture'), stranger: stranger && cleanText(stranger) }
  }
  const offset = measured && { seconds: measured.offsetMs / 1000, from: measured.by }
  const { preRecordSeconds } = camera.motion
  return { ...which, problem: null, measured: judgeStream(facts, offset, { preRecordSeconds, ringBytes }) }
}

/** Null: the camera needs none; undefined: its file cannot be read. */
function passwordOf({ passwordFile }: CameraConfig): string | null | undefined {
  if (passwordFile === null || passwordFile === undefined) return null
  try {
    return readSecretFile(passwordFile)
  } catch (error) {
    if (error instanceof SecretFileError) return undefined
    throw error
  }
}
