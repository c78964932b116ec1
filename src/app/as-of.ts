/** Returns a function for a value made from part of the config. The value is made again when a reload has brought another part. */
export function madeOf<Part, Made>(part: () => Part, make: (part: Part) => Made): () => Made {
  let seen: { readonly part: Part; readonly made: Made } | undefined
  return () => {
    const now = part()
    if (seen?.part !== now) seen = { part: now, made: make(now) }
    return seen.made
  }
}

/** As `madeOf`, for a function. */
export function asOf<Part, Asked, Answer>(
  part: () => Part,
  make: (part: Part) => (asked: Asked) => Answer,
): (asked: Asked) => Answer {
  const made = madeOf(part, make)
  return (asked) => made()(asked)
}
