export type { FfmpegDialect } from './ffmpeg-dialect.ts'
export { ffmpegDialect } from './ffmpeg-dialect.ts'
export { type Frame, FrameQueue, FrameSplitter, frameSize, framesPerSecond } from './frames.ts'
export type {
  CameraSettings,
  CameraState,
  CameraStatus,
  ClipClosed,
  ClipLost,
  ClipLostReason,
  DetectionFacts,
  FromCameras,
  MotionFired,
  MotionOptions,
  StoredFile,
  ToCameras,
} from './messages.ts'
export { type PlainWords, type Problem, plainWords } from './problems.ts'
export { type Cut, Ring, type RingListener } from './ring.ts'
export { Stream, type StreamOptions, type StreamPlan, type StreamState, type StreamView } from './stream.ts'
export type { StreamSource } from './stream-source.ts'
export { type Codec, payloadOf, type Unit, UnitSplitter } from './transport-stream.ts'
