import { sql as raw } from 'kysely'
import { built, change, integer, listings, pick, type ReadTx, type RowOf, type Tx, text } from '../database/index.ts'
import type { Silence } from './selection.ts'
import { sql, tables } from './tables.ts'

export type MessageRow = RowOf<typeof tables.alert_message>
export type NoticeRow = RowOf<typeof tables.alert_notice>
type ChannelRow = RowOf<typeof tables.alert_channel>

const channels = built({}, () => sql.selectFrom('alert_channel').selectAll())
const newChannel = built(tables.alert_channel, (row) => sql.insertInto('alert_channel').values(row))
const considered = built(pick(tables.alert_channel, 'name', 'after_alert_id'), ({ name, after_alert_id }) =>
  sql.updateTable('alert_channel').set({ after_alert_id }).where('name', '=', name),
)
const spoke = built(pick(tables.alert_channel, 'name', 'last_message_at_ms'), ({ name, last_message_at_ms }) =>
  sql.updateTable('alert_channel').set({ last_message_at_ms }).where('name', '=', name),
)
const withoutChannel = built(pick(tables.alert_channel, 'name'), ({ name }) =>
  sql.deleteFrom('alert_channel').where('name', '=', name),
)

export const channelRows = (tx: ReadTx): ChannelRow[] => tx.all(channels)
export const addChannel = (tx: Tx, row: ChannelRow): void => void tx.run(newChannel, row)
export const setConsidered = (tx: Tx, name: string, after_alert_id: number): void =>
  void tx.run(considered, { name, after_alert_id })
export const setSpoke = (tx: Tx, name: string, atMs: number): void =>
  void tx.run(spoke, { name, last_message_at_ms: atMs })
/** Forgets a channel with its notices; its messages stay in the list. */
export const removeChannel = (tx: Tx, name: string): void => void tx.run(withoutChannel, { name })

/** So many notices of one channel and state are looked at in a pass. */
const mostNotices = 1000
const notices = built(pick(tables.alert_notice, 'channel', 'sent'), ({ channel, sent }) =>
  sql
    .selectFrom('alert_notice')
    .selectAll()
    .where('channel', '=', channel)
    .where('sent', '=', sent)
    .orderBy('alert_id')
    .limit(raw.lit(mostNotices)),
)
const newNotice = built(tables.alert_notice, (row) => sql.insertInto('alert_notice').values(row))
const noticeSent = built(pick(tables.alert_notice, 'channel', 'alert_id'), ({ channel, alert_id }) =>
  sql.updateTable('alert_notice').set({ sent: 1 }).where('channel', '=', channel).where('alert_id', '=', alert_id),
)
const withoutNotice = built(pick(tables.alert_notice, 'channel', 'alert_id'), ({ channel, alert_id }) =>
  sql.deleteFrom('alert_notice').where('channel', '=', channel).where('alert_id', '=', alert_id),
)
export const noticesOf = (tx: ReadTx, channel: string, sent: 0 | 1): NoticeRow[] => tx.all(notices, { channel, sent })
export const addNotice = (tx: Tx, row: NoticeRow): void => void tx.run(newNotice, row)
export const markSent = (tx: Tx, channel: string, alert_id: number): void =>
  void tx.run(noticeSent, { channel, alert_id })
export const removeNotice = (tx: Tx, { channel, alert_id }: Pick<NoticeRow, 'channel' | 'alert_id'>): void =>
  void tx.run(withoutNotice, { channel, alert_id })

