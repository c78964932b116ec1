/** A witness from C2SP tlog-witness alone: no import from `src`. It answers exactly what the protocol says. */
import { openCheckpoint, parseAddCheckpoint, parseCheckpoint } from './checkpoint.ts'
import type { Signer } from './forge.ts'
import { verifyConsistency } from './merkle.ts'
import { parseVkey } from './note.ts'

export type WitnessAnswer = { readonly status: number; readonly type: string; readonly body: string }

export type ReferenceWitness = {
  /** Answers the body of POST `<prefix>/add-checkpoint`. */
  addCheckpoint(body: string): WitnessAnswer
  /** The size and root that were cosigned last for an origin. */
  latest(origin: string): { readonly size: number; readonly root: Buffer } | undefined
}

/**
 * Makes a witness that has seen nothing yet.
 *
 * @param logs verifier keys of the logs that it knows; their name is the origin
 * @param signers its own keys, of type 4 or 6
 * @param nowSeconds the time that its cosignatures state
 */
export function referenceWitness({
  logs,
  signers,
  nowSeconds,
}: {
  logs: readonly string[]
  signers: readonly Signer[]
  nowSeconds: () => bigint
}): ReferenceWitness {
  const known = logs.map(parseVkey)
  const seen = new Map<string, { size: number; root: Buffer }>()
  const answer = (status: number, body = '', type = 'text/plain; charset=utf-8') => ({ status, type, body })
  const conflict = (size: number) => answer(409, `${size}\n`, 'text/x.tlog.size')

  function addCheckpoint(text: string): WitnessAnswer {
    const request = attempt(() => parseAddCheckpoint(text))
    const claimed = request && attempt(() => parseCheckpoint(request.note))
    if (!request || !claimed) return answer(400)
    const keys = known.filter(({ name }) => name === claimed.origin)
    if (keys.length === 0) return answer(404)
    const checkpoint = attempt(() => openCheckpoint(request.note, keys))
    if (!checkpoint) return answer(403)
    const { origin, size, root } = checkpoint
    if (request.old > size) return answer(400)
    const before = seen.get(origin)
    if (request.old !== (before?.size ?? 0)) return conflict(before?.size ?? 0)
    if (before && before.size === size && !before.root.equals(root)) return conflict(size)
    if (!isConsistent(before, { size, root, proof: request.proof })) return answer(422)
    seen.set(origin, { size, root })
    return answer(200, signers.map((signer) => signer.line(checkpoint.text, nowSeconds())).join(''))
  }
  return { addCheckpoint, latest: (origin) => seen.get(origin) }
}

function isConsistent(
  before: { size: number; root: Buffer } | undefined,
  { size, root, proof }: { size: number; root: Buffer; proof: readonly Buffer[] },
): boolean {
  // Everything continues an empty tree, and there is nothing to prove.
  if (!before || before.size === 0) return proof.length === 0
  return verifyConsistency({ from: before.size, to: size, fromRoot: before.root, toRoot: root, proof })
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
