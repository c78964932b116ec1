export { detectorSettings } from './camera-plan.ts'
export { CameraSet } from './camera-set.ts'
export { intervalMs, noPicture, type Replayed, type ReplaySpec, replayCells } from './cell-replay.ts'
export type { DetectorSettings } from './detector.ts'
export { type FfmpegDialect, ffmpegDialect } from './ffmpeg-dialect.ts'
export { FrameSplitter, frameSize, framesPerSecond } from './frames.ts'
export { cellCount, columns, rows } from './grid.ts'
export { type Impairment, impairments } from './impairment.ts'
export { hasLeftovers } from './leftovers.ts'
export { LoadStream, makeTestVideo, testVideo } from './load-stream.ts'
export type { MotionArea } from './mask.ts'
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
export { onvifClient } from './onvif/client.ts'
export { addressOf, cleanText, deviceOf, type OnvifChannel, type OnvifDevice } from './onvif/devices.ts'
export type { OnvifAddress, OnvifCredentials, OnvifNews, OnvifProfile, OnvifTask, Sighting } from './onvif/messages.ts'
export { type PlainWords, type Problem, plainWords } from './problems.ts'
export { redactedFile } from './redaction.ts'
export { Ring, ringBytes } from './ring.ts'
export { askOptions } from './rtsp-options.ts'
export { type Probed, probeStream } from './stream-probe.ts'
export type { StreamSource } from './stream-source.ts'
export { type ClockOffset, type Finding, judgeStream } from './stream-verdicts.ts'
export type { Codec } from './transport-stream.ts'
export { type SceneState, sceneStates } from './view-watch.ts'
export { type Comparison, compareMotion, matchLate, type RecordedMotion } from './what-if.ts'
