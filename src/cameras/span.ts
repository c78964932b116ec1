/** From `fromMs` to `toMs`, exclusive. */
export type Span = { readonly fromMs: number; readonly toMs: number }

/** Returns what is left of a span without those that are taken, oldest first. */
export function without(span: Span, taken: readonly Span[]): Span[] {
  return taken.reduce<Span[]>((left, { fromMs, toMs }) => left.flatMap((piece) => cut(piece, fromMs, toMs)), [span])
}

function cut({ fromMs, toMs }: Span, cutFromMs: number, cutToMs: number): Span[] {
  if (cutToMs <= fromMs || cutFromMs >= toMs) return [{ fromMs, toMs }]
  const pieces = [
    { fromMs, toMs: cutFromMs },
    { fromMs: cutToMs, toMs },
  ]
  return pieces.filter((piece) => piece.toMs > piece.fromMs)
}
