import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler, Next } from 'hono'
import type { Permission } from '../config/index.ts'
import { AppError, catalogue, type ErrorCode, KnownNames } from '../errors/index.ts'
import { ErrorBody } from './answers/envelope.ts'
import { refusal, refusalNames } from './answers/refusals.ts'
import type { Api } from './app.ts'
import type { Caller } from './caller.ts'
import { type AppEnv, demand } from './context.ts'
import {
  isEnvelope,
  listIgnored,
  prefersStrict,
  refuseNames,
  type UnknownNames,
  unknownFields,
  unknownParameters,
} from './requests/unknown-names.ts'
import { validation } from './requests/validation.ts'

/** One permission, or several of which the caller needs one; the service decides which. */
export type Access = Permission | readonly [Permission, ...Permission[]] | 'caller' | 'public'

type Input = {
  params?: z.ZodObject
  query?: z.ZodObject
  headers?: z.ZodObject
  body?: z.ZodType
  /** The body may be absent, which means `{}`. */
  bodyOptional?: true
  /** Media types of a body that is not JSON and is taken as bytes. */
  bytes?: readonly string[]
}

/** An answer in JSON unless `mediaType` says otherwise. */
type Success<S extends z.ZodType> = {
  description: string
  schema: S
  mediaType?: string | readonly string[]
  location?: boolean
  /** Also answers ranges and conditions: 206, 304, 416. */
  ranges?: boolean
}

/** 101: a WebSocket opens. 204: done, without a body. */
type Silence = { description: string }

const onEveryRoute: readonly ErrorCode[] = ['RATE_LIMITED', 'INTERNAL_ERROR', 'NOT_READY']
/** The document's two headers go with either scheme; the console's cookie replaces all three. */
const named = { storageInstance: [], storageUsername: [] }
const waysIn = [{ bearer: [], ...named }, { basic: [], ...named }, { session: [] }]
const withCaller: readonly ErrorCode[] = [
  'AUTH_REQUIRED',
  'STORAGE_HEADERS_REQUIRED',
  'STORAGE_INSTANCE_NOT_ALLOWED',
  'INVALID_CREDENTIALS',
  'USER_MISMATCH',
  'SESSION_ENDED',
  'SECOND_FACTOR_REQUIRED',
  'SECOND_FACTOR_MISSING',
  'AUTH_BACKEND_UNREACHABLE',
  'SIGN_IN_TRIES_SPENT',
]
const readingBody: readonly ErrorCode[] = ['MALFORMED_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
const withBody: readonly ErrorCode[] = [...readingBody, 'STORAGE_FULL']

/**
 * Declares one operation of the API: path, callers, input and output, and the refusals that it can meet. The description at
 * /api/openapi, the validation and the permission check all come from this declaration.
 */
export function operation<
  const Method extends 'get' | 'post' | 'put' | 'patch' | 'delete',
  const Path extends string,
  const In extends Input,
  const Status extends 101 | 200 | 201 | 204,
  S extends z.ZodType,
>(spec: {
  /** The operationId: what generated clients call it. It never changes. */
  id: string
  method: Method
  path: Path
  access: Access
  tag: string
  summary: string
  description?: string
  input: In
  success: { [K in Status]: K extends 101 | 204 ? Silence : Success<S> }
  /** It gives secrets or footage away: a session with a second factor must have shown it in the last minutes. */
  stepUp?: true
  /** Every query is accepted, and unknown names in it are not reported. */
  ignoresParameters?: true
  /** Bodies that a status may have instead of the envelope of a refusal. */
  instead?: Readonly<Record<number, z.ZodType>>
  errors?: readonly ErrorCode[]
}) {
  const { body, bodyOptional, bytes, ...rest } = spec.input
  const codes = codesOf(spec)
  return createRoute({
    operationId: spec.id,
    method: spec.method,
    path: spec.path,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description && { description: spec.description }),
    security: spec.access === 'public' ? [] : waysIn,
    'x-permission': spec.access,
    'x-error-codes': [...new Set(codes)].sort(),
    middleware: [admission(spec), validation(spec.input)] as const,
    request: {
      ...(rest as Omit<In, 'body' | 'bodyOptional' | 'bytes'>),
      ...(body && { body: { required: !bodyOptional, content: { 'application/json': { schema: body } } } }),
      ...(bytes && { body: { required: true, content: binary(bytes) } }),
    } as RequestOf<In>,
    // Made of two maps whose keys are known only as values; the type says the statuses that the operation declares.
    responses: { ...successes(spec.success), ...refusals(codes, spec.instead) } as unknown as {
      [K in Status]: K extends 101 | 204
        ? Silence
        : { description: string; content: { 'application/json': { schema: S } } }
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
  stepUp?: true
  errors?: readonly ErrorCode[]
}): ErrorCode[] {
  return [
    ...onEveryRoute,
    ...(spec.access === 'public' ? [] : withCaller),
    ...(spec.stepUp ? (['STEP_UP_REQUIRED'] as const) : []),
    ...(spec.access === 'public' || spec.method === 'get' ? [] : (['CSRF_TOKEN_WRONG'] as const)),
    ...(spec.access === 'public' || spec.access === 'caller' ? [] : (['PERMISSION_DENIED'] as const)),
    ...(spec.input.body || spec.input.bytes ? withBody : []),
    // An operation without a body ignores one, but it must be readable.
    ...(carriesBody(spec.method) ? readingBody : []),
    'VALIDATION_ERROR',
    ...(spec.input.headers && 'idempotency-key' in spec.input.headers.shape ? (['IDEMPOTENCY_MISMATCH'] as const) : []),
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

/**
 * Returns the documented error body for every status of these codes: a shared response, unless `instead` names another
 * body. The codes are in the description and, for programs, in `x-error-codes`.
 */
function refusals(
  codes: readonly ErrorCode[],
  instead: Readonly<Record<number, z.ZodType>> = {},
): RouteConfig['responses'] {
  const byStatus = Map.groupBy(new Set(codes), (code) => catalogue[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, these]) => {
      const description = these.sort().join(' · ')
      const other = instead[status]
      return [
        status,
        other
          ? {
              ...refusal(status, description),
              content: { 'application/json': { schema: z.union([other, ErrorBody]) } },
            }
          : { $ref: `#/components/responses/${refusalNames[status]}`, description },
      ]
    }),
  ) as RouteConfig['responses']
}

function binary(mediaTypes: readonly string[]) {
  const schema = z.string().openapi({ format: 'binary' })
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]))
}

