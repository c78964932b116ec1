import type { Heat } from '../health/index.ts'
import type { EventType } from '../journal/index.ts'
import type {
  ApplianceImage,
  Clock,
  ClockSyncNeeds,
  LogFormat,
  Logger,
  RandomBytes,
  ServiceManager,
} from '../platform/index.ts'

/** Capabilities from outside: time, randomness, the log output, and hooks for tests. */
export type Outside = {
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  /** Format of the threads' log output. Default: json. */
  readonly logFormat?: LogFormat
  readonly version: string
  /** The config file; undefined for the embedded defaults. A backup takes it along. */
  readonly configFile?: string | undefined
  /** systemd, when it started this process. */
  readonly manager?: ServiceManager | undefined
  /** Called when a notification is not as documented; it is sent all the same. Default: logs it. */
  readonly onMismatch?: (type: EventType, problem: string) => void
  /** Whether notifications are written. Default: from the first endpoint on. */
  readonly isOwed?: () => boolean
  /** Asks for the heat of the box. Default: that of this machine. */
  readonly heat?: () => Promise<Heat>
  /** Reads the system image of the box. Default: that of this machine. */
  readonly image?: () => ApplianceImage | undefined
  /** Where the time services of the system are found, and how they are asked. Default: those of this machine. */
  readonly timeServices?: Pick<ClockSyncNeeds, 'timesyncFolder' | 'ask'>
}
