import { useEffect, useState } from 'preact/hooks'

/** Returns a value that is read again every `ms`. */
export function useEvery(ms: number, read: () => number): number {
  const [value, setValue] = useState(read())
  useEffect(() => {
    const timer = setInterval(() => setValue(read()), ms)
    return () => clearInterval(timer)
  }, [])
  return value
}
