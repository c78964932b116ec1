import { z } from '@hono/zod-openapi'
import type { Context, TypedResponse } from 'hono'
import { AppError, catalogue, type ErrorCode, type FieldProblem, nearestNames } from '../../errors/index.ts'
import type { AppEnv } from '../context.ts'
import { mostUnknownKeys } from '../requests/fields.ts'

const codes = Object.keys(catalogue) as [ErrorCode, ...ErrorCode[]]

/** When and why the gateway removed a file. */
export const MediaRemovalOut = z
  .object({
    removedAt: z.string().openapi({ format: 'date-time' }),
    cause: z
      .enum(['age', 'free-space'])
      .openapi({ description: 'age: its time to be kept was over · free-space: the disk was nearly full' }),
    policy: z.string().openapi({ example: 'retention.photos.keepLocalDays: 90' }),
    keptDays: z.int().nullable().openapi({
      description: 'the days of the policy (of photos: after the upload); null: the policy counts no days',
    }),
  })
  .openapi('MediaRemoval')

const factsShape = {
  code: z.enum(codes).openapi({
    description:
      'The manual explains each code: `gatehouse manual errors`, and `/help/errors#CODE` on a gateway, in lower case',
  }),
  message: z.string(),
  details: z.string(),
  fields: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  removal: MediaRemovalOut.optional().openapi({
    description: 'with NOT_FOUND, for a photo, clip or snapshot that the gateway removed: when and why',
  }),
}

/** The content of a refusal, as a part of an answer about several requests. */
export const ErrorFacts = z.object(factsShape).openapi('ErrorFacts')
export type ErrorFacts = z.infer<typeof ErrorFacts>

/** Unknown fields of the body; part of any answer to a body that has some. */
export const ignoredFields = z.array(z.string()).max(20).optional().openapi({
  description: 'Paths of the fields of the body that the gateway ignored, the first 20; absent when there are none',
})

/** Unknown query parameters; part of any answer with `success`, and of any refusal, to an address that has some. */
export const ignoredParameters = z.array(z.string()).max(20).optional().openapi({
  description: 'Names of the query parameters that the gateway ignored, the first 20; absent when there are none',
})

/** The body of every refusal. */
export const ErrorBody = z
  .object({
    success: z.literal(false),
    error: z.object({ ...factsShape, requestId: z.string() }),
    ignoredFields,
    ignoredParameters,
  })
  .openapi('Error')

export type ErrorBody = z.infer<typeof ErrorBody>

export function errorFacts({ code, message, details, fields, removal }: AppError): ErrorFacts {
  const wrong = fields && { fields: fields.map((f) => ({ ...f })) }
  return { code, message, details, ...wrong, ...(removal && { removal: { ...removal } }) }
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  return { success: false, error: { ...errorFacts(error), requestId } }
}

/** One resource: its fields at the top level, with `success: true`. */
export function resource<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ success: z.literal(true), ...shape })
}

/**
 * Returns the complaints of zod as one message for each field. Keeps the first, because a text that is too long is often wrong in
 * other ways too. An unknown key that misspells an absent one is one fault: it is reported at the unknown key.
 */
function refusedFields(issues: readonly z.core.$ZodIssue[], input: unknown): FieldProblem[] {
  const unknown = issues.filter((issue) => issue.code === 'unrecognized_keys')
  const fields = new Map<string, string>()
  for (const issue of issues) {
    if (isAbsent(input, issue.path) && unknown.some((other) => isMisspeltIn(other, issue.path))) continue
    const path = issue.path.map(String).join('.') || '(body)'
    if (!fields.has(path)) fields.set(path, describe(issue, input))
  }
  return [...fields].map(([path, message]) => ({ path, message }))
}

function describe(issue: z.core.$ZodIssue, input: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return expectation(issue)
    case 'invalid_value':
      return isAbsent(input, issue.path) ? 'required' : `expected one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `expected at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'too_big':
      return `expected at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'invalid_union':
      return 'has none of the allowed forms'
    default:
      return issue.message
  }
}

/** Whether the field is absent in the input; for an enum zod does not say so. */
function isAbsent(input: unknown, path: readonly PropertyKey[]): boolean {
  const parent = path.slice(0, -1).reduce((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], input)
  const key = path.at(-1)
  return key !== undefined && typeof parent === 'object' && parent !== null && !Object.hasOwn(parent, key)
}

/** Whether one of the unknown keys of an object misspells this key of it. */
function isMisspeltIn({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, absent: readonly PropertyKey[]): boolean {
  const isBeside = absent.length === path.length + 1 && path.every((key, i) => key === absent[i])
  return isBeside && keys.slice(0, mostUnknownKeys).some((key) => nearestNames(key, [String(absent.at(-1))]).length > 0)
}

/** zod omits the received value; its message says whether it was absent. A message of the field itself is kept. */
function expectation(issue: z.core.$ZodIssueInvalidType): string {
  if (!issue.message.startsWith('Invalid input')) return issue.message
  if (issue.message.endsWith('received undefined')) return 'required'
  return `expected ${String(issue.expected) === 'int' ? 'integer' : issue.expected}`
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters'
  if (origin === 'array') return ' items'
  return ''
}

/** Returns VALIDATION_ERROR with one message for each field. `input`: what was validated. */
export function validationError(issues: readonly z.core.$ZodIssue[], input: unknown): AppError {
  return new AppError('VALIDATION_ERROR', 'The request is not valid', { fields: refusedFields(issues, input) })
}

/** Sends one thing: its fields beside `success`. */
export function sendResource<Body extends object>(c: Context<AppEnv>, resource: Body) {
  return c.json({ success: true as const, ...resource }, 200)
}

/** An answer that was not made of a value: a file, a stream, a text. It may stand for the body of any operation. */
export type RawAnswer = Response & TypedResponse<never, 200, 'json'>

export const rawAnswer = (response: Response): RawAnswer => response as RawAnswer
