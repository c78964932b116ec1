/** One side of a fork: the leaf at the place, or the root over so many leaves, in base64; and the signed checkpoint. */
export type Side = { readonly leaf: string | null; readonly root: string | null; readonly note: string | null }

export type Difference = {
  readonly name: string
  readonly known: string | undefined
  readonly sent: string | undefined
}

/** Returns in what the two sides differ: the facts of the two leaves, or the two roots. Leaves that cannot be read are shown as bytes. Pure. */
export function differences(known: Side, sent: Side): Difference[] {
  if (known.leaf === null || sent.leaf === null) {
    return [{ name: 'root', known: known.root ?? undefined, sent: sent.root ?? undefined }]
  }
  const [one, other] = [factsOf(known.leaf), factsOf(sent.leaf)]
  if (!one || !other) return [{ name: 'bytes', known: known.leaf, sent: sent.leaf }]
  const found = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((name) => one[name] !== other[name])
    .map((name) => ({ name, known: one[name], sent: other[name] }))
  // The same facts in another order, or with other blanks.
  return found.length > 0 ? found : [{ name: 'bytes', known: known.leaf, sent: sent.leaf }]
}

function factsOf(leaf: string): Record<string, string> | undefined {
  try {
    const bytes = Uint8Array.from(atob(leaf), (character) => character.charCodeAt(0))
    const facts: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return undefined
    return Object.fromEntries(
      Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    )
  } catch {
    return undefined
  }
}
