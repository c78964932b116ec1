import { z } from '@hono/zod-openapi'
import { alertKindChoices, severities } from '../config/index.ts'
import { listOf, optional, optionalTime, resource, rowId, text, time, timeOut } from '../http/index.ts'

export const channelsPath = '/api/alert-channels'
export const messagesPath = '/api/alert-messages'
export const silencesPath = '/api/alert-silences'
export const pushPath = '/api/push-subscriptions'

const Channel = z
  .object({
    name: z.string(),
    hasWebPush: z.boolean(),
    recipients: z.array(z.string()).openapi({
      description:
        'e-mail addresses, owners of subscriptions, or the origin of the address, because its path may be a secret',
    }),
    severities: z.array(z.enum(severities)).openapi({ description: 'empty: all' }),
    kinds: z.array(z.string()).openapi({ description: 'empty: all' }),
    warehouses: z.array(z.int()).openapi({ description: 'empty: all' }),
    hours: z.array(z.string()).openapi({ description: 'empty: always' }),
    digestMs: z.int().nullable(),
    escalateAfterMs: z.int().nullable(),
    waiting: z.int().openapi({ description: 'alerts that wait for a message, 1000 at most' }),
    pending: z.int().openapi({ description: 'messages that were not sent yet' }),
    lastSentAt: timeOut().nullable(),
    lastError: z.string().nullable().openapi({ description: 'of the newest message that was not sent' }),
  })
  .openapi('AlertChannel')
export type ChannelOut = z.input<typeof Channel>
export const ChannelList = listOf(Channel).openapi('AlertChannelList')

export const ChannelTest = resource({
  results: z.array(z.object({ recipient: z.string(), sent: z.boolean(), error: z.string().nullable() })),
}).openapi('AlertChannelTest')

const Sent = z
  .object({
    id: z.int(),
    messageId: z.string().openapi({ description: 'Receivers know a repeat by it' }),
    channel: z.string(),
    recipient: z.string(),
    about: z.enum(['raised', 'resolved', 'test']),
    alertIds: z.array(z.int()),
    kinds: z.array(z.string()).openapi({ description: 'kinds of these alerts' }),
    status: z.enum(['pending', 'sent', 'failed']),
    attempts: z.int(),
    nextAttemptAt: timeOut().nullable(),
    lastError: z.string().nullable(),
    createdAt: timeOut(),
    settledAt: timeOut().nullable().openapi({ description: 'When it was sent or given up' }),
  })
  .openapi('AlertMessage')
export type SentOut = z.input<typeof Sent>
export const SentList = listOf(Sent).openapi('AlertMessageList')

export const SilenceIn = z
  .object({
    from: optionalTime().openapi({ description: 'absent: now' }),
    until: time(),
    kinds: optional(z.array(z.enum(alertKindChoices)).max(100)).openapi({
      description: 'such as camera.offline, or camera.* for all of a group; empty: all',
    }),
    warehouses: optional(z.array(rowId()).max(100)).openapi({ description: 'empty: all' }),
    reason: text(500),
  })
  .openapi('AlertSilenceIn')
export type SilenceIn = z.output<typeof SilenceIn>

const silenceShape = {
  id: z.int(),
  from: timeOut(),
  until: timeOut(),
  kinds: z.array(z.string()),
  warehouses: z.array(z.int()),
  reason: z.string(),
  isActive: z.boolean(),
}
export const SilenceItem = z.object(silenceShape).openapi('AlertSilenceItem')
export type SilenceOut = z.input<typeof SilenceItem>
export const SilenceList = listOf(SilenceItem).openapi('AlertSilenceList')
export const SilenceResource = resource(silenceShape).openapi('AlertSilence')

const base64url = (bytes: number, expected: string) =>
  z.string().regex(new RegExp(`^[\\w-]{${Math.ceil((bytes * 4) / 3)}}=*$`), expected)

export const SubscriptionIn = z
  .object({
    endpoint: z
      .url({ protocol: /^https$/ })
      .max(2048)
      .openapi({ description: 'of PushSubscription.toJSON()' }),
    keys: z.object({
      p256dh: base64url(65, 'expected 65 bytes as base64url'),
      auth: base64url(16, 'expected 16 bytes as base64url'),
    }),
  })
  .openapi('PushSubscriptionIn')
export type SubscriptionIn = z.output<typeof SubscriptionIn>

export const PushState = resource({
  publicKey: z.string().nullable().openapi({
    description: 'applicationServerKey for PushManager.subscribe(); null: no channel has webPush',
  }),
  subscriptions: z.array(z.object({ id: z.int(), createdAt: timeOut() })),
}).openapi('PushState')
export type PushState = z.input<typeof PushState>
