/**
 * Rejects with a sentence when `work` takes longer than `limitMs` or `signal` fires first. The work itself goes on:
 * what began it ends it.
 */
export async function within<T>(work: Promise<T>, limitMs: number, signal?: AbortSignal): Promise<T> {
  const gone = Promise.withResolvers<never>()
  const timer = setTimeout(() => gone.reject(new Error(`it took longer than ${limitMs / 1000} s`)), limitMs)
  const abort = () => gone.reject(new Error('interrupted'))
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  try {
    return await Promise.race([work, gone.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
