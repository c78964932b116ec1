import type { DetectionFacts } from '../messages.ts'

/** Returns the facts in a message about a detection. */
export function factsOf(message: DetectionFacts): DetectionFacts {
  const { detectionId, cameraId, motionAt, score, sceneChange, trigger, kinds } = message
  const named = { ...(trigger && { trigger }), ...(kinds && { kinds }) }
  return { detectionId, cameraId, motionAt, score, sceneChange, ...named }
}
