import type { ReadTx, Tx } from '../database/index.ts'
import { type AlertOut, alertsAfter, findAlert, newestAlertId } from '../webhooks/index.ts'
import { type Channel, isSilenced, type Place, type Silence, selects } from './selection.ts'
import * as store from './store.ts'

/** Time for which the first alert of a message waits for others: a switch that fails takes a hundred cameras with it. */
const gatherMs = 10_000
/** Shortest time between two messages of a channel. */
const gapMs = 60_000
/** A sent alert whose end never comes is forgotten after this. */
const forgottenMs = 30 * 86_400_000

export type Recipient = { readonly recipient: string; readonly alertIds: readonly number[] }

export type PlanNeeds = {
  readonly channels: () => readonly Channel[]
  readonly placeOf: (tx: ReadTx, alert: Pick<AlertOut, 'kind' | 'subject'>) => Place
  /** Returns who gets a message about these alerts, each with those that he or she may see. */
  readonly recipientsOf: (tx: ReadTx, channel: Channel, alerts: readonly AlertOut[]) => readonly Recipient[]
}

type ChannelPlan = {
  readonly name: string
  readonly upTo: number
  readonly notices: readonly store.NoticeRow[]
  readonly dropped: readonly store.NoticeRow[]
  readonly raised: readonly AlertOut[]
  readonly resolved: readonly AlertOut[]
  readonly messages: readonly (Recipient & { readonly about: 'raised' | 'resolved' })[]
}

export type Plan = {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly channels: readonly ChannelPlan[]
}

export const isEmpty = ({ added, removed, channels }: Plan): boolean =>
  added.length + removed.length + channels.length === 0

/** Decides which alerts each channel takes up, drops and reports now. Reads only. */
export function planOf(tx: ReadTx, needs: PlanNeeds, nowMs: number): Plan {
  const channels = needs.channels()
  const rows = new Map(store.channelRows(tx).map((row) => [row.name, row]))
  const silences = store.silencesUntil(tx, nowMs)
  return {
    added: channels.filter(({ name }) => !rows.has(name)).map(({ name }) => name),
    removed: [...rows.keys()].filter((name) => !channels.some((one) => one.name === name)),
    channels: channels.flatMap((channel) => {
      const row = rows.get(channel.name)
      const plan = row && channelPlan(tx, needs, { channel, row, silences, nowMs })
      return plan && hasWork(plan, row.after_alert_id) ? [plan] : []
    }),
  }
}

const hasWork = ({ upTo, notices, dropped, raised, resolved }: ChannelPlan, before: number): boolean =>
  upTo > before || notices.length + dropped.length + raised.length + resolved.length > 0

type Now = {
  readonly channel: Channel
  readonly row: { readonly after_alert_id: number; readonly last_message_at_ms: number }
  readonly silences: readonly Silence[]
  readonly nowMs: number
}

function channelPlan(tx: ReadTx, needs: PlanNeeds, now: Now): ChannelPlan {
  const { channel, row, nowMs } = now
  const { name } = channel
  const fresh = alertsAfter(tx, row.after_alert_id)
  const notices = fresh
    .filter((alert) => selects(channel, alert, needs.placeOf(tx, alert)))
    .map((alert) => ({
      ...{ channel: name, alert_id: alert.id, sent: 0 },
      ready_at_ms: Math.min(Date.parse(alert.createdAt), nowMs) + (channel.escalateAfter ?? 0),
    }))
  const waiting = withAlerts(tx, store.noticesOf(tx, name, 0))
  const sent = withAlerts(tx, store.noticesOf(tx, name, 1))
  const isOpen = ({ alert }: Noticed) =>
    alert !== undefined && alert.acknowledgedAt === null && alert.resolvedAt === null
  const isForgotten = ({ alert }: Noticed) => !alert || Date.parse(alert.createdAt) < nowMs - forgottenMs
  const sinceMs = nowMs - row.last_message_at_ms
  // Below 0: the clock was wrong.
  const maySpeak = sinceMs < 0 || sinceMs >= (channel.digest ?? gapMs)
  const raised = maySpeak ? due(tx, needs, waiting.filter(isOpen), now) : []
  const resolved = maySpeak ? sent.flatMap(({ alert }) => (alert && alert.resolvedAt !== null ? [alert] : [])) : []
  return {
    ...{ name, notices, raised, resolved },
    upTo: fresh.at(-1)?.id ?? row.after_alert_id,
    dropped: [...waiting.filter((one) => !isOpen(one)), ...sent.filter(isForgotten)].map(({ notice }) => notice),
    messages: [
      ...messages(tx, needs, channel, 'raised', raised),
      ...messages(tx, needs, channel, 'resolved', resolved),
    ],
  }
}

