import type { Context } from 'hono'
import { z } from 'zod'
import { AppError } from '../errors/index.ts'
import { largestWitnessBytes } from '../evidence/index.ts'
import { authorityPath, EnrolBody, enrolPath, feedPath, largestFeedBytes } from '../feed/index.ts'
import type { SlidingWindow } from '../flow/index.ts'
import { TaskLimit } from '../flow/index.ts'
import {
  type Api,
  type AppEnv,
  errorBody,
  noteKnown,
  readBodyInTime,
  readPackedBody,
  validationError,
} from '../http/index.ts'
import type { Clock } from '../platform/index.ts'
import type { EnrolService } from './enrol/service.ts'
import type { TokenLimit } from './enrol/tokens.ts'
import { Pace } from './feed/pace.ts'
import { FeedRoom, type Refusal } from './feed/room.ts'
import type { FeedService } from './feed/service.ts'
import type { FeedOutcome } from './operations/metrics.ts'
import type { HubWitness } from './witness.ts'

/** An enrolment has a code, a log id and two keys. */
const largestEnrolBytes = 64 * 1024
const enrolmentsAMinute = 20
const witnessingsAMinute = 600
/**
 * Feeds that are unpacked and stored at once. Fewer than the connections to the database, so that people who ask get one. More
 * would hold their leaves in memory while they wait for a connection.
 */
const feedsAtOnce = 8

export type HubRouteParts = {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly feeds: FeedService
  readonly enrolments: EnrolService
  readonly witness: HubWitness
  readonly strangers: SlidingWindow
  readonly tokens: Pick<TokenLimit, 'check' | 'made'>
  /** The authority that gateways trust, PEM; undefined where public ones vouch. */
  readonly authority: () => string | undefined
  readonly onFed: (outcome: FeedOutcome, leaves: number) => void
}

/** Serves what gateways call. */
export function gatewayRoutes(api: Api, parts: HubRouteParts): void {
  const { enrolments, witness, strangers, tokens, authority } = parts
  const admit = (c: Context<AppEnv>, aMinute: number) => {
    const waitSeconds = strangers.take(`${aMinute} ${c.get('address')}`, aMinute)
    if (waitSeconds === 0) return
    throw new AppError('RATE_LIMITED', 'Too many requests from this address', { retryAfterSeconds: waitSeconds })
  }
  api.get(authorityPath, (c) => {
    admit(c, enrolmentsAMinute)
    const pem = authority()
    if (!pem) throw AppError.notFound('Authority')
    return c.body(pem, 200, { 'Content-Type': 'application/x-pem-file' })
  })
  api.post('/witness/add-checkpoint', async (c) => {
    admit(c, witnessingsAMinute)
    const bytes = await readBodyInTime(c.req.raw, largestWitnessBytes)
    const { status, type, body } = await witness.addCheckpoint(Buffer.from(bytes).toString('utf8'))
    return c.body(body, status, { 'Content-Type': type })
  })
  api.get('/witness/logs', async (c) => {
    admit(c, witnessingsAMinute)
    return c.text(await witness.list())
  })
  api.post(enrolPath, async (c) => {
    admit(c, enrolmentsAMinute)
    const read = z.safeParse(EnrolBody, parseJson(await readBodyInTime(c.req.raw, largestEnrolBytes)))
    if (!read.success) throw validationError(read.error.issues, undefined)
    const made = await enrolments.enrol(read.data)
    tokens.made(made.token)
    return c.json(made, 201)
  })
  feedRoute(api, parts)
}

/** Serves feeds: some at a time, and not more of one gateway than it has places. */
function feedRoute(api: Api, { clock, feeds, tokens, onFed }: HubRouteParts): void {
  const room = new FeedRoom()
  const turns = new TaskLimit(feedsAtOnce)
  const pace = new Pace()
  api.post(feedPath(':logId'), async (c) => {
    const logId = readLogId(c.req.param('logId') ?? '')
    // The token is asked for before the body: for an unknown caller nothing is unpacked.
    const token = bearerOf(c)
    const claim = { token, logId, address: c.get('address') }
    const known = await tokens.check(claim, () => feeds.demandToken(token, logId))
    noteKnown(c)
    const place = room.take(token, declaredBytes(c))
    if ('refusal' in place) {
      onFed('unavailable', 0)
      throw noPlace(place.refusal)
    }
    try {
      const unpack = await readPackedBody(c.req.raw, largestFeedBytes)
      const cameMs = clock.monotonic()
      const { fed, leaves, queuedMs } = await turns.run(async () => {
        const queuedMs = clock.monotonic() - cameMs
        const body = parseJson(await unpack())
        const fed = await feeds.feed(known, logId, body)
        return { fed, leaves: fed.kind === 'fed' ? leavesIn(body) : 0, queuedMs }
      })
      onFed(fed.kind, leaves)
      if (fed.kind === 'gap') return c.json({ size: fed.size }, 409)
      const nowMs = clock.monotonic()
      pace.ended(nowMs, turns.waiting > 0)
      return c.json({ ...fed.answer, pauseMs: pace.next(nowMs, queuedMs) }, 200)
    } catch (error) {
      pace.failed()
      onFed(outcomeOf(error), 0)
      if (!(error instanceof AppError) || error.code !== 'LOG_FORKED') throw error
      return c.json({ code: error.code, ...errorBody(error, c.get('requestId')) }, 422)
    } finally {
      place.free()
    }
  })
}

function noPlace(refusal: Refusal): AppError {
  if (refusal === 'full') return new AppError('NOT_READY', 'Too many feeds at once', { retryAfterSeconds: 2 })
  return new AppError('NOT_READY', 'Two feeds of this gateway are on their way', { retryAfterSeconds: 1 })
}

/** Bytes of the body as it comes; the most that is read when it does not say. */
function declaredBytes(c: Context<AppEnv>): number {
  const declared = Number(c.req.header('content-length') ?? Number.NaN)
  return declared <= largestFeedBytes ? declared : largestFeedBytes
}

/** A body that was taken in has its leaves in a list. */
const leavesIn = (body: unknown): number => (body as { readonly leaves: readonly unknown[] }).leaves.length

function outcomeOf(error: unknown): FeedOutcome {
  if (error instanceof AppError && error.code === 'STORAGE_FULL') return 'full'
  if (!(error instanceof AppError) || error.status >= 500) return 'unavailable'
  return error.code === 'LOG_FORKED' ? 'forked' : 'refused'
}

function bearerOf(c: Context<AppEnv>): string {
  const [, token] = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
  if (token) return token
  throw new AppError('AUTH_REQUIRED', 'Send the token of this gateway as Authorization: Bearer')
}

function readLogId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text
  throw AppError.notFound('Log')
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new AppError('MALFORMED_JSON', 'The body is not JSON in UTF-8', { cause })
  }
}