/** Checks, in this order: the permission, a body that could not be read, unknown names. */
function admission(spec: Admitted): MiddlewareHandler<AppEnv> {
  const { access, input, ignoresParameters = false } = spec
  const parameters = new KnownNames(Object.keys(input.query?.shape ?? {}))
  const takesJson = carriesBody(spec.method) && !input.bytes
  const body = input.body ?? z.object({})
  const own = schemasOf(spec.success)
  if (spec.method === 'get') answersAt.set(spec.path, own)
  const listsParameters = own.some(isEnvelope)
  const check = async (c: Context<AppEnv>, next: Next, ofQuery: UnknownNames | undefined) => {
    const isStrict = prefersStrict(c.req.header('prefer'))
    if (isStrict) c.header('Preference-Applied', 'handling=strict')
    const answers = [...own, ...(answersAt.get(spec.path) ?? [])]
    const ofBody = takesJson ? unknownFields(c.get('jsonBody'), { body, answers }) : undefined
    refuseNames([
      ...(ofQuery?.problems('query parameter', isStrict) ?? []),
      ...(ofBody?.problems('field', isStrict) ?? []),
    ])
    c.set('listsIgnored', listsParameters && ofQuery !== undefined)
    await next()
    const ignoredFields = ofBody?.ignored ?? []
    const isEnvelopeNow = c.res.ok ? listsParameters : c.res.status >= 400
    const ignoredParameters = isEnvelopeNow ? (ofQuery?.ignored ?? []) : []
    if (ignoredFields.length + ignoredParameters.length === 0) return
    await listIgnored(c, {
      ...(ignoredFields.length > 0 && { ignoredFields }),
      ...(ignoredParameters.length > 0 && { ignoredParameters }),
    })
  }
  return (c, next) => {
    if (access !== 'public' && access !== 'caller') demandOne(c.get('caller'), [access].flat())
    if (spec.stepUp && c.get('caller').secondFactor === 'stale') throw stepUpRequired()
    const refusal = c.get('bodyRefusal')
    if (refusal) throw refusal
    const ofQuery = ignoresParameters ? undefined : unknownParameters(c, parameters)
    return takesJson || ofQuery ? check(c, next, ofQuery) : next()
  }
}

type Admitted = {
  readonly method: string
  readonly path: string
  readonly access: Access
  readonly input: Input
  readonly success: object
  readonly stepUp?: true
  readonly ignoresParameters?: boolean
}

/** Answers of GET by address. A client may send their fields to another method of that address. */
const answersAt = new Map<string, readonly z.ZodType[]>()

const schemasOf = (success: object): z.ZodType[] =>
  Object.values(success).flatMap((one: Success<z.ZodType> | Silence) =>
    'schema' in one && one.mediaType === undefined ? [one.schema] : [],
  )

/** A declared operation: `GET /api/whms/slots`, and the permissions of which a caller needs one. */
export type DeclaredOperation = { readonly name: string; readonly access: readonly string[] }

/** Lists the operations that an API declares, in their order. */
export function operationsOf(api: Pick<Api, 'openAPIRegistry'>): DeclaredOperation[] {
  return api.openAPIRegistry.definitions.flatMap((one) => {
    if (one.type !== 'route' || !('x-permission' in one.route)) return []
    const access = [one.route['x-permission']].flat().map(String)
    return [{ name: `${one.route.method.toUpperCase()} ${one.route.path}`, access }]
  })
}

/** Throws PERMISSION_DENIED that names the first permission when the caller has none of them. */
function demandOne(caller: Caller, permissions: readonly Permission[]): void {
  const [first] = permissions
  if (first && !permissions.some((permission) => caller.permissions.has(permission))) demand(caller, first)
}

const stepUpRequired = () =>
  new AppError('STEP_UP_REQUIRED', 'Show your second factor again: this gives secrets or footage away')

const carriesBody = (method: string): boolean => method === 'post' || method === 'put' || method === 'patch'
