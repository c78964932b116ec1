import { z } from '@hono/zod-openapi'
import { NewSession } from '../../console/index.ts'
import { Bundle } from '../../evidence/index.ts'
import {
  authorityPath,
  EnrolAnswer,
  EnrolBody,
  enrolPath,
  FeedAnswer,
  FeedBody,
  FeedGap,
  feedPath,
  longestPauseMs,
} from '../../feed/index.ts'
import { historyQuery, operation, queryInteger } from '../../http/index.ts'
import { mostForks } from '../ask/forks.ts'
import { siteKinds } from '../ask/site-filter.ts'
import {
  AlertsAnswer,
  CheckpointsAnswer,
  FloorAnswer,
  ForksAnswer,
  HealthAnswer,
  RecallAnswer,
  SearchAnswer,
  SessionAnswer,
  SitesAnswer,
} from './answers.ts'

/** The routes of the head office, for its description. Paths with `{…}` as OpenAPI writes them. */

const csvToo = ['application/json', 'text/csv']
const format = z.enum(['json', 'csv']).default('json')
const logId = z.uuid()
const text = z.string()

// These overlook what they cannot read, which OpenAPI has no word for.
const fed = FeedBody.extend({
  status: z
    .looseObject({})
    .optional()
    .openapi({ description: 'output of `gatehouse status --json`; unknown parts are left out' }),
})
const taken = FeedAnswer.extend({
  offer: z.object({ version: text }).optional().openapi({ description: 'a version that this site may take' }),
  pauseMs: z.number().int().min(0).max(longestPauseMs).optional().openapi({
    description: 'so long new leaves are asked to wait for more, in milliseconds; absent while feeds do not queue',
  }),
})

const asked = { tag: 'Asking', method: 'get', access: 'whms:read' } as const

const asking = [
  operation({
    ...asked,
    id: 'search',
    path: '/api/hub/search',
    summary: 'At which site a barcode or SSCC is, and its moves',
    description: 'CSV has its moves: the newest 1,000, the oldest first.',
    input: { query: z.object({ code: z.string().min(1).max(256), format }) },
    success: { 200: { description: 'Its places and moves', schema: SearchAnswer, mediaType: csvToo } },
  }),
  operation({
    ...asked,
    ...{
      id: 'recall',
      path: '/api/hub/recall',
      summary: 'Every pallet of an item, a lot or both, and where it is now',
    },
    description:
      'Send `gtin`, `lot` or both. JSON has 10,000 pallets at most, CSV all of them. One that has left is listed with the site that it left last; one that sites know as of two items is listed for each. Sites that are not up to date are in `behind`; CSV has a row with the state `not_up_to_date` for each, before the pallets.',
    input: {
      query: z.object({
        gtin: z.string().max(14).optional(),
        lot: z.string().min(1).max(90).optional(),
        format,
        cursor: z.string().max(2048).optional(),
      }),
    },
    success: { 200: { description: 'The pallets', schema: RecallAnswer, mediaType: csvToo } },
  }),
  operation({
    ...asked,
    id: 'listSites',
    path: '/api/hub/sites',
    summary: 'Sites with lag, health, version, alerts and drift',
    description:
      'All that the caller may see, or those of a filter: `q` is a part of name, id or version, `show=trouble` has those with any of `problems`. CSV has a column for each fact, among them `offerState` and `offerWaits` (`yes` or empty).',
    input: {
      query: z.object({
        q: z.string().max(128).optional(),
        show: z.enum(siteKinds).default('all'),
        region: z.string().max(128).optional(),
        format,
      }),
    },
    success: { 200: { description: 'The sites', schema: SitesAnswer, mediaType: csvToo } },
  }),
  operation({
    ...asked,
    id: 'getFloor',
    path: '/api/hub/sites/{siteId}/slots',
    summary: 'The floor of a site, now or at a time',
    input: {
      params: z.object({ siteId: text }),
      query: z.object({ at: z.iso.datetime({ offset: true }).optional(), format }),
    },
    success: { 200: { description: 'Its slots', schema: FloorAnswer, mediaType: csvToo } },
  }),
  operation({
    ...asked,
    id: 'listAlerts',
    path: '/api/hub/alerts',
    summary: 'Alerts, open ones first, of each the newest first',
    description: 'JSON has 500 alerts at most, CSV all of them.',
    input: { query: z.object({ cursor: z.string().max(256).optional(), format }) },
    success: { 200: { description: 'The alerts', schema: AlertsAnswer, mediaType: csvToo } },
  }),
  operation({
    ...asked,
    id: 'listCheckpoints',
    path: '/api/hub/logs/{logId}/checkpoints',
    summary: 'Signed checkpoints of a log that are kept here, the newest first',
    description:
      'The newest one, the last of each hour, and each that the stored leaves cannot replace. For the next page send the smallest size of this one as `before`.',
    input: {
      params: z.object({ logId }),
      query: z.object({ limit: historyQuery.limit, before: queryInteger({ min: 0 }).optional() }),
    },
    success: { 200: { description: 'One page', schema: CheckpointsAnswer } },
  }),
  operation({
    tag: 'Asking',
    method: 'get',
    access: 'evidence:read',
    id: 'listForks',
    path: '/api/hub/logs/{logId}/forks',
    summary: 'Where a log has shown two histories, with both sides',
    description:
      'Both sides are as they came: what was stored before, and what was sent. Anyone can check the signed checkpoints of both with the keys of the log.',
    input: {
      params: z.object({ logId }),
      query: z.object({
        limit: queryInteger({ min: 1, max: mostForks, clamp: true, unlessSent: mostForks }).optional(),
        cursor: z.string().max(128).optional(),
      }),
    },
    success: { 200: { description: 'One page', schema: ForksAnswer } },
  }),
  operation({
    tag: 'Asking',
    method: 'get',
    access: 'evidence:read',
    id: 'getEntry',
    path: '/api/hub/logs/{logId}/entries/{seq}',
    summary: 'A leaf of a log with its proof',
    description: '`seq` counts from 1, as the leaf itself does. `gatehouse ledger verify FILE` checks the answer.',
    input: { params: z.object({ logId, seq: z.coerce.number().int().min(1) }) },
    success: { 200: { description: 'A gatehouse-proof/1', schema: Bundle } },
  }),
  operation({
    tag: 'Asking',
    method: 'post',
    access: 'alerts:manage',
    id: 'closeAlert',
    path: '/api/hub/alerts/{logId}/{id}/close',
    summary: 'Close a handled alert',
    input: { params: z.object({ logId, id: text }) },
    success: { 204: { description: 'It is closed' } },
  }),
]

