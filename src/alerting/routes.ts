import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Admission } from '../auth/index.ts'
import { reasonOf } from '../health/index.ts'
import {
  type Api,
  type AppEnv,
  historyQuery,
  numericPath,
  operation,
  originOf,
  pageLanguage,
  pageOfAll,
  printedPagePolicy,
} from '../http/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { acknowledgePath, type Links } from './links.ts'
import type { Overview } from './overview.ts'
import { acknowledgementPage, type PageState, pageStyle } from './page.ts'
import {
  ChannelList,
  ChannelTest,
  channelsPath,
  messagesPath,
  PushState,
  pushPath,
  SentList,
  SilenceIn,
  SilenceList,
  SilenceResource,
  SubscriptionIn,
  silencesPath,
} from './schema.ts'
import type { Silences } from './silences.ts'
import type { Subscriptions } from './subscriptions.ts'

const tag = 'Alerts'
const byId = z.object({ id: z.string() })

const listChannels = operation({
  id: 'listAlertChannels',
  method: 'get',
  path: channelsPath,
  access: 'alerts:read',
  tag,
  summary: 'Ways by which alerts reach people',
  description: 'Lists `alerts.channels` of the config, with the state of their messages.',
  input: {},
  success: { 200: { description: 'The channels', schema: ChannelList } },
})
const testChannel = operation({
  id: 'testAlertChannel',
  method: 'post',
  path: `${channelsPath}/{name}/test`,
  access: 'alerts:manage',
  tag,
  summary: 'Send a test to each recipient of a channel',
  description:
    'The answer comes after the attempts, within 30 s. A failed test is not tried again. Web push goes to the browsers of the caller.',
  input: { params: z.object({ name: z.string().openapi({ description: 'Name of the channel' }) }) },
  success: { 200: { description: 'The outcome for each recipient', schema: ChannelTest } },
  errors: ['INVALID_TRANSITION', 'STORAGE_FULL'],
})
const listMessages = operation({
  id: 'listAlertMessages',
  method: 'get',
  path: messagesPath,
  access: 'alerts:read',
  tag,
  summary: 'Messages about alerts: what was sent to whom',
  description: 'Messages are listed for 30 days.',
  input: { query: z.object(historyQuery) },
  success: { 200: { description: 'Newest first', schema: SentList } },
})
const listSilences = operation({
  id: 'listAlertSilences',
  method: 'get',
  path: silencesPath,
  access: 'alerts:read',
  tag,
  summary: 'Present and future silences for planned work',
  description: 'Silences that are over are in the audit trail.',
  input: {},
  success: { 200: { description: 'Newest first', schema: SilenceList } },
})
const addSilence = operation({
  id: 'addAlertSilence',
  method: 'post',
  path: silencesPath,
  access: 'alerts:manage',
  tag,
  summary: 'Hold messages about alerts back for planned work',
  description: 'Alerts are listed as usual. One that is still open when the silence ends is reported then.',
  input: { body: SilenceIn },
  success: { 201: { description: 'The silence', schema: SilenceResource } },
})
const endSilence = operation({
  id: 'endAlertSilence',
  method: 'post',
  path: `${silencesPath}/{id}/end`,
  access: 'alerts:manage',
  tag,
  summary: 'End a silence now',
  description: 'Alerts that are still open are reported now.',
  input: { params: byId },
  success: { 200: { description: 'The silence', schema: SilenceResource } },
  errors: ['STORAGE_FULL'],
})
const whoSees = ['cameras:read', 'alerts:read'] as const
const getPush = operation({
  id: 'getPushSubscriptions',
  method: 'get',
  path: pushPath,
  access: whoSees,
  tag,
  summary: 'Key for web push, and the own subscriptions',
  description: 'The console subscribes with this key.',
  input: {},
  success: { 200: { description: 'The state', schema: PushState } },
})
const addPush = operation({
  id: 'addPushSubscription',
  method: 'post',
  path: pushPath,
  access: whoSees,
  tag,
  summary: 'Get messages about alerts in this browser',
  description:
    'Its owner gets alerts of cameras that he or she sees, and other alerts with the permission alerts:read. On a handheld the device subscribes: a person who signed in by badge is refused.',
  input: { body: SubscriptionIn },
  success: { 200: { description: 'The state', schema: PushState } },
  errors: ['INVALID_TRANSITION'],
})
const removePush = operation({
  id: 'removePushSubscription',
  method: 'delete',
  path: `${pushPath}/{id}`,
  access: whoSees,
  tag,
  summary: 'Get no more messages in one browser',
  description: 'The subscription is removed; the others of its owner stay.',
  input: { params: byId },
  success: { 200: { description: 'The state', schema: PushState } },
  errors: ['STORAGE_FULL'],
})

