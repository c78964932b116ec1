import type { EventKind } from '../../config/index.ts'
import type { Condition } from '../../database/index.ts'

/** Motion, motion by its finder, films of floor events, or all. */
export const detectionTriggers = ['motion', 'pictures', 'camera', 'event', 'all'] as const
export type DetectionTrigger = (typeof detectionTriggers)[number]

const triggerSql: Readonly<Record<Exclude<DetectionTrigger, 'all'>, string>> = {
  motion: 'event_ids IS NULL',
  pictures: 'event_ids IS NULL AND triggered_by IS NULL',
  camera: "triggered_by = 'camera'",
  event: 'event_ids IS NOT NULL',
}

/** Returns the conditions of detections with this finder, in which the analytics of the camera named this kind. */
export function ofTrigger({
  trigger,
  kind,
}: {
  readonly trigger: DetectionTrigger
  readonly kind?: EventKind | undefined
}): Condition[] {
  return [
    ...(trigger === 'all' ? [] : [{ sql: triggerSql[trigger], values: [] }]),
    // Stored as a JSON list of these words.
    ...(kind === undefined ? [] : [{ sql: `instr(kinds, '"${kind}"') > 0`, values: [] }]),
  ]
}
