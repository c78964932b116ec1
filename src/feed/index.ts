export { Feeder, type FeedSeen } from './feeder.ts'
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
  releaseVersion,
  Status,
} from './wire.ts'
