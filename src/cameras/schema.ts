import { z } from '@hono/zod-openapi'
import { motionRanges } from '../config/index.ts'
import { optional, rowId, timeOut } from '../http/index.ts'

const within = (name: keyof typeof motionRanges) => z.number().min(motionRanges[name].min).max(motionRanges[name].max)

export const MotionAction = z
  .object({
    cctvId: rowId(),
    action: z.enum(['start', 'stop']),
    sensitivity: optional(within('sensitivity')).openapi({ description: 'score from which a picture is motion' }),
    cooldownSeconds: optional(within('cooldownSeconds')),
    preRecordSeconds: optional(within('preRecordSeconds')),
    postRecordSeconds: optional(within('postRecordSeconds')),
    uploadToStorage: optional(z.boolean()),
  })
  .openapi('MotionAction')
export type MotionAction = z.output<typeof MotionAction>

const Settings = z
  .object({
    sensitivity: z.number(),
    cooldownSeconds: z.number(),
    preRecordSeconds: z.number(),
    postRecordSeconds: z.number(),
    uploadToStorage: z.boolean(),
  })
  .openapi('MotionSettings')
export type MotionSettings = z.infer<typeof Settings>

export const motionResultShape = {
  cctvId: rowId(),
  action: z.enum(['start', 'stop']),
  running: z.boolean(),
  changed: z.boolean().openapi({ description: 'false: it was so already' }),
  settings: Settings,
}

const State = z.enum(['off', 'offline', 'connecting', 'live', 'stalled', 'backing-off', 'refused'])

export const motionStatusShape = {
  cctvId: rowId(),
  running: z.boolean(),
  state: State,
  problem: z.string().nullable().openapi({ description: "what is wrong, in the admin's words" }),
  startedAt: timeOut().nullable(),
  frameCount: z.int(),
  motionFrames: z.object({
    count: z.int(),
    percentage: z.number(),
    lastScore: z.number(),
    maxScore: z.number(),
  }),
  lastFrameAt: timeOut().nullable(),
  fps: z.number(),
  restarts: z.int(),
  settings: Settings,
  pendingUploads: z.int(),
}

export const Camera = z
  .object({
    id: rowId(),
    name: z.string(),
    warehouseId: rowId(),
    zoneId: rowId().nullable(),
    slots: z.array(z.string()),
    enabled: z.boolean(),
    state: State,
    problem: z.string().nullable(),
    online: z.boolean(),
    lastFrameAt: timeOut().nullable(),
    owner: z.string().nullable(),
    motion: z.object({ running: z.boolean(), settings: Settings }),
  })
  .openapi('Camera')

export const detectionShape = {
  id: rowId(),
  eventId: z.string().openapi({ format: 'uuid' }),
  seq: z.int().openapi({ description: 'number of its leaf in the log' }),
  cctvId: rowId(),
  timestamp: timeOut(),
  duration: z.number().nullable().openapi({ description: 'seconds from the first picture of the clip to its last' }),
  score: z.number(),
  sceneChange: z.boolean(),
  clipStatus: z.enum(['recorded', 'cooldown', 'lost']),
  reason: z.string().nullable().openapi({ description: 'why there is no clip, or what the clip does not show' }),
  clipUrls: z.object({
    playback: z.string().nullable(),
    storage: z.string().nullable(),
    snapshot: z.string().nullable(),
  }),
  clipSha256: z.string().nullable(),
  snapshotSha256: z.string().nullable(),
  evidenceHash: z.string().openapi({ description: "SHA-256 of the log leaf's bytes" }),
  anchor: z.enum(['hashed']).openapi({ description: 'hashed: in the log of this box, and nowhere else yet' }),
  uploadStatus: z.enum(['not_configured', 'pending']),
  clipStart: timeOut().nullable().openapi({ description: 'time of the first picture that the file shows' }),
  clipEnd: timeOut().nullable().openapi({ description: 'time of the last picture that the file shows' }),
  preRollSeconds: z.number().nullable().openapi({ description: 'from the first picture to the motion, as measured' }),
  askedPreRollSeconds: z.number().nullable().openapi({ description: 'what the settings asked for' }),
  pictures: z.int().nullable().openapi({ description: 'how many the file shows' }),
  longestGapSeconds: z
    .number()
    .nullable()
    .openapi({ description: 'the longest time between two pictures of the file' }),
  original: z.boolean().nullable().openapi({
    description: "true: the video is the camera's, bit by bit; false: it was encoded again",
  }),
  closedBy: z.enum(['post-roll', 'longest', 'stopped', 'stream-ended', 'restart']).nullable().openapi({
    description: 'why the clip ends where it ends; stream-ended: the pictures ended before the clip should',
  }),
}
export const DetectionEvent = z.object(detectionShape).openapi('DetectionEvent')
export type DetectionEvent = z.infer<typeof DetectionEvent>
