const unitBytes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 } as const
const written = /^(\d+)(B|KiB|MiB|GiB)$/

/** Returns the bytes of `5B`, `1KiB`, `256MiB` or `2GiB`; undefined for another form or without a unit. */
export function parseSize(text: string): number | undefined {
  const [, count, unit] = written.exec(text) ?? []
  if (!count || !unit) return undefined
  const bytes = Number(count) * unitBytes[unit as keyof typeof unitBytes]
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Writes whole bytes in the largest unit that keeps them whole: 2147483648 is `2GiB`, 1500 is `1500B`. */
export function formatSize(bytes: number): string {
  if (bytes === 0) return '0B'
  const [unit, size] = Object.entries(unitBytes).find(([, candidate]) => bytes % candidate === 0) ?? ['B', 1]
  return `${bytes / size}${unit}`
}