export type AlertingParts = {
  readonly overview: Overview
  readonly silences: Silences
  readonly subscriptions: Subscriptions
  readonly links: Links
  readonly alerts: Webhooks['alerts']
  readonly admission: Pick<Admission, 'anybody'>
}

/** Adds the routes below /api, and the page that acknowledges an alert by a link. */
export function alertingRoutes(api: Api, parts: AlertingParts): void {
  const { overview, silences, subscriptions } = parts
  const by = (c: Context<AppEnv>) => ({ ...originOf(c), caller: c.get('caller') })
  api.openapi(listChannels, (c) => c.json(overview.channels(), 200))
  api.openapi(testChannel, async (c) => c.json(await overview.test(c.req.valid('param').name, by(c)), 200))
  api.openapi(listMessages, async (c) => c.json(await overview.messages(c.req.valid('query'), c.req.raw.signal), 200))
  api.openapi(listSilences, (c) => c.json(pageOfAll(silences.list(), {}), 200))
  api.openapi(addSilence, async (c) => c.json(await silences.add(c.req.valid('json'), by(c)), 201))
  api.openapi(endSilence, async (c) => c.json(await silences.end(numericPath(c.req.valid('param').id), by(c)), 200))
  api.openapi(getPush, (c) => c.json(subscriptions.of(c.get('caller')), 200))
  api.openapi(addPush, async (c) => c.json(await subscriptions.add(c.req.valid('json'), by(c)), 200))
  api.openapi(removePush, async (c) =>
    c.json(await subscriptions.remove(numericPath(c.req.valid('param').id), by(c)), 200),
  )
  addPage(api, parts)
}

/** Outside of /api: who holds the link has no sign-in. A GET changes nothing. */
function addPage(api: Api, { links, alerts, admission }: AlertingParts): void {
  const openAlert = (c: Context<AppEnv>) => {
    admission.anybody('console', c.get('address'))
    const claim = links.read(c.req.query('signed') ?? '')
    const alert = claim && alerts.find(claim.alertId)
    return claim && alert?.acknowledgedAt === null ? { claim, alert } : undefined
  }
  api.get(acknowledgePath, (c) => {
    const found = openAlert(c)
    if (!found) return sendPage(c, { kind: 'gone' })
    const { kind, createdAt: at } = found.alert
    const signed = encodeURIComponent(c.req.query('signed') ?? '')
    return sendPage(c, { kind: 'ask', reason: reasonOf(kind), at, action: `${acknowledgePath}?signed=${signed}` })
  })
  api.post(acknowledgePath, async (c) => {
    const found = openAlert(c)
    if (!found) return sendPage(c, { kind: 'gone' })
    const { alertId, channel } = found.claim
    await alerts.acknowledge(alertId, {
      requestId: c.get('requestId'),
      address: c.get('address'),
      mode: 'link',
      channel,
    })
    return sendPage(c, { kind: 'done' })
  })
}

function sendPage(c: Context<AppEnv>, state: PageState) {
  const language = pageLanguage(c)
  c.header('Content-Security-Policy', printedPagePolicy(pageStyle, "'self'"))
  c.header('Cache-Control', 'no-store')
  c.header('Referrer-Policy', 'no-referrer')
  c.header('Content-Language', language)
  c.header('Vary', 'Accept-Language')
  return c.html(acknowledgementPage(state, language), state.kind === 'gone' ? 410 : 200)
}
