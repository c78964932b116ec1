/** A function that is made from part of the config, and made anew when a reload has brought another. */
export function asOf<Part, Asked, Answer>(
  part: () => Part,
  make: (part: Part) => (asked: Asked) => Answer,
): (asked: Asked) => Answer {
  let seen: { readonly part: Part; readonly answer: (asked: Asked) => Answer } | undefined
  return (asked) => {
    const now = part()
    if (seen?.part !== now) seen = { part: now, answer: make(now) }
    return seen.answer(asked)
  }
}
