/**
 * Messages between the main thread and the cameras thread: plain data. Times named `…At` are milliseconds since the
 * epoch by the wall clock, and are labels; durations are measured on the monotonic clock.
 */

import type { EventKind } from '../config/index.ts'
import type { PreRollProblem } from './clips/pre-roll.ts'
import type { AwakeReason, Wakefulness } from './decoding/wakefulness.ts'
import type { EventsView, RuleMeanings } from './events/rule-book.ts'
import type { Codec } from './format/transport-stream.ts'
import type { Impairment } from './motion/impairment.ts'
import type { Polygon } from './motion/mask.ts'
import type { SceneState } from './motion/view-watch.ts'
import type { PlainWords, Problem } from './problems.ts'
import type { StreamState } from './stream/stream.ts'

export type MotionOptions = {
  readonly sensitivity: number
  readonly cooldownSeconds: number
  readonly preRecordSeconds: number
  readonly postRecordSeconds: number
  /** Polygons of points from 0 to 1; motion inside does not count. */
  readonly masks: readonly Polygon[]
  /** Only motion inside one of these counts; empty: it counts everywhere. */
  readonly zones: readonly Polygon[]
}

/** Settings of a camera, as the thread receives them. */
export type CameraSettings = {
  readonly cameraId: number
  readonly url: string
  /** The stream for detection; null: `url`. */
  readonly detectUrl: string | null
  readonly username: string | null
  /** Read before each connection; no message holds the password. */
  readonly passwordFile: string | null
  /** Whether motion detection runs. Its counters start at 0 each time this becomes true. */
  readonly detecting: boolean
  /** Whether the stream is needed without detection too. */
  readonly streaming: boolean
  /** Continuous video: whether it is recorded now, how long it is kept, and of which stream. */
  readonly history: { readonly isOn: boolean; readonly hours: number; readonly stream: 'main' | 'sub' }
  /** Seconds before an event that its film shows; the ring reaches back as far. 0: no event is filmed. */
  readonly filmSeconds: number
  readonly motion: MotionOptions
  /** The camera's own analytics, beside the pictures or instead of them; absent: they do not count. `url`: null is the usual one. */
  readonly events?: {
    readonly source: 'camera' | 'both'
    readonly url: string | null
    readonly rules: RuleMeanings
  }
}

/** How live pictures reach a viewer: the camera's own stream, or MPEG-1 for browsers that cannot play that. */
export type LiveFormat = 'mpegts' | 'mpeg1'

export type ToCameras =
  /** A camera that is new, or whose settings have changed: all of them, every time. */
  | { readonly type: 'camera'; readonly settings: CameraSettings }
  /** The camera was removed from the config. Open clips are closed. */
  | { readonly type: 'remove'; readonly cameraId: number }
  /** Detection was started through the API: the next attempt is now, also after refused credentials; a new view is accepted. */
  | { readonly type: 'retry'; readonly cameraId: number }
  /** Password files may have changed. A camera that waits with an old password is tried at once. */
  | { readonly type: 'secrets' }
  /** Bytes of the disk that clips leave for the ledger, and history for clips. Sent before the first camera. */
  | { readonly type: 'reserve'; readonly bytes: number; readonly minFreeBytes: number }
  /** Whether the wall clock is right as far as is known. With a wrong one, no file is removed for its age. Sent every minute. */
  | { readonly type: 'clock'; readonly isTrusted: boolean }
  /** How many days the cells of motion detection are kept, and how many bytes. Sent before the first camera. */
  | { readonly type: 'cells'; readonly days: number; readonly mostBytes: number }
  /** Asks for the judged cells of a camera to be written to its files. Answered by `cellsWritten`. */
  | { readonly type: 'cellsWanted'; readonly cameraId: number; readonly ask: number }
  /** A film of an event is wanted. Sent again with a later end when it should show a later event too. */
  | ({ readonly type: 'film' } & FilmOrder)
  /** Bytes of memory for the newest video of all cameras. Sent before the first camera. */
  | { readonly type: 'memory'; readonly bytes: number }
  /** The answer to `idsWanted`: unused detection ids. Those left over are lost with the thread. */
  | { readonly type: 'ids'; readonly ids: readonly number[] }
  /** `clipClosed` or `clipLost` of this detection is in the database; until then it is sent again at each start. */
  | { readonly type: 'recorded'; readonly detectionId: number }
  /**
   * Gives up a clip that waits (`clipWaits`), or whose `clipClosed` the database refuses (`isRefused`); `words` says why. Answered
   * by `clipLost`, unless a clip that waits is being made at this moment, or was reported meanwhile.
   */
  | {
      readonly type: 'giveUpClip'
      readonly facts: DetectionFacts
      readonly words: string
      readonly isRefused: boolean
    }
  /**
   * Gives up a clip that waits, whose facts cannot be read, and which the database does not know either. Answered by `clipRemoved`;
   * not while a file of it cannot be removed.
   */
  | { readonly type: 'removeClip'; readonly detectionId: number; readonly words: string }
  /**
   * Starts live pictures of a camera in one format, from its newest key frame on; null: ends them. Pictures carry the number of the
   * feed, so that late ones of an earlier feed can be distinguished.
   */
  | {
      readonly type: 'live'
      readonly cameraId: number
      readonly format: LiveFormat
      readonly feed: number | null
    }
  /** Asks for the newest picture as PNG. Answered by `snapshotTaken` or `snapshotFailed` with the same number. */
  | { readonly type: 'snapshot'; readonly cameraId: number; readonly ask: number }
  /** Make a redacted copy; answered by `redacted` or `redactionFailed`. A repeat of one that waits changes nothing. */
  | { readonly type: 'redact'; readonly job: RedactionJob }
  /** Ends every stream, closes every clip; `stopped` is the last message. */
  | { readonly type: 'stop' }

