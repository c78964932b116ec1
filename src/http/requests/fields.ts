import { z } from '@hono/zod-openapi'
import { nearestNames } from '../../errors/index.ts'

/** The field forms that every room's schema is made of. */

const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/
const controlCharactersButGs = /[\u0000-\u001c\u001e\u001f\u007f-\u009f]/

const wellFormed = (text: string) => text.isWellFormed()

/** One line of text: well-formed Unicode, no control characters, `min` to `max` UTF-16 units. */
export function text(max: number, min = 1) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine(wellFormed, 'must be well-formed Unicode')
    .refine((value) => !controlCharacters.test(value), 'must not contain control characters')
}

/** A name that people give a thing: as text, but not blank. An emoji may have invisible parts. */
export const nameText = (max: number) => text(max).refine((value) => !isBlank(value), 'is blank')

/**
 * Text of one or more lines, for notes, descriptions and reasons: as `text`, but line feeds are allowed; CR LF becomes a
 * line feed.
 */
export function lines(max: number, min = 1) {
  return z
    .string()
    .overwrite((value) => value.replaceAll('\r\n', '\n'))
    .min(min)
    .max(max)
    .refine(wellFormed, 'must be well-formed Unicode')
    .refine(
      (value) => !controlCharacters.test(value.replaceAll('\n', '')),
      'must not contain control characters other than line feeds',
    )
}

/** An object that refuses other keys: a key with a typo would be a limit or a proof that is lost. */
export function closedObject<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .slice(0, mostUnknownKeys)
            .map((key) => unknownKey(key, known))
            .join('; ')
        : undefined,
  })
}

/** Most unknown keys that a refusal names. */
export const mostUnknownKeys = 20
const longestKey = 100

function unknownKey(key: string, known: readonly string[]): string {
  const nearest = nearestNames(key, known)
  const hint = nearest.length > 0 ? `did you mean ${nearest.join(' or ')}?` : `known are ${known.join(', ')}`
  const name = key.length > longestKey ? `${key.slice(0, longestKey)}…` : key
  return `unknown key ${JSON.stringify(name)}; ${hint}`
}

/** A scanned code: as text, but GS (the separator of GS1) is allowed. 1 to 256 characters. */
export function barcode() {
  return z
    .string()
    .min(1)
    .max(256)
    .refine(wellFormed, 'must be well-formed Unicode')
    .refine((value) => !controlCharactersButGs.test(value), 'must not contain control characters other than GS')
    .superRefine(refuseUnmatchable)
}

/** The path of an asset. */
export const barcodePath = () =>
  z.object({
    barcode: barcode().openapi({
      description: 'the barcode in any of its forms, percent-encoded (GS as %1D)',
      example: '00340123451234567895',
    }),
  })

/** A label or a name that is searched for: as text, but not blank and without invisible characters. */
export const label = (max: number) => text(max).superRefine(refuseUnmatchable)

/** Zero-width characters, direction marks, fillers, line separators: two different texts with them look the same. */
const invisibleSet = String.raw`\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb`
const invisible = new RegExp(`[${invisibleSet}]`, 'u')
const nothingVisible = new RegExp(String.raw`^[\s${invisibleSet}]+$`, 'u')

/** Whether a text shows nothing. An empty one is refused by its length. */
const isBlank = (value: string): boolean => nothingVisible.test(value)

function refuseUnmatchable(value: string, context: z.RefinementCtx): void {
  const message = unmatchable(value)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
}

/** Returns why this text cannot be searched for; undefined when it can. */
function unmatchable(value: string): string | undefined {
  const hidden = value.match(invisible)?.[0].codePointAt(0)
  if (hidden !== undefined) {
    const code = hidden.toString(16).toUpperCase().padStart(4, '0')
    return `contains the invisible character U+${code}; send it without`
  }
  const seen = value.replaceAll('\u001d', '').trim()
  // An empty one is refused already.
  if (seen === '' && value !== '') return 'is blank'
  return seen === '.' || seen === '..' ? `"${seen}" cannot stand in an address; use another` : undefined
}