const pending = built(pick(tables.alert_message, 'channel'), ({ channel }) =>
  sql
    .selectFrom('alert_message')
    .selectAll()
    .where('state', '=', raw.lit('pending'))
    .where('channel', '=', channel)
    .orderBy('id'),
)
const pendingChannels = built({}, () =>
  sql.selectFrom('alert_message').select('channel').distinct().where('state', '=', raw.lit('pending')),
)
const newMessage = built(
  pick(
    tables.alert_message,
    ...(['message_id', 'channel', 'recipient', 'about', 'alert_ids', 'state', 'attempts'] as const),
    ...(['next_attempt_at_ms', 'created_at_ms'] as const),
  ),
  (row) => sql.insertInto('alert_message').values(row),
)
const joined = built(pick(tables.alert_message, 'id', 'message_id', 'alert_ids'), ({ id, ...row }) =>
  sql.updateTable('alert_message').set(row).where('id', '=', id),
)
const attempted = built(
  pick(
    tables.alert_message,
    ...(['id', 'state', 'attempts', 'next_attempt_at_ms', 'last_error', 'settled_at_ms'] as const),
  ),
  ({ id, ...row }) => sql.updateTable('alert_message').set(row).where('id', '=', id),
)
const message = built(pick(tables.alert_message, 'id'), ({ id }) =>
  sql.selectFrom('alert_message').selectAll().where('id', '=', id),
)
const newestOf = built(pick(tables.alert_message, 'channel'), ({ channel }) =>
  sql.selectFrom('alert_message').selectAll().where('channel', '=', channel).orderBy('id', 'desc').limit(raw.lit(50)),
)
const oldOnes = change(`DELETE FROM main.alert_message WHERE id IN
  (SELECT id FROM main.alert_message WHERE state <> 'pending' AND created_at_ms < +? ORDER BY id LIMIT 500)`)
const shiftedMessages = change(
  `UPDATE main.alert_message SET next_attempt_at_ms = max(0, next_attempt_at_ms + ?) WHERE state = 'pending'`,
)
const shiftedNotices = change('UPDATE main.alert_notice SET ready_at_ms = max(0, ready_at_ms + ?) WHERE sent = 0')
const shiftedChannels = change(
  'UPDATE main.alert_channel SET last_message_at_ms = max(0, last_message_at_ms + ?) WHERE last_message_at_ms > 0',
)
export const pendingOf = (tx: ReadTx, channel: string): MessageRow[] => tx.all(pending, { channel })
export const channelsWithPending = (tx: ReadTx): string[] => tx.all(pendingChannels).map(({ channel }) => channel)
export const findMessage = (tx: ReadTx, id: number): MessageRow | undefined => tx.get(message, { id })
export const newestMessages = (tx: ReadTx, channel: string): MessageRow[] => tx.all(newestOf, { channel })
export const addMessage = (
  tx: Tx,
  row: Pick<
    MessageRow,
    'message_id' | 'channel' | 'recipient' | 'about' | 'alert_ids' | 'next_attempt_at_ms' | 'created_at_ms'
  >,
): number => tx.run(newMessage, { ...row, state: 'pending', attempts: 0 }).lastId
/** Puts further alerts into a message that waits. It is another message then, so it gets another id. */
export const joinMessage = (tx: Tx, id: number, message_id: string, alertIds: readonly number[]): void =>
  void tx.run(joined, { id, message_id, alert_ids: JSON.stringify(alertIds) })
export const recordAttempt = (
  tx: Tx,
  row: Pick<MessageRow, 'id' | 'state' | 'attempts' | 'next_attempt_at_ms' | 'last_error' | 'settled_at_ms'>,
): void => void tx.run(attempted, row)
/** Removes settled messages that are older, at most 500. */
export const removeOldMessages = (tx: Tx, beforeMs: number): number => tx.run(oldOnes, [beforeMs]).changes

/** Moves stored times along with a step of the clock. */
export function shiftTimes(tx: Tx, stepMs: number): void {
  for (const one of [shiftedMessages, shiftedNotices, shiftedChannels]) tx.run(one, [stepMs])
}

export const messageListing = listings(
  () => ({ from: 'main.alert_message', key: ['id'], within: [], passing: [] }),
  [[]],
)

