/** Judges a film as a camera does whose decoder sleeps while nothing moves. */
import type { Frame } from '../../../src/video/decoding/frames.ts'
import { PictureJudge } from '../../../src/video/motion/picture-judge.ts'
import type { FrameScore } from '../../../src/video/motion/score.ts'
import { frameMs } from './films.ts'

const settings = { sensitivity: 0.3, cooldownMs: 5000, preRecordMs: 5000, postRecordMs: 10_000 }
/** Films are short: the camera has been connected for so long before them. */
const connectedMs = 25_000

/**
 * Returns the scores of a film with a key frame each so many pictures: one for each picture, undefined where it was not decoded. Beside
 * them, how many were decoded.
 */
export function sleepThrough(pictures: readonly Uint8Array[], groupFrames: number) {
  const judge = new PictureJudge({ masks: [], zones: [] })
  judge.reconnect(-connectedMs)
  const scores: (FrameScore | undefined)[] = pictures.map(() => undefined)
  let decoded = 0
  const push = (i: number, isFrame: boolean, isKey: boolean) => {
    const takenMs = i * frameMs
    const frame: Frame = { pixels: pictures[i] ?? new Uint8Array(), takenMs, arrivedMs: takenMs }
    decoded += 1
    const { judged, command } = judge.push({ ...frame, isFrame, keyPtsMs: isKey ? takenMs : undefined }, null, settings)
    if (judged) scores[i] = judged.score
    return command
  }
  for (let i = 0; i < pictures.length; i += 1) {
    const isKey = i % groupFrames === 0
    if (judge.wakefulness.kind !== 'asleep') push(i, true, isKey)
    else if (isKey) {
      const command = push(i, false, true)
      if (command?.kind === 'wake') for (let j = command.afterPtsMs / frameMs + 1; j <= i; j += 1) push(j, true, false)
    }
  }
  return { scores, decoded }
}
