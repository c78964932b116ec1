import { catalogue, type ErrorCode } from './catalogue.ts'

/** One field of a refused body or query: `path` as the caller wrote it (`floor_plan_polygon.0.x`). */
export type FieldProblem = { readonly path: string; readonly message: string }

/** A file that the gateway removed on purpose: time, cause, and the setting that demands it. */
export type MediaRemoval = {
  readonly removedAt: string
  readonly cause: 'age' | 'free-space'
  /** The key of the config with its value, such as `retention.photos.keepLocalDays: 90`. */
  readonly policy: string
  /** The days that the setting gives such files; null where it counts no days. */
  readonly keptDays: number | null
}

export type AppErrorOptions = {
  /** Additional context in one sentence; reaches the caller. */
  details?: string
  fields?: readonly FieldProblem[]
  /** Whole seconds for Retry-After. */
  retryAfterSeconds?: number
  /** The removal of the requested file by the gateway. */
  removal?: MediaRemoval
  /** The original error; it goes to the log, never to the caller. */
  cause?: unknown
}

/** The error of a refused request. Its code decides the status; message and details are for the caller. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly details: string
  readonly fields: readonly FieldProblem[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly removal: MediaRemoval | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.fields = options.fields
    this.removal = options.removal
    this.details = options.details ?? options.fields?.map((f) => `${f.path}: ${f.message}`).join('; ') ?? ''
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status() {
    return catalogue[this.code].status
  }

  /** Makes a VALIDATION_ERROR about one field; `path` as the caller wrote it. */
  static field(path: string, message: string): AppError {
    return new AppError('VALIDATION_ERROR', 'The request is not valid', { fields: [{ path, message }] })
  }

  static notFound(what: string): AppError {
    return new AppError('NOT_FOUND', `${what} not found`)
  }
}