const gateways = [
  operation({
    tag: 'Gateways',
    method: 'get',
    access: 'public',
    id: 'getAuthority',
    path: authorityPath,
    summary: 'The certificate authority whose fingerprint is in a code',
    input: {},
    success: { 200: { description: 'PEM', schema: text, mediaType: 'application/x-pem-file' } },
  }),
  operation({
    tag: 'Gateways',
    method: 'post',
    access: 'public',
    id: 'enrol',
    path: enrolPath,
    summary: 'Turn a code into a token',
    input: { body: EnrolBody },
    success: { 201: { description: 'The token of the gateway', schema: EnrolAnswer } },
    errors: ['ENROLMENT_REFUSED', 'LOG_TAKEN'],
  }),
  {
    ...operation({
      tag: 'Gateways',
      method: 'post',
      access: 'public',
      id: 'feed',
      path: feedPath('{logId}'),
      summary: 'Take leaves of a log in, under a checkpoint',
      description: 'With Content-Encoding: gzip. Answered after the commit; the same again changes nothing.',
      input: { params: z.object({ logId }), body: fed },
      success: { 200: { description: 'The stored size of the log', schema: taken } },
      instead: { 409: FeedGap },
      errors: ['INVALID_CREDENTIALS', 'NOT_SIGNED', 'LOG_FORKED'],
    }),
    security: [{ gateway: [] }],
  },
  operation({
    tag: 'Gateways',
    method: 'post',
    access: 'public',
    id: 'addCheckpoint',
    path: '/witness/add-checkpoint',
    summary: 'Confirm a checkpoint, as c2sp.org/tlog-witness',
    input: { bytes: ['text/plain'] },
    success: { 200: { description: 'Signature lines', schema: text, mediaType: 'text/plain' } },
  }),
  operation({
    tag: 'Gateways',
    method: 'get',
    access: 'public',
    id: 'listWitnessedLogs',
    path: '/witness/logs',
    summary: 'The logs that are confirmed, and the key of the head office',
    input: {},
    success: { 200: { description: 'Keys, one a line', schema: text, mediaType: 'text/plain' } },
  }),
]

const besides = [
  operation({
    tag: 'Health',
    method: 'get',
    access: 'public',
    id: 'getHealth',
    path: '/api/health',
    summary: 'How the head office is',
    input: {},
    success: { 200: { description: 'Healthy or degraded', schema: HealthAnswer } },
    instead: { 503: HealthAnswer },
  }),
  operation({
    tag: 'Health',
    method: 'get',
    access: 'metrics:read',
    id: 'getMetrics',
    path: '/api/metrics',
    summary: 'Figures for Prometheus, for accounts that see every site',
    input: {},
    success: { 200: { description: 'Metrics', schema: text, mediaType: 'text/plain' } },
  }),
  operation({
    tag: 'Session',
    method: 'get',
    access: 'public',
    id: 'getSession',
    path: '/api/session',
    summary: 'The user who is signed in in this browser',
    input: {},
    success: { 200: { description: 'The session', schema: SessionAnswer } },
  }),
  operation({
    tag: 'Session',
    method: 'post',
    access: 'public',
    id: 'beginSession',
    path: '/api/session',
    summary: 'Sign in in a browser',
    input: { body: NewSession },
    success: { 201: { description: 'The session', schema: SessionAnswer, location: true } },
    errors: ['INVALID_CREDENTIALS', 'SIGN_IN_TRIES_SPENT'],
  }),
  operation({
    tag: 'Session',
    method: 'delete',
    access: 'public',
    id: 'endSession',
    path: '/api/session',
    summary: 'Sign out',
    input: {},
    success: { 204: { description: 'It has ended' } },
  }),
]

export const hubOperations = [...asking, ...gateways, ...besides]
