import { type CatalogueEntry, catalogue, type ErrorCode } from '../../errors/index.ts'

type Status = CatalogueEntry['status']

/** Names of the refusals in the description, under `components.responses`. */
export const refusalNames: Readonly<Record<Status, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  426: 'UpgradeRequired',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })

const headersOf: Readonly<Partial<Record<Status, Record<string, object>>>> = {
  429: {
    'Retry-After': header('RetryAfter'),
    RateLimit: header('RateLimit'),
    'RateLimit-Policy': header('RateLimitPolicy'),
  },
  503: { 'Retry-After': header('RetryAfter') },
}

/** Headers that several answers carry. */
export const sharedHeaders = {
  RetryAfter: {
    description: 'Whole seconds to wait before the next try.',
    schema: { type: 'integer' as const, minimum: 1 },
    example: 12,
  },
  RateLimit: {
    description: '`r`: requests that are left; `t`: seconds until the oldest request stops counting.',
    schema: { type: 'string' as const },
    example: '"user";r=0;t=12',
  },
  RateLimitPolicy: {
    description: 'The limit that applies: `q` requests in any `w` seconds.',
    schema: { type: 'string' as const },
    example: '"user";q=100;w=60',
  },
}

/** A refusal of a status, without its body. */
export function refusal(status: Status, description: string) {
  const headers = headersOf[status]
  return { description, ...(headers && { headers }) }
}

const entries = Object.entries(catalogue) as [ErrorCode, CatalogueEntry][]

/** All refusals that the catalogue knows, by name, with an example of each code. */
export function sharedRefusals() {
  const byStatus = Map.groupBy(entries, ([, { status }]) => status)
  return [...byStatus].map(([status, these]) => {
    const description = these.map(([code, { hint }]) => `\`${code}\`: ${hint}`).join(' ')
    const examples = Object.fromEntries(these.map(([code, { hint }]) => [code, { value: exampleOf(code, hint) }]))
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } }
    return { status, name: refusalNames[status], response: { ...refusal(status, description), content } }
  })
}

function exampleOf(code: ErrorCode, details: string) {
  return { success: false, error: { code, message: messages[code] ?? 'The request is refused', details, requestId } }
}

const requestId = '019cae00-0000-7000-8000-000000000001'

const messages: Readonly<Partial<Record<ErrorCode, string>>> = {
  VALIDATION_ERROR: 'The request is not valid',
  MALFORMED_JSON: 'The body is not JSON in UTF-8',
  AUTH_REQUIRED: 'Sign in first',
  PERMISSION_DENIED: 'This needs the permission events:create',
  NOT_FOUND: 'Slot not found',
  RATE_LIMITED: 'Too many requests',
  INTERNAL_ERROR: 'Something went wrong inside the gateway',
}