const rfc3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** Returns an RFC 3339 time with offset in milliseconds since the epoch; undefined for any other text (also 31 February). */
export function parseTime(value: string): number | undefined {
  if (!rfc3339.test(value)) return undefined
  const day = Number(value.slice(8, 10))
  const daysInMonth = new Date(Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)), 0)).getUTCDate()
  if (day > daysInMonth) return undefined
  const ms = Date.parse(value.toUpperCase())
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}

/** RFC 3339 with offset in, milliseconds since the epoch out. */
export function time() {
  return z
    .string()
    .max(64)
    .transform((value, context) => {
      const ms = parseTime(value)
      if (ms !== undefined) return ms
      context.addIssue({ code: 'custom', message: 'expected an RFC 3339 time with offset, from 1970 on' })
      return z.NEVER
    })
    .openapi({ type: 'string', format: 'date-time' })
}

/** As `optional(time())`; the description of `time` alone would hide that null is allowed. */
export const optionalTime = () => optional(time()).openapi({ type: ['string', 'null'], format: 'date-time' })

/** A time that goes out: UTC with milliseconds and Z. */
export const timeOut = () => z.string().openapi({ format: 'date-time', example: '2026-03-02T08:00:00.000Z' })

/** A SHA-256 as 64 hex digits in either case. The value is in lower case. */
export const sha256Hex = () => lowerCase().regex(/^[0-9a-fA-F]{64}$/, 'expected 64 hex digits')

const lowerCase = () => z.string().overwrite((value) => value.toLowerCase())

/** A hash in a path. Any other text names nothing, so it is not found. */
export const hashPath = { sha256: lowerCase() }

/** An http or https address without user info. */
export function httpUrl() {
  return text(2048)
    .refine((value) => {
      const url = URL.canParse(value) ? new URL(value) : undefined
      return (
        url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:') && !url.username && !url.password
      )
    }, 'expected an http(s) URL without user info')
    .openapi({ format: 'uri' })
}

/**
 * For a rule about some fields: it waits until each of them is valid, so that one fault has one message. It does not wait for other
 * fields, so that one answer names all faults. Without names it waits for the whole value.
 */
export function onceFieldsFit(...names: readonly string[]) {
  const concerns = ({ path = [] }: z.core.$ZodRawIssue) =>
    path.length === 0 || names.length === 0 || names.includes(String(path[0]))
  return { when: ({ issues }: z.core.ParsePayload) => !issues.some(concerns) }
}

/** An optional field: null means the same as absent. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => (value ?? undefined) as z.output<T> | undefined)
}

/**
 * A whole number in a query string. `clamp`: more than `max` counts as `max`. The description shows `unlessSent` as the meaning of
 * its absence.
 */
export function queryInteger(options: { min: number; max?: number; clamp?: boolean; unlessSent?: number }) {
  const { min, max = Number.MAX_SAFE_INTEGER, clamp = false, unlessSent } = options
  const span = options.max === undefined || clamp ? `from ${min}` : `from ${min} to ${max}`
  return z
    .string()
    .transform((value, context) => {
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && (number <= max || clamp)) return Math.min(number, max)
      context.addIssue({ code: 'custom', message: `expected an integer ${span}` })
      return z.NEVER
    })
    .openapi({
      type: 'integer',
      minimum: min,
      maximum: max,
      ...(unlessSent !== undefined && { default: unlessSent }),
    })
}

/** The id of a row. */
export const rowId = () => z.int({ error: notAnInteger }).min(1).max(Number.MAX_SAFE_INTEGER)

/** Replaces the message of zod, which asks for a "number" when text was sent. */
function notAnInteger(issue: { code?: string; input?: unknown }): string | undefined {
  if (issue.code !== 'invalid_type') return undefined
  return issue.input === undefined ? 'required' : 'expected integer'
}

/** Returns the `:id` of a path as a number; undefined for any other text, which is then not found. */
export function numericPath(value: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(value) ? Number(value) : undefined
}