/** The film of an event, under a detection id that was given to it when the event was recorded. */
export type FilmOrder = {
  readonly detectionId: number
  readonly cameraId: number
  /** The moment of the event; a clip's motion. */
  readonly momentAt: number
  readonly fromAt: number
  readonly toAt: number
  /** By how many milliseconds the clock was set since the event came, forwards or back; absent: not at all, or it is not known. */
  readonly clockSetMs?: number
}

/** No film is made of an event: a clip of motion shows all of its time. The clip was reported before. */
export type FilmCovered = {
  readonly type: 'filmCovered'
  readonly detectionId: number
  /** The detection whose clip it is. */
  readonly by: number
}

/** A redacted copy to be made of a clip on the disk. */
export type RedactionJob = {
  readonly redactionId: number
  readonly detectionId: number
  /** The clip must have these bytes. */
  readonly originalSha256: string
  /** Polygons of points from 0 to 1; `from` and `to` are seconds from the first picture. */
  readonly regions: readonly {
    readonly polygon: readonly { readonly x: number; readonly y: number }[]
    readonly from: number | null
    readonly to: number | null
  }[]
  /** When in the clip the snapshot is taken. */
  readonly snapshotMs: number
}

export type CameraState = {
  readonly type: 'state'
  readonly cameraId: number
  /** The worse of the camera's two streams. */
  readonly state: StreamState
  /** Null while nothing is known to be wrong. */
  readonly problem: Problem | null
  readonly words: PlainWords | null
  readonly at: number
  /** Milliseconds since the newest picture of the stream that has the state; absent before the first. */
  readonly pictureAgoMs?: number | undefined
}

/**
 * Once a second for each camera that detects or is watched; of one that is only recorded, when something has changed and every
 * 15 s. Also once after its detection was started or stopped.
 */
