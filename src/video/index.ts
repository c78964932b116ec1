export { CameraSet } from './camera-set.ts'
export { type FfmpegDialect, ffmpegDialect } from './ffmpeg-dialect.ts'
export { FrameSplitter, frameSize } from './frames.ts'
export type {
  CameraSettings,
  CameraState,
  CameraStatus,
  ClipClosed,
  ClipLost,
  DetectionFacts,
  FromCameras,
  MotionFired,
  StoredFile,
  ToCameras,
} from './messages.ts'
export type { Problem } from './problems.ts'
export { Ring } from './ring.ts'
