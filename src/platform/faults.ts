/** Returns the code of an error of the system, such as ENOENT; undefined where there is none. */
export function errorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Returns the message of an error; of anything else that was thrown, its text. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))