export type CameraStatus = {
  readonly type: 'status'
  readonly cameraId: number
  /** As in the newest `state`. */
  readonly state?: StreamState | undefined
  /** As in `state`, as of now. */
  readonly pictureAgoMs?: number | undefined
  /** Frames scored since detection was started; goes on through reconnects. */
  readonly frameCount: number
  readonly motionFrames: {
    /** Frames whose score was over the sensitivity. */
    readonly count: number
    /** Percentage of frameCount, 0 to 100, two decimals. */
    readonly percentage: number
    readonly lastScore: number
    readonly maxScore: number
  }
  /** When the newest frame came; null before the first. */
  readonly lastFrameAt: number | null
  /** Frames scored a second, over the last five seconds; 5 is the most. */
  readonly fps: number
  /** Pictures a second of the recorded stream; null before it is known. */
  readonly streamFps: number | null
  /** Processes of the camera's streams beyond the first of each. */
  readonly restarts: number
  /** Frames dropped because scoring was too slow. */
  readonly droppedFrames: number
  /** Changes of light, or of the whole picture, that were no motion. */
  readonly suppressedSceneChanges: number
  /** How long all frames have been identical, bit by bit: the camera is then probably broken. */
  readonly stillSeconds: number
  /** State of the camera's whole picture, and its duration. */
  readonly scene: { readonly state: SceneState; readonly forSeconds: number }
  /** Why motion cannot be found though pictures come, since so long; `why` null: it can be found, since so long. */
  readonly impairment?: { readonly why: Impairment | null; readonly agoMs: number } | undefined
  /** Bytes held in memory. */
  readonly ringBytes: number
  /** Seconds of video in memory that a clip could begin with. */
  readonly heldSeconds: number
  /** Why clips may begin later than they should; null while they do not. */
  readonly preRollProblem: PreRollProblem | null
  /** Whether key frames alone are decoded for motion detection, and why it is every picture; `why` null: nothing moves. */
  readonly decoder?: { readonly state: Wakefulness['kind']; readonly why: AwakeReason | null } | undefined
  /** State of the camera's own analytics; absent while they do not count. */
  readonly events?: EventsView | undefined
  /** Interval of the key frames; null before it is known. It should be below preRecordSeconds. */
  readonly keyFrameSeconds: number | null
}

/** Pictures were left out of a stream that went on: none was taken between these two. They were as long ago as this. */
export type PicturesMissing = {
  readonly type: 'picturesMissing'
  readonly cameraId: number
  readonly fromAgoMs: number
  readonly toAgoMs: number
}

export type MotionFired = {
  readonly type: 'motionFired'
  readonly cameraId: number
  readonly detectionId: number
  /** When the motion began. */
  readonly motionAt: number
  /** The score that was over the sensitivity. */
  readonly score: number
  readonly sceneChange: boolean
  readonly trigger?: 'camera' | undefined
  readonly kinds?: readonly EventKind[] | undefined
  /** False: no clip follows, because of the cooldown. */
  readonly clip: boolean
  /** End of that cooldown; absent when a clip follows. */
  readonly cooldownUntil?: number | undefined
}

/** The lens was covered, turned or blinded while the clip of another detection, `shownIn`, is open. `sceneChange` is true. */
export type SceneChanged = DetectionFacts & { readonly type: 'sceneChanged'; readonly shownIn: DetectionFacts }

/** Facts of a detection besides its clip; stored as `ID.json` beside an unfinished clip. */
export type DetectionFacts = {
  readonly detectionId: number
  readonly cameraId: number
  readonly motionAt: number
  /** Score of the frame that fired; 0 for a camera's analytics. */
  readonly score: number
  readonly sceneChange: boolean
  /** The camera's analytics found it; absent: the pictures showed it. */
  readonly trigger?: 'camera' | undefined
  /** Named by the camera's analytics, up to the end of the clip; absent for nothing. */
  readonly kinds?: readonly EventKind[] | undefined
}

export type StoredFile = {
  /** Name in the folder of the clips. */
  readonly file: string
  readonly sha256: string
  readonly sizeBytes: number
}

/** A complete, readable clip is on disk. */
export type ClipClosed = DetectionFacts &
  StoredFile & {
    readonly type: 'clipClosed'
    /** Times of the first and the last picture that the finished file shows. */
    readonly startedAt: number
    readonly endedAt: number
    /** From the first picture to the motion. */
    readonly preRollSeconds: number
    /** Pre-roll of the settings; null for a clip that was begun by an older gatehouse. */
    readonly askedPreRollSeconds: number | null
    /** From the first picture to the last. A player shows the last one for a little longer. */
    readonly durationSeconds: number
    /** Pictures that the file shows; below, the longest time between two of them. */
    readonly pictures: number
    readonly longestGapSeconds: number
    /** Whether the video is the camera's, bit by bit; else it was encoded again, because browsers do not play it. */
    readonly original: boolean
    readonly width: number
    readonly height: number
    /** The largest score during the clip; null for a clip that was finished after a restart. */
    readonly peakScore: number | null
    /** A picture at the moment of motion, at most 640 wide; null when none could be taken. */
    readonly snapshot: StoredFile | null
    readonly closedBy: ClosedBy
  }

