import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { catalogue, type ErrorCode } from '../errors/index.ts'
import type { Permission } from './caller.ts'
import { type AppEnv, demand } from './context.ts'
import { ErrorBody } from './envelope.ts'

export type Access = Permission | 'caller' | 'public'

type Input = {
  params?: z.ZodObject
  query?: z.ZodObject
  headers?: z.ZodObject
  body?: z.ZodType
  /** The body may be left out, which says the same as `{}`. */
  bodyOptional?: true
  /** Media types of a body that is no JSON and is taken as it comes. */
  bytes?: readonly string[]
}

/** An answer in JSON unless `mediaType` says otherwise. */
type Success<S extends z.ZodType> = {
  description: string
  schema: S
  mediaType?: string | readonly string[]
  location?: boolean
  /** Ranges and conditions are answered too: 206, 304, 416. */
  ranges?: boolean
}

/** 204: done, and nothing to say about it. */
type Silence = { description: string }

const onEveryRoute: readonly ErrorCode[] = ['RATE_LIMITED', 'INTERNAL_ERROR', 'NOT_READY']
/** The document's two headers go with either scheme; the console's cookie stands for all three. */
const named = { storageInstance: [], storageUsername: [] }
const waysIn = [{ bearer: [], ...named }, { basic: [], ...named }, { session: [] }]
const withCaller: readonly ErrorCode[] = [
  'AUTH_REQUIRED',
  'STORAGE_HEADERS_REQUIRED',
  'STORAGE_INSTANCE_NOT_ALLOWED',
  'INVALID_CREDENTIALS',
  'USER_MISMATCH',
  'SESSION_ENDED',
  'AUTH_BACKEND_UNREACHABLE',
  'SIGN_IN_TRIES_SPENT',
]
const withBody: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'MALFORMED_JSON',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'STORAGE_FULL',
]

/**
 * Declares one operation of the API: path, who may call it, what goes in and out, and which refusals it can meet.
 * The description at /api/openapi, the validation and the permission check all come from this declaration.
 */
export function operation<
  const Method extends 'get' | 'post' | 'put' | 'patch' | 'delete',
  const Path extends string,
  const In extends Input,
  const Status extends 200 | 201 | 204,
  S extends z.ZodType,
>(spec: {
  method: Method
  path: Path
  access: Access
  tag: string
  summary: string
  description?: string
  input: In
  success: { [K in Status]: K extends 204 ? Silence : Success<S> }
  /** Bodies that a status may have instead of the envelope of a refusal. */
  instead?: Readonly<Record<number, z.ZodType>>
  errors?: readonly ErrorCode[]
}) {
  const { body, bodyOptional, bytes, ...rest } = spec.input
  return createRoute({
    method: spec.method,
    path: spec.path,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description && { description: spec.description }),
    security: spec.access === 'public' ? [] : waysIn,
    'x-permission': spec.access,
    middleware: [permissionCheck(spec.access)] as const,
    request: {
      ...(rest as Omit<In, 'body' | 'bodyOptional' | 'bytes'>),
      ...(body && { body: { required: !bodyOptional, content: { 'application/json': { schema: body } } } }),
      ...(bytes && { body: { required: true, content: binary(bytes) } }),
    } as RequestOf<In>,
    responses: { ...successes(spec.success), ...refusals(codesOf(spec), spec.instead) } as unknown as {
      [K in Status]: K extends 204 ? Silence : { description: string; content: { 'application/json': { schema: S } } }
    },
  })
}

type RequestOf<In extends Input> = Omit<In, 'body' | 'bodyOptional' | 'bytes'> &
  (In extends { body: infer B extends z.ZodType }
    ? { body: { required: true; content: { 'application/json': { schema: B } } } }
    : Record<never, never>)

function codesOf(spec: {
  method: string
  access: Access
  input: Input
  success: object
  errors?: readonly ErrorCode[]
}): ErrorCode[] {
  return [
    ...onEveryRoute,
    ...(spec.access === 'public' ? [] : withCaller),
    ...(spec.access === 'public' || spec.method === 'get' ? [] : (['CSRF_TOKEN_WRONG'] as const)),
    ...(spec.access === 'public' || spec.access === 'caller' ? [] : (['PERMISSION_DENIED'] as const)),
    ...(spec.input.body || spec.input.bytes ? withBody : []),
    ...(spec.input.headers ? (['VALIDATION_ERROR'] as const) : []),
    ...(spec.input.headers && 'idempotency-key' in spec.input.headers.shape ? (['IDEMPOTENCY_MISMATCH'] as const) : []),
    ...(spec.input.query ? (['VALIDATION_ERROR'] as const) : []),
    ...(spec.input.params ? (['NOT_FOUND'] as const) : []),
    ...(hasRanges(spec.success) ? (['RANGE_NOT_SATISFIABLE'] as const) : []),
    ...(spec.errors ?? []),
  ]
}

function successes(success: Record<number, Success<z.ZodType> | Silence>): RouteConfig['responses'] {
  const declared = Object.entries(success).map(([status, one]) => [status, 'schema' in one ? withContent(one) : one])
  const ranged = Object.values(success).find((one) => 'schema' in one && one.ranges)
  const partial =
    ranged && 'schema' in ranged ? { ...withContent(ranged), description: 'The range asked for' } : undefined
  return Object.fromEntries([
    ...declared,
    ...(partial
      ? [
          ['206', partial],
          ['304', { description: 'Not modified' }],
        ]
      : []),
  ]) as RouteConfig['responses']
}

function hasRanges(success: object): boolean {
  return Object.values(success).some((one: Success<z.ZodType> | Silence) => 'ranges' in one && one.ranges)
}

function withContent(one: Success<z.ZodType>) {
  return {
    description: one.description,
    content: Object.fromEntries(
      [one.mediaType ?? 'application/json'].flat().map((type) => [type, { schema: one.schema }]),
    ),
    ...(one.location && { headers: { Location: { schema: { type: 'string' } } } }),
  }
}

/** The documented envelope for every status that one of the codes has; the codes stand in the description. */
function refusals(
  codes: readonly ErrorCode[],
  instead: Readonly<Record<number, z.ZodType>> = {},
): RouteConfig['responses'] {
  const byStatus = Map.groupBy(new Set(codes), (code) => catalogue[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, these]) => [
      status,
      {
        description: these.sort().join(' · '),
        content: { 'application/json': { schema: bodyOf(instead[status]) } },
        ...((status === 429 || status === 503) && { headers: { 'Retry-After': { schema: { type: 'integer' } } } }),
      },
    ]),
  ) as RouteConfig['responses']
}

const bodyOf = (instead: z.ZodType | undefined) => (instead ? z.union([instead, ErrorBody]) : ErrorBody)

function binary(mediaTypes: readonly string[]) {
  const schema = z.string().openapi({ format: 'binary' })
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]))
}

function permissionCheck(access: Access): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (access !== 'public' && access !== 'caller') demand(c.get('caller'), access)
    const refusal = c.get('bodyRefusal')
    if (refusal) throw refusal
    await next()
  }
}
