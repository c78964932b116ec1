import { areSame } from './bytes.ts'
import { BadStep, type Facts, readHandOverParts, readLeaf, readTlogProof } from './reading.ts'
import { algorithmNames, checkSignatures, readVerifierKey, readVerifierKeys, type VerifierKey } from './signatures.ts'
import { leafHash, rootOfPath } from './tree.ts'
import type { Crypto } from './web-crypto.ts'

type Pair = readonly [VerifierKey, VerifierKey]
type Pairs = { readonly previousKeys: Pair; readonly keys: Pair }

/**
 * Checks each hand-over of a log, and returns the keys that are trusted with those to which they were rotated, the newest last. A
 * hand-over counts when all four keys that its leaf names have signed the checkpoint that covers the leaf. An algorithm that this
 * WebCrypto lacks is left out, but never Ed25519. Earlier keys are never trusted because of a later one: they may be stolen by now.
 * Throws a BadStep for one that does not hold.
 * @param trusted verifier keys
 */
export async function followHandOvers(
  crypto: Crypto,
  origin: string,
  handOvers: readonly unknown[],
  trusted: readonly string[],
): Promise<readonly string[]> {
  const known = new Set(trusted)
  for (const handOver of handOvers) {
    const { previousKeys, keys } = await readHandOver(crypto, origin, handOver)
    if (previousKeys.some(({ vkey }) => known.has(vkey))) for (const { vkey } of keys) known.add(vkey)
  }
  return [...known]
}

async function readHandOver(crypto: Crypto, origin: string, handOver: unknown): Promise<Pairs> {
  const fails = (words: string) => new BadStep('signature', `a hand-over of the keys does not hold: ${words}`)
  const parts = readHandOverParts(handOver)
  if (!parts) throw fails('it cannot be read')
  try {
    const proof = readTlogProof(parts.tlogProof)
    const { facts } = readLeaf(parts.leaf, proof)
    const { origin: signed, size, root } = proof.checkpoint
    const named = await pairsIn(crypto, facts, origin)
    if (facts['kind'] !== 'log-key' || signed !== origin || !named) throw fails('its leaf names no keys of this log')
    const reached = await rootOfPath(crypto, { ...proof, size }, await leafHash(crypto, parts.leaf))
    if (!reached || !areSame(reached, root)) throw fails('its path does not lead to the signed root')
    for (const key of [...named.previousKeys, ...named.keys]) {
      const checked = await checkSignatures(crypto, proof.note, [key])
      const isSigned = checked.some(({ state }) => state === 'holds' || (state === 'not checked' && key.type === 6))
      if (!isSigned)
        throw fails(`the ${algorithmNames[key.type]} key ${key.id} that it names did not sign its checkpoint`)
    }
    return named
  } catch (error) {
    if (!(error instanceof BadStep) || error.step === 'signature') throw error
    throw fails(error.message)
  }
}

async function pairsIn(crypto: Crypto, { previousKeys, keys, seq }: Facts, origin: string): Promise<Pairs | undefined> {
  const before = await pairOf(crypto, previousKeys, origin)
  const after = await pairOf(crypto, keys, origin)
  return before && after && typeof seq === 'number' ? { previousKeys: before, keys: after } : undefined
}

async function pairOf(crypto: Crypto, value: unknown, origin: string): Promise<Pair | undefined> {
  const vkeys: unknown[] = Array.isArray(value) ? value : []
  if (vkeys.length !== 2 || !vkeys.every((vkey) => typeof vkey === 'string')) return undefined
  const [ed25519, mlDsa44] = await readVerifierKeys(crypto, vkeys)
  const isPair = ed25519?.type === 1 && mlDsa44?.type === 6
  return isPair && ed25519.name === origin && mlDsa44.name === origin ? [ed25519, mlDsa44] : undefined
}

/**
 * Returns the Ed25519 key to which a log rotated a key that a reader knows; the known key without a rotation, or when a hand-over
 * does not hold.
 */
export async function keyAfter(crypto: Crypto, vkey: string, handOvers: readonly unknown[]): Promise<string> {
  const known = await readVerifierKey(crypto, vkey)
  if (!known) return vkey
  try {
    const led = await followHandOvers(crypto, known.name, handOvers, [vkey])
    return (await readVerifierKeys(crypto, led)).findLast(({ type }) => type === 1)?.vkey ?? vkey
  } catch (error) {
    if (error instanceof BadStep) return vkey
    throw error
  }
}
