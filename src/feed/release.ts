import { z } from 'zod'

/** As packages are numbered. */
export const releaseVersion = z.string().regex(/^\d{1,5}\.\d{1,5}\.\d{1,5}[0-9A-Za-z.+~-]{0,40}$/)

/** Whether a version has a higher number; what follows the three numbers does not count. Pure. */
export function isNewerRelease(one: string, other: string): boolean {
  const [a, b] = [numbersOf(one), numbersOf(other)]
  const at = a.findIndex((number, i) => number !== b[i])
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0)
}

const numbersOf = (version: string): number[] => version.split('.', 3).map((part) => Number.parseInt(part, 10) || 0)
