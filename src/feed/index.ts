export { Feeder } from './feeder.ts'
export { isNewerRelease, releaseVersion } from './release.ts'
export type { FeedSeen } from './state.ts'
export type { FeedFinding } from './verdict.ts'
export {
  authorityPath,
  EnrolAnswer,
  EnrolBody,
  enrolPath,
  FeedAnswer,
  FeedBody,
  FeedGap,
  Fleet,
  feedPath,
  largestFeedBytes,
  longestPauseMs,
  mostAlerts,
  Status,
} from './wire.ts'
