import { z } from '@hono/zod-openapi'
import { eventKinds, motionRanges } from '../config/index.ts'
import { MediaRemovalOut, optional, rowId, timeOut } from '../http/index.ts'
import { EvidenceState } from '../log/index.ts'
import { awakeReasons, decoderStates, eventProblems, impairments, sceneStates } from '../video/index.ts'

const within = (name: keyof typeof motionRanges) => z.number().min(motionRanges[name].min).max(motionRanges[name].max)

export const MotionAction = z
  .object({
    cctvId: rowId(),
    action: z.enum(['start', 'stop']),
    sensitivity: optional(within('sensitivity')).openapi({ description: 'lowest score that counts as motion' }),
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
  running: z.boolean().openapi({ description: 'whether detection is wanted from now on' }),
  reason: z.string().nullable().openapi({
    description:
      'why the camera does not watch, in words: it is switched off in the config, detection was stopped, or it is outside the recording hours; null: it is to watch. A fault of its stream is in its state.',
  }),
  changed: z.boolean().openapi({ description: 'false: the camera was already in this state' }),
  settings: Settings,
}

const State = z.enum(['off', 'offline', 'connecting', 'live', 'stalled', 'backing-off', 'refused'])

const Scene = z
  .object({
    state: z.enum(sceneStates).openapi({
      description:
        'light: the light has just changed; covered: the picture has lost its detail (a cover, dirt, darkness); turned: it shows another place; still: all pictures are the same. A start action accepts the picture as it is.',
    }),
    forSeconds: z.int(),
  })
  .nullable()
  .openapi({ description: 'state of the whole picture; null while no pictures are scored' })

const ImpairmentOut = z
  .object({
    why: z.enum(impairments).openapi({
      description:
        'few_pictures: the stream has fewer than 3 pictures a second; too_busy: gatehouse looked at fewer than 3 of each second; still, covered, turned: see scene; no_events: the analytics of the camera alone find motion, and their events do not come, see analytics',
    }),
    forSeconds: z.int(),
  })
  .nullable()
  .openapi({ description: 'why motion cannot be found though pictures come; null while it can, and without pictures' })

const DecoderOut = z
  .object({
    state: z.enum(decoderStates).openapi({
      description:
        'asleep: nothing moves, and key frames alone are decoded, at most 1.2 s apart; waking: the pictures in memory are being decoded; awake: all pictures are decoded, and five a second are judged',
    }),
    why: z.enum(awakeReasons).nullable().openapi({
      description:
        'why it is not asleep. learning: the connection is new; motion: something has moved within the last 10 s; view: the lens is covered, or the camera is turned; key_frames_rare: they are over 1.2 s apart; codec: ffmpeg alone reads it, or it is Motion JPEG; reordered: the stream has B-frames',
    }),
  })
  .nullable()
  .openapi({ description: 'which pictures of the stream are decoded for motion detection; null while none are' })

const ProblemCode = z.string().nullable().openapi({
  description:
    'which problem that is, such as unreachable, refused or frozen, so that a program can tell it in its own words; null: none, or only words are known',
})

export const motionStatusShape = {
  cctvId: rowId(),
  running: z.boolean(),
  state: State,
  problem: z.string().nullable().openapi({ description: 'the fault, in words for the admin' }),
  problemCode: ProblemCode,
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
  scene: Scene,
  impairment: ImpairmentOut,
  decoder: DecoderOut,
  restarts: z.int(),
  settings: Settings,
  pendingUploads: z.int().openapi({ description: 'clips that are not on the storage server yet, parked ones too' }),
}

/** A measured offset of a camera's clock. */
export const CameraClock = z
  .object({
    offsetMs: z
      .int()
      .openapi({ description: "the camera's own clock minus the gateway's; positive: the camera is ahead" }),
    measuredAt: timeOut().openapi({ description: "by the gateway's clock" }),
    uncertaintyMs: z.int().openapi({ description: 'the offset may be wrong by this much either way' }),
    by: z.enum(['rtsp', 'onvif']).openapi({ description: 'how the camera was asked: the Date of RTSP, or ONVIF' }),
  })
  .openapi('CameraClock')
export type CameraClock = z.infer<typeof CameraClock>

const Analytics = z
  .object({
    source: z.enum(['camera', 'both']).openapi({ description: 'motion.source of the config' }),
    listening: z
      .boolean()
      .openapi({ description: 'whether the gateway has a subscription to the events of the camera' }),
    problem: z.string().nullable().openapi({
      description: 'why no events come, or a remark about them, in words for the admin; null: all is well',
    }),
    problemCode: z.enum(eventProblems).nullable().openapi({ description: 'why no events come; null: they do' }),
    rules: z
      .array(
        z.object({
          rule: z.string().openapi({ description: 'its name in analytics.rules' }),
          kind: z.enum([...eventKinds, 'ignore']),
          isMapped: z
            .boolean()
            .openapi({ description: 'false: analytics.rules does not name it, and kind is the default' }),
        }),
      )
      .openapi({ description: 'the rules of the camera that have reported since detection started' }),
  })
  .nullable()
  .openapi({ description: "the camera's own analytics; null: motion.source is pictures, or detection does not run" })

const polygonsOut = z.array(z.array(z.object({ x: z.number(), y: z.number() })))

export const Camera = z
  .object({
    id: rowId(),
    name: z.string(),
    purpose: z.string().nullable().openapi({ description: 'its purpose, as the config says' }),
    warehouseId: rowId().nullable().openapi({
      description:
        'null for a caller who may see the camera and not its warehouse; then zoneId is null and slots is empty, too',
    }),
    zoneId: rowId().nullable(),
    slots: z.array(z.string()),
    enabled: z.boolean(),
    state: State,
    problem: z.string().nullable(),
    problemCode: ProblemCode,
    online: z.boolean(),
    scene: Scene,
    impairment: ImpairmentOut,
    analytics: Analytics,
    lastFrameAt: timeOut().nullable(),
    owner: z.string().nullable(),
    cameraClock: CameraClock.nullable().openapi({
      description: "the newest measurement of the camera's own clock, asked once an hour; null: it has never answered",
    }),
    motion: z.object({
      running: z.boolean(),
      settings: Settings,
      area: z.object({ masks: polygonsOut, zones: polygonsOut }).nullable().openapi({
        description:
          'where motion does not count (masks), and outside of which it does not count (zones), as the config says; null: the caller may not control the camera',
      }),
    }),
  })
  .openapi('Camera')

export const triggerWords = "motion: the pictures showed motion · camera: the camera's own analytics found something"
export const kindWords =
  'the most particular kind that the analytics of the camera named; line: something crossed a line or entered a field that is drawn in the camera; null: they named nothing'

export const detectionShape = {
  id: rowId(),
  eventId: z.string().openapi({ format: 'uuid' }),
  seq: z.int().openapi({ description: 'index of its leaf in the log' }),
  cctvId: rowId(),
  timestamp: timeOut(),
  duration: z.number().nullable().openapi({ description: 'seconds from the first to the last picture of the clip' }),
  score: z.number(),
  sceneChange: z.boolean().openapi({
    description: 'true: the lens was covered, turned or blinded, or the whole picture went on changing',
  }),
  trigger: z.enum(['motion', 'camera', 'event']).openapi({
    description: `${triggerWords} · event: a film that was made of an event in a slot of the camera; score 0`,
  }),
  kind: z.enum(eventKinds).nullable().openapi({ description: kindWords }),
  kinds: z.array(z.enum(eventKinds)).openapi({
    description: 'all that the analytics of the camera named until the end of the clip, the most particular first',
  }),
  clipStatus: z.enum(['recorded', 'cooldown', 'lost', 'expired']).openapi({
    description:
      'recorded · cooldown: no separate clip, while one is open or so soon after it · lost · expired: removed by retention',
  }),
  reason: z.string().nullable().openapi({ description: 'why there is no clip, or what is missing in it' }),
  removal: z.union([MediaRemovalOut, z.null()]).openapi({
    description: 'when and why retention removed the clip; null: it did not',
  }),
  clipUrls: z.object({
    playback: z.string().nullable(),
    storage: z.string().nullable().openapi({ description: 'on the storage server; null: not uploaded yet' }),
    snapshot: z.string().nullable(),
  }),
  clipSha256: z.string().nullable(),
  snapshotSha256: z.string().nullable(),
  evidenceHash: z.string().openapi({ description: 'SHA-256 of the bytes of the leaf' }),
  anchor: z.enum(['hashed']).openapi({ description: 'hashed: only in the log of this gateway' }),
  uploadStatus: z.enum(['not_configured', 'pending', 'uploading', 'uploaded', 'parked']).openapi({
    description:
      'state of the copy on the storage server. uploaded: it was compared. parked: not tried again until a person asks for it',
  }),
  clipStart: timeOut().nullable().openapi({ description: 'time of the first picture in the file' }),
  clipEnd: timeOut().nullable().openapi({ description: 'time of the last picture in the file' }),
  preRollSeconds: z
    .number()
    .nullable()
    .openapi({ description: 'seconds from the first picture to the motion, as measured' }),
  askedPreRollSeconds: z.number().nullable().openapi({ description: 'the configured seconds before the motion' }),
  pictures: z.int().nullable().openapi({ description: 'number of pictures in the file' }),
  longestGapSeconds: z
    .number()
    .nullable()
    .openapi({ description: 'the longest time between two pictures in the file' }),
  original: z.boolean().nullable().openapi({
    description: "true: the camera's own video, unchanged; false: encoded again",
  }),
  closedBy: z
    .enum([
      'post-roll',
      'longest',
      'stopped',
      'stream-ended',
      'restarted',
      'restart',
      'disk-full',
      'disk-too-slow',
      'disk-failed',
    ])
    .nullable()
    .openapi({
      description:
        'why the clip ends there. Before its planned end, with what there was: stream-ended; restarted: the stream was opened anew with other settings, as the gap beside it says; restart: gatehouse itself ended; the three of the disk',
    }),
  cameraClock: CameraClock.nullable().openapi({
    description:
      "the measurement of the camera's own clock that counts for this detection: the newest before it, else the first after it, within a day; null: there is none, or the gateway's clock was set in between",
  }),
}
export const DetectionEvent = z.object(detectionShape).openapi('DetectionEvent')
export type DetectionEvent = z.infer<typeof DetectionEvent>

/** A detection of a list. */
export const ListedDetection = z.object({ ...detectionShape, evidence: EvidenceState }).openapi('ListedDetection')
export type ListedDetection = z.infer<typeof ListedDetection>
