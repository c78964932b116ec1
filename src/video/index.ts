export { factsOf } from './clips/facts.ts'
export { hasLeftovers } from './clips/leftovers.ts'
export { FrameSplitter, frameSize, framesPerSecond } from './decoding/frames.ts'
export { awakeReasons, decoderStates } from './decoding/wakefulness.ts'
export { eventProblems } from './events/failures.ts'
export { type FfmpegDialect, ffmpegDialect } from './ffmpeg/ffmpeg-dialect.ts'
export type { Codec } from './format/transport-stream.ts'
export { intervalMs, noPicture, type Replayed, type ReplaySpec, replayCells } from './history/cell-replay.ts'
export { type Comparison, compareMotion, matchLate, type RecordedMotion } from './history/what-if.ts'
export type {
  CameraSettings,
  CameraState,
  CameraStatus,
  ClipClosed,
  ClipLost,
  ClipWaits,
  ClosedBy,
  DetectionFacts,
  FilmCovered,
  FilmOrder,
  FromCameras,
  LiveEnded,
  LiveFormat,
  LivePicture,
  MotionFired,
  PicturesMissing,
  RedactionJob,
  SceneChanged,
  SnapshotFailed,
  SnapshotTaken,
  StoredFile,
  ToCameras,
} from './messages.ts'
export type { DetectorSettings } from './motion/detector.ts'
export { cellCount, columns, rows } from './motion/grid.ts'
export { type Impairment, impairments } from './motion/impairment.ts'
export type { MotionArea } from './motion/mask.ts'
export { type SceneState, sceneStates } from './motion/view-watch.ts'
export { onvifClient } from './onvif/client.ts'
export { addressOf, cleanText, deviceOf, type OnvifChannel, type OnvifDevice } from './onvif/devices.ts'
export {
  type OnvifAddress,
  type OnvifCredentials,
  type OnvifNews,
  type OnvifProfile,
  type OnvifTask,
  type Sighting,
  usualPlace,
} from './onvif/messages.ts'
export { type Probed, probeStream } from './probe/probe.ts'
export { type ClockOffset, type Finding, judgeStream, usualPreRecordSeconds } from './probe/verdicts.ts'
export { type PlainWords, type Problem, plainWords } from './problems.ts'
export { redactedFile } from './redaction/redaction.ts'
export { Ring, ringBytes } from './stream/ring.ts'
export { askOptions } from './stream/rtsp-options.ts'
export type { StreamSource } from './stream/source.ts'
export { CameraSet } from './thread/camera-set.ts'
export { LoadStream, makeTestVideo, testVideo } from './thread/load-stream.ts'
export { detectorSettings } from './thread/plan.ts'
