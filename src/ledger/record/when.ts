import { AppError } from '../../errors/index.ts'

/**
 * Limits of the difference between a client's time and the gateway's, and their results. Source: the decision table of this room's
 * README, "time".
 */
const futureToleranceMs = 5 * 60 * 1000
const lateAfterMs = 5 * 60 * 1000
const noticeableMs = 1000

export type TimeClaim = {
  /** The body's timestamp. */
  readonly timestampMs: number | undefined
  /** X-Device-Time: the device's clock when it sent. */
  readonly deviceTimeMs: number | undefined
}

export type DecidedTime = {
  readonly timestampMs: number
  readonly deviceTimestampMs: number | null
  readonly clockOffsetMs: number | null
  readonly timeQuality: 'synced' | 'corrected' | 'unsynced'
  readonly isAhead: boolean
  readonly isLate: boolean
}

/**
 * Returns when an event happened. Pure.
 * @param newestMs newest timestamp of the slot and of the asset: an event without a time comes after them
 * @param trusted whether the gateway's clock is; while it is not, nothing is refused for its time
 * @param maxAgeMs `ledger.maxAge`; null takes events of any age
 */
export function decideTime(
  claim: TimeClaim,
  nowMs: number,
  newestMs: number,
  trusted: boolean,
  maxAgeMs: number | null,
): DecidedTime {
  const offsetMs = claim.deviceTimeMs === undefined ? null : nowMs - claim.deviceTimeMs
  const base = { deviceTimestampMs: claim.timestampMs ?? null, clockOffsetMs: offsetMs }
  const untrusted = trusted ? undefined : ('unsynced' as const)
  if (claim.timestampMs === undefined) {
    const timestampMs = Math.max(nowMs, newestMs + 1)
    return { ...base, timestampMs, timeQuality: untrusted ?? 'synced', isAhead: false, isLate: false }
  }
  const corrected = offsetMs !== null && Math.abs(offsetMs) > noticeableMs
  const timestampMs = Math.max(0, corrected ? claim.timestampMs + offsetMs : claim.timestampMs)
  const aheadMs = timestampMs - nowMs
  if (trusted) refuseTime(aheadMs, maxAgeMs)
  return {
    ...base,
    timestampMs,
    timeQuality: untrusted ?? (corrected ? 'corrected' : 'synced'),
    isAhead: aheadMs > noticeableMs,
    isLate: -aheadMs > lateAfterMs,
  }
}

function refuseTime(aheadMs: number, maxAgeMs: number | null): void {
  if (aheadMs > futureToleranceMs) {
    throw new AppError('TIMESTAMP_IN_FUTURE', 'The event lies in the future', {
      fields: [
        {
          path: 'timestamp',
          message: `is ${Math.round(aheadMs / 1000)} s ahead of the gateway, at most 300 s are taken`,
        },
      ],
    })
  }
  if (maxAgeMs !== null && -aheadMs > maxAgeMs) throw AppError.field('timestamp', 'is older than ledger.maxAge allows')
}

/** Returns a time that the gateway itself decided. */
export function settledTime(timestampMs: number, nowMs: number, trusted: boolean): DecidedTime {
  const claimed = decideTime({ timestampMs, deviceTimeMs: undefined }, nowMs, 0, trusted, null)
  return { ...claimed, deviceTimestampMs: null }
}
