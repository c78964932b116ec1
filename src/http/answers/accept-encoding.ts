/**
 * Returns whether an Accept-Encoding header accepts gzip (RFC 9110, 12.5.3). It does when gzip is named, or covered by `*`, with a
 * weight above 0 that is not below a named `identity`.
 */
export function takesGzip(header: string | string[] | undefined): boolean {
  const weights = new Map(
    [header ?? []]
      .flat()
      .join(',')
      .toLowerCase()
      .split(',')
      .map((part) => weighted(part)),
  )
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0)
}

function weighted(part: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim())
  const weight = parameters.map((p) => p.match(/^q\s*=\s*([\d.]+)$/)?.[1]).find((q) => q !== undefined)
  return [coding, weight === undefined ? 1 : Number(weight)]
}
