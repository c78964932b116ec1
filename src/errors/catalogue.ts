/**
 * Lists every error code with its status, whether trying again can help, and a hint for the admin. The OpenAPI
 * description is made from this table; `error.code` is never free text.
 */
export type CatalogueEntry = {
  /** HTTP status of the answer. */
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 416 | 422 | 426 | 429 | 500 | 503
  /** Whether the same request may succeed later without a change. */
  readonly retry: boolean
  /** Remedy for the admin; not part of the answer. */
  readonly hint: string
}

export const catalogue = {
  VALIDATION_ERROR: { status: 400, retry: false, hint: 'Correct the named fields.' },
  MALFORMED_JSON: { status: 400, retry: false, hint: 'Send one JSON value in UTF-8.' },
  EVIDENCE_REQUIRED: { status: 400, retry: false, hint: 'A placement needs photo_url; upload the photo first.' },
  TIMESTAMP_IN_FUTURE: { status: 400, retry: false, hint: 'Set the device clock, or send X-Device-Time.' },
  ALREADY_EXISTS: { status: 400, retry: false, hint: 'The name or id is taken.' },
  REFERENCE_NOT_FOUND: { status: 400, retry: false, hint: 'Create the thing the body refers to first.' },
  INVALID_TRANSITION: { status: 400, retry: false, hint: 'details says what is possible now.' },
  CONSTRAINT_VIOLATED: { status: 400, retry: false, hint: 'ledger.enforce turns this warning into a refusal.' },
  PLACEMENT_MISMATCH: {
    status: 400,
    retry: false,
    hint: 'The slot holds another placement than placement_event_id names, or none; read the slot again.',
  },
  NOT_CONFIGURED: { status: 400, retry: false, hint: 'The config lacks what this needs, such as printers.' },
  WEBHOOK_URL_NOT_HTTPS: { status: 400, retry: false, hint: 'Register an https:// address.' },
  WEBHOOK_URL_FORBIDDEN: { status: 400, retry: false, hint: 'webhooks.allowNetworks names private receivers.' },
  AUTH_REQUIRED: { status: 401, retry: false, hint: 'Send Authorization: Bearer or Basic.' },
  STORAGE_HEADERS_REQUIRED: { status: 401, retry: false, hint: 'Send X-Storage-Instance and X-Storage-Username.' },
  STORAGE_INSTANCE_NOT_ALLOWED: {
    status: 401,
    retry: false,
    hint: 'Name a configured instance, or site.url; details lists them.',
  },
  INVALID_CREDENTIALS: { status: 401, retry: false, hint: 'The secret is wrong or the account is gone.' },
  SESSION_ENDED: { status: 401, retry: false, hint: 'Signed out, expired, or the account changed; sign in again.' },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    retry: false,
    hint: 'The secret is right. Send a code or a passkey as well; programs need an account of the config without a second factor.',
  },
  SECOND_FACTOR_WRONG: {
    status: 401,
    retry: false,
    hint: 'The code is wrong, old or used, or the passkey is unknown.',
  },
  PROVIDER_SIGN_IN_FAILED: {
    status: 401,
    retry: false,
    hint: 'details says why: begin the sign-in again, or correct auth.oidc.',
  },
  USER_MISMATCH: {
    status: 401,
    retry: false,
    hint: 'The secret is right, for another user name; details says which to send.',
  },
  PERMISSION_DENIED: { status: 403, retry: false, hint: 'The role of this caller lacks the permission.' },
  SECOND_FACTOR_MISSING: {
    status: 403,
    retry: false,
    hint: 'auth.secondFactor demands one of this role: set it up at /people first.',
  },
  STEP_UP_REQUIRED: {
    status: 403,
    retry: false,
    hint: 'POST /api/session/step-up with a code or a passkey, then send the request again. People of an OpenID provider sign in there again.',
  },
  SECOND_PERSON_NEEDED: {
    status: 403,
    retry: false,
    hint: 'privacy.fourEyesForExport: another supervisor or admin approves the export.',
  },
  CSRF_TOKEN_WRONG: { status: 403, retry: false, hint: 'With the session cookie send X-CSRF-Token.' },
  NOT_SIGNED: {
    status: 403,
    retry: false,
    hint: 'The log is known under other keys: after a restore run gatehouse restore --accept-fork, then gatehouse hub join with a new code.',
  },
  ENROLMENT_REFUSED: { status: 403, retry: false, hint: 'Make a new code with gatehouse hub enrol.' },
  NOT_FOUND: { status: 404, retry: false, hint: 'No such thing, or not for this caller.' },
  METHOD_NOT_ALLOWED: { status: 405, retry: false, hint: 'See the Allow header.' },
  LEDGER_IMMUTABLE: { status: 405, retry: false, hint: 'Ledger events are never changed; append a correcting one.' },
  LOG_TAKEN: {
    status: 409,
    retry: false,
    hint: 'Other keys, or another site: after a restore run gatehouse restore --accept-fork first.',
  },
  VERSION_MISMATCH: { status: 412, retry: false, hint: 'Somebody changed it; read it again.' },
  BODY_TOO_LARGE: { status: 413, retry: false, hint: 'See the limits in the API description.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retry: false, hint: 'Send the media type that the operation names.' },
  RANGE_NOT_SATISFIABLE: { status: 416, retry: false, hint: 'Content-Range names the size.' },
  IDEMPOTENCY_MISMATCH: { status: 422, retry: false, hint: 'The key was used with another body.' },
  LOG_FORKED: {
    status: 422,
    retry: false,
    hint: 'Two histories of one log were shown. Both are kept; check the gateway before anything else.',
  },
  UPGRADE_REQUIRED: { status: 426, retry: false, hint: 'The address is a WebSocket: connect with ws:// or wss://.' },
  RATE_LIMITED: { status: 429, retry: true, hint: 'rateLimit in the config sets the rates.' },
  INTERNAL_ERROR: { status: 500, retry: true, hint: 'The log has the cause under the request id.' },
  AUTH_BACKEND_UNREACHABLE: {
    status: 503,
    retry: true,
    hint: 'The storage server or OpenID provider does not answer, and nothing is known of this caller; see the log.',
  },
  SIGN_IN_TRIES_SPENT: {
    status: 503,
    retry: true,
    hint: 'Too many wrong account passwords in half an hour: the storage server would lock the gateway out. Application passwords go on working.',
  },
  STORAGE_FULL: { status: 503, retry: true, hint: 'The disk is full; free space, nothing was lost.' },
  NO_PICTURE: { status: 503, retry: true, hint: 'The camera gives no pictures now; details says why.' },
  CLIP_PENDING: { status: 503, retry: true, hint: 'The clip is still being recorded.' },
  REDACTIONS_WAITING: { status: 503, retry: true, hint: 'Redacted copies are made one at a time; some are waiting.' },
  REPLAYS_WAITING: { status: 503, retry: true, hint: 'Scores are replayed one question at a time; some are waiting.' },
  PACKAGES_WAITING: {
    status: 503,
    retry: true,
    hint: 'Packages of incidents are made two at a time; try again when one has ended.',
  },
  NOT_READY: { status: 503, retry: true, hint: 'The gateway is starting or stopping.' },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof catalogue
