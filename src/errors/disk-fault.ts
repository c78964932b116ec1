import { AppError } from './app-error.ts'

/**
 * Translates an errno error where it enters: NOT_READY when descriptors ran out, else `code`. Returns an AppError as it is; anything
 * else becomes INTERNAL_ERROR.
 */
export function diskFault(
  error: unknown,
  message: string,
  code: 'STORAGE_FULL' | 'NOT_READY' = 'STORAGE_FULL',
): AppError {
  if (error instanceof AppError) return error
  const errno = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (errno === 'EMFILE' || errno === 'ENFILE') {
    return new AppError('NOT_READY', message, {
      cause: error,
      retryAfterSeconds: 5,
      details: 'too many files are open',
    })
  }
  // Not an error of Node itself, such as ERR_INVALID_ARG_TYPE: that is a fault of the program.
  if (!/^E[A-Z0-9]+$/.test(errno)) {
    return new AppError('INTERNAL_ERROR', 'Something went wrong inside the gateway', { cause: error })
  }
  return new AppError(code, message, { cause: error, retryAfterSeconds: 30, details: errno })
}