type SilenceRow = RowOf<typeof tables.alert_silence>
const silenceRows = built({ untilMs: integer }, ({ untilMs }) =>
  sql.selectFrom('alert_silence').selectAll().where('until_ms', '>', untilMs).orderBy('id', 'desc').limit(raw.lit(200)),
)
const silence = built(pick(tables.alert_silence, 'id'), ({ id }) =>
  sql.selectFrom('alert_silence').selectAll().where('id', '=', id),
)
const newSilence = built(
  pick(tables.alert_silence, 'from_ms', 'until_ms', 'kinds', 'warehouses', 'reason', 'created_at_ms'),
  (row) => sql.insertInto('alert_silence').values(row),
)
const silenceEnd = built(pick(tables.alert_silence, 'id', 'until_ms'), ({ id, until_ms }) =>
  sql.updateTable('alert_silence').set({ until_ms }).where('id', '=', id),
)

const asSilence = (row: SilenceRow): Silence => ({
  id: row.id,
  fromMs: row.from_ms,
  untilMs: row.until_ms,
  kinds: JSON.parse(row.kinds),
  warehouses: JSON.parse(row.warehouses),
  reason: row.reason,
})

/** Returns the silences that end after this time, the newest first, at most 200. */
export const silencesUntil = (tx: ReadTx, untilMs: number): Silence[] => tx.all(silenceRows, { untilMs }).map(asSilence)
export function findSilence(tx: ReadTx, id: number): Silence | undefined {
  const row = tx.get(silence, { id })
  return row && asSilence(row)
}
export const addSilence = (tx: Tx, one: Omit<Silence, 'id'>, nowMs: number): number =>
  tx.run(newSilence, {
    from_ms: one.fromMs,
    until_ms: one.untilMs,
    kinds: JSON.stringify(one.kinds),
    warehouses: JSON.stringify(one.warehouses),
    reason: one.reason,
    created_at_ms: nowMs,
  }).lastId
export const endSilence = (tx: Tx, id: number, until_ms: number): void => void tx.run(silenceEnd, { id, until_ms })

export type SubscriptionRow = RowOf<typeof tables.push_subscription>
const subscriptions = built({}, () => sql.selectFrom('push_subscription').selectAll().orderBy('id'))
const subscription = built(pick(tables.push_subscription, 'id'), ({ id }) =>
  sql.selectFrom('push_subscription').selectAll().where('id', '=', id),
)
const owned = built(pick(tables.push_subscription, 'username', 'instance'), ({ username, instance }) =>
  sql
    .selectFrom('push_subscription')
    .selectAll()
    .where('username', '=', username)
    .where('instance', '=', instance)
    .orderBy('id'),
)
const newSubscription = built(
  pick(
    tables.push_subscription,
    ...(['username', 'instance', 'is_device', 'endpoint_sha256', 'sealed', 'created_at_ms'] as const),
  ),
  (row) => sql.replaceInto('push_subscription').values(row),
)
const withoutSubscription = built(pick(tables.push_subscription, 'id'), ({ id }) =>
  sql.deleteFrom('push_subscription').where('id', '=', id),
)
const withoutOwner = built({ username: text, instance: text }, ({ username, instance }) =>
  sql.deleteFrom('push_subscription').where('username', '=', username).where('instance', '=', instance),
)

export const allSubscriptions = (tx: ReadTx): SubscriptionRow[] => tx.all(subscriptions)
export const findSubscription = (tx: ReadTx, id: number): SubscriptionRow | undefined => tx.get(subscription, { id })
export const subscriptionsOf = (tx: ReadTx, username: string, instance: string): SubscriptionRow[] =>
  tx.all(owned, { username, instance })
/** Stores a subscription; one with the same address is replaced. */
export const putSubscription = (tx: Tx, row: Omit<SubscriptionRow, 'id'>): number => tx.run(newSubscription, row).lastId
export const removeSubscription = (tx: Tx, id: number): void => void tx.run(withoutSubscription, { id })
export const removeSubscriptionsOf = (tx: Tx, username: string, instance: string): number =>
  tx.run(withoutOwner, { username, instance }).changes
