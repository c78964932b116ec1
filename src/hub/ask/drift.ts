/** Hashes of the sections of a config. */
export type Sections = Readonly<Record<string, string>>

/** Fewer boxes than this have no usual config. */
const fewestBoxes = 3

/**
 * Returns the hash that most boxes have in each section. A section that is not the same at more than half of them is left out. It
 * differs by its nature, as names and cameras do. Pure.
 */
export function usualSections(all: readonly Sections[]): Sections {
  if (all.length < fewestBoxes) return {}
  const names = new Set(all.flatMap((one) => Object.keys(one)))
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const counts = Map.groupBy(all, (one) => one[name] ?? '')
      const [usual, boxes] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? ['', []]
      return boxes.length * 2 > all.length && usual !== '' ? [[name, usual] as const] : []
    }),
  )
}

/** Returns the sections in which two differ, of those that both know. Pure. */
export function differing(one: Sections | null | undefined, other: Sections | null | undefined): string[] {
  if (!one || !other) return []
  return Object.keys(one)
    .filter((name) => name in other && one[name] !== other[name])
    .toSorted()
}
