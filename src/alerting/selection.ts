import { type Config, meansKind } from '../config/index.ts'
import { isWithinHours, parseWeeklyHours } from '../platform/index.ts'
import type { AlertOut } from '../webhooks/index.ts'

export type Channel = Config['alerts']['channels'][number]

/** Where an alert belongs. An alert of the box itself belongs to `site.warehouseId`. */
export type Place = {
  readonly warehouseId: number
  readonly timezone: string
  /** The camera that the alert is about; null: the box or something around it. */
  readonly cameraId: number | null
}

/** Says whether a channel reports an alert. Ends of troubles are reported with the alert that they end. Pure. */
export function selects(
  channel: Channel,
  alert: Pick<AlertOut, 'kind' | 'severity' | 'createdAt'>,
  place: Place,
): boolean {
  if (alert.severity === 'info') return false
  if (channel.severities.length > 0 && !channel.severities.includes(alert.severity)) return false
  if (!meansKind(channel.kinds, alert.kind)) return false
  if (channel.warehouses.length > 0 && !channel.warehouses.includes(place.warehouseId)) return false
  const hours = channel.hours.flatMap((text) => parseWeeklyHours(text) ?? [])
  return hours.length === 0 || isWithinHours(hours, place.timezone, Date.parse(alert.createdAt))
}

/**
 * Says whether a message to recipients without an account must leave out the text of an alert, which names a camera. Only a channel
 * that names the warehouse may name its cameras.
 */
export const isNameless = ({ warehouses }: Channel, { cameraId, warehouseId }: Place): boolean =>
  cameraId !== null && !warehouses.includes(warehouseId)

export type Silence = {
  readonly id: number
  readonly fromMs: number
  readonly untilMs: number
  readonly kinds: readonly string[]
  readonly warehouses: readonly number[]
  readonly reason: string
}

/** Says whether one of the silences holds an alert back at a moment. Pure. */
export const isSilenced = (silences: readonly Silence[], kind: string, warehouseId: number, atMs: number): boolean =>
  silences.some(
    (one) =>
      one.fromMs <= atMs &&
      atMs < one.untilMs &&
      meansKind(one.kinds, kind) &&
      (one.warehouses.length === 0 || one.warehouses.includes(warehouseId)),
  )
