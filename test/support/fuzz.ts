import { chanceOf } from '../../scripts/simulate/leaves.ts'

/** A parser under test. */
export type Fuzzed = {
  readonly name: string
  /** Good input, from which the mutator begins. */
  readonly corpus: readonly Buffer[]
  /** Rejects or throws for bad input as its documentation says, or returns. */
  readonly parse: (bytes: Buffer) => unknown
  /** Whether the documentation names this error. Default: none. */
  readonly isExpected?: (error: unknown) => boolean
}

export type Fault = { readonly parser: string; readonly seed: number; readonly error: string; readonly base64: string }

/** Values beside which programs go wrong. */
const edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff] as const
const longest = 64 * 1024

/** Returns a changed copy; the same seed and corpus give the same bytes. */
export function mutated(corpus: readonly Buffer[], seed: number): Buffer {
  const chance = chanceOf(seed)
  const below = (n: number) => Math.floor(chance() * n)
  const pick = () => corpus[below(corpus.length)] ?? Buffer.alloc(0)
  let bytes: Buffer = Buffer.from(pick())
  for (let changes = 1 + below(6); changes > 0; changes -= 1) bytes = changed(bytes, pick(), below)
  return bytes.subarray(0, longest)
}

function changed(bytes: Buffer, other: Buffer, below: (n: number) => number): Buffer {
  const [at, to] = [below(bytes.length + 1), below(bytes.length + 1)].toSorted((a, b) => a - b) as [number, number]
  const around = (middle: Uint8Array) => Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(to)])
  const edge = edges[below(edges.length)] ?? 0
  switch (below(9)) {
    case 0: {
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8))
      return bytes
    }
    case 1: {
      if (at < bytes.length) bytes[at] = edge & 0xff
      return bytes
    }
    case 2: {
      if (at + 4 > bytes.length) return bytes
      if (below(2) === 0) bytes.writeUInt32BE(edge, at)
      else bytes.writeUInt32LE(edge, at)
      return bytes
    }
    case 3: {
      if (at + 2 <= bytes.length) bytes.writeUInt16BE(edge & 0xffff, at)
      return bytes
    }
    case 4:
      return bytes.subarray(0, at)
    case 5:
      return around(Buffer.alloc(0))
    case 6:
      return around(Buffer.concat([bytes.subarray(at, to), bytes.subarray(at, to)]))
    case 7:
      return around(other.subarray(below(other.length + 1)).subarray(0, 1 + below(64)))
    default:
      return around(Buffer.from(Array.from({ length: 1 + below(8) }, () => below(256))))
  }
}

/** Gives a parser `count` changed inputs, from `seed` on. Returns what it did that its documentation does not say. */
export async function fuzz(parser: Fuzzed, count: number, seed: number): Promise<Fault[]> {
  const faults: Fault[] = []
  for (let n = 0; n < count && faults.length < 3; n += 1) {
    const bytes = mutated(parser.corpus, seed + n)
    try {
      await parser.parse(Buffer.from(bytes))
    } catch (error) {
      if (parser.isExpected?.(error)) continue
      const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      faults.push({ parser: parser.name, seed: seed + n, error: words, base64: bytes.toString('base64') })
    }
  }
  return faults
}