/**
 * Why a clip ends where it ends.
 * - `stream-ended`: also when the pictures ended before the clip should.
 * - `restarted`: the pictures ended because the stream was opened anew with other settings.
 * - `restart`: gatehouse itself ended before the clip did.
 * - `disk-full`, `disk-too-slow`, `disk-failed`: the disk took no more of it.
 */
export type ClosedBy =
  | 'post-roll'
  | 'longest'
  | 'stopped'
  | 'stream-ended'
  | 'restarted'
  | 'restart'
  | 'disk-full'
  | 'disk-too-slow'
  | 'disk-failed'

export type ClipLostReason =
  | 'no-video'
  | 'disk-full'
  | 'disk-too-slow'
  | 'disk-failed'
  | 'unreadable'
  | 'damaged'
  | 'given-up'
  | 'nothing-left'
  | 'nothing-kept'
  | 'clock-set-back'

/** There will be no clip of this detection; `words` says why. */
export type ClipLost = DetectionFacts & {
  readonly type: 'clipLost'
  readonly reason: ClipLostReason
  readonly words: string
  /** When the clip would have ended; absent when the gateway ended before. */
  readonly endedAt?: number | undefined
}

/**
 * The video of a clip is recorded, but the clip is not made yet; its result comes later. The reason is in `words`. Null: it was not
 * tried yet, or waits to be confirmed.
 */
export type ClipWaits = {
  readonly type: 'clipWaits'
  readonly detectionId: number
  readonly words: string | null
  /** Size of its video on the disk. */
  readonly sizeBytes: number
  /** Null: they cannot be read, or were reported before. */
  readonly facts: DetectionFacts | null
  /** Where they cannot be read: when its video was last written (wall clock), as far as the disk says it. */
  readonly writtenAt?: number
}

/** The files of a clip of which nothing was known but its video are gone; `words` are those of the order. */
export type ClipRemoved = { readonly type: 'clipRemoved'; readonly detectionId: number; readonly words: string }

/** A piece of a live feed: whole packets of a transport stream, in a buffer that was handed over. */
export type LivePicture = {
  readonly type: 'livePicture'
  readonly feed: number
  readonly cameraId: number
  /** Codec of the camera's stream, also when the feed is MPEG-1. */
  readonly codec: Codec
  /** Whether a decoder can begin here; it then begins with the program tables. */
  readonly key: boolean
  /** One picture; at the beginning of a feed all pictures from the newest key frame on. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** The feed does not continue: its stream has ended, or the conversion has failed. No more pictures of it follow. */
export type LiveEnded = {
  readonly type: 'liveEnded'
  readonly feed: number
  readonly cameraId: number
  /** `interrupted`: the stream begins anew, or was stopped. `failed`: it cannot be converted. */
  readonly why: 'interrupted' | 'failed'
}

export type SnapshotTaken = {
  readonly type: 'snapshotTaken'
  readonly ask: number
  /** When the picture came from the camera. */
  readonly takenAt: number
  readonly png: Uint8Array<ArrayBuffer>
}

/** `no-picture`: none came in time. `unreadable`: it could not be decoded. */
export type SnapshotFailed = {
  readonly type: 'snapshotFailed'
  readonly ask: number
  readonly why: 'no-picture' | 'unreadable'
}

export type FromCameras =
  | LivePicture
  | LiveEnded
  | SnapshotTaken
  | SnapshotFailed
  /** Answered by `ids`. Without an id, motion that fires waits. */
  | { readonly type: 'idsWanted'; readonly count: number }
  | CameraState
  | CameraStatus
  | PicturesMissing
  | MotionFired
  | SceneChanged
  | ClipClosed
  | ClipLost
  | ClipWaits
  | ClipRemoved
  | FilmCovered
  | { readonly type: 'cellsWritten'; readonly ask: number }
  /** A redacted copy is on disk, with its snapshot. */
  | {
      readonly type: 'redacted'
      readonly redactionId: number
      readonly clip: StoredFile
      readonly snapshot: StoredFile
    }
  /** There will be no copy; `words` gives the reason and the next step. */
  | { readonly type: 'redactionFailed'; readonly redactionId: number; readonly words: string }
  /**
   * Clips of earlier runs have been reported, but for `kept`: these could not be made yet, and are reported when they are.
   * Null: it is not known which ones there are, because their folder could not be read.
   */
  | { readonly type: 'leftoversDone'; readonly count: number; readonly kept: readonly number[] | null }
  | { readonly type: 'stopped' }