type Noticed = { readonly notice: store.NoticeRow; readonly alert: AlertOut | undefined }

const withAlerts = (tx: ReadTx, notices: readonly store.NoticeRow[]): Noticed[] =>
  notices.map((notice) => ({ notice, alert: findAlert(tx, notice.alert_id) }))

/** Returns the alerts that a message takes now; none while the first of them still waits for others. */
function due(tx: ReadTx, needs: PlanNeeds, open: readonly Noticed[], { channel, silences, nowMs }: Now): AlertOut[] {
  const ready = open.filter(({ notice, alert }) => {
    if (!alert || isEarly(notice.ready_at_ms, channel, nowMs)) return false
    return !isSilenced(silences, alert.kind, needs.placeOf(tx, alert).warehouseId, nowMs)
  })
  const firstMs = Math.min(...ready.map(({ notice }) => notice.ready_at_ms))
  if (ready.length === 0 || isWithin(nowMs - firstMs, channel.digest ?? gatherMs)) return []
  return ready.flatMap(({ alert }) => alert ?? [])
}

const isWithin = (ms: number, limitMs: number) => ms >= 0 && ms < limitMs

/** A time that lies further ahead than the channel waits is of a clock that was wrong. */
const isEarly = (readyMs: number, { escalateAfter }: Channel, nowMs: number) =>
  readyMs > nowMs && readyMs - nowMs <= (escalateAfter ?? 0)

const messages = (
  tx: ReadTx,
  needs: PlanNeeds,
  channel: Channel,
  about: 'raised' | 'resolved',
  alerts: readonly AlertOut[],
) => (alerts.length === 0 ? [] : needs.recipientsOf(tx, channel, alerts).map((one) => ({ ...one, about })))

type ApplyNeeds = {
  readonly makeId: () => string
  readonly nowMs: number
  readonly isUnderWay: (id: number) => boolean
}

/** Writes a plan. Messages and the notices that they report are in one commit, so a kill repeats and loses none. */
export function apply(tx: Tx, plan: Plan, needs: ApplyNeeds): void {
  const { nowMs } = needs
  // A new channel reports what comes from now on: else its first message would have the alerts of years.
  for (const name of plan.added)
    store.addChannel(tx, { name, after_alert_id: newestAlertId(tx), last_message_at_ms: 0 })
  for (const name of plan.removed) store.removeChannel(tx, name)
  for (const channel of plan.channels) {
    const { name, upTo, notices, dropped, raised, resolved } = channel
    store.setConsidered(tx, name, upTo)
    for (const one of notices) store.addNotice(tx, one)
    for (const one of dropped) store.removeNotice(tx, one)
    for (const { id } of raised) store.markSent(tx, name, id)
    for (const { id } of resolved) store.removeNotice(tx, { channel: name, alert_id: id })
    if (channel.messages.length > 0) store.setSpoke(tx, name, nowMs)
    for (const message of channel.messages) put(tx, name, message, needs)
  }
}

/** Adds a message, or its alerts to one that waits for another attempt: a server that comes back gets one message, not a hundred. */
function put(
  tx: Tx,
  channel: string,
  { recipient, about, alertIds }: ChannelPlan['messages'][number],
  { makeId, nowMs, isUnderWay }: ApplyNeeds,
): void {
  const waiting = store
    .pendingOf(tx, channel)
    .find((row) => row.recipient === recipient && row.about === about && !isUnderWay(row.id))
  if (waiting) {
    const before: number[] = JSON.parse(waiting.alert_ids)
    store.joinMessage(tx, waiting.id, makeId(), [...new Set([...before, ...alertIds])])
    return
  }
  store.addMessage(tx, {
    ...{ message_id: makeId(), channel, recipient, about, alert_ids: JSON.stringify(alertIds) },
    ...{ next_attempt_at_ms: 0, created_at_ms: nowMs },
  })
}
