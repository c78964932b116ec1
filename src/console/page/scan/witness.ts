import { keyAfter } from '../../../proof/index.ts'
import { readKept, writeKept } from '../data/kept-store.ts'
import { membersOf } from '../data/parsing.ts'
import type { LeafProof } from '../data/shapes.ts'
import { keepCheckpoint } from '../proof/checkpoint-keeper.ts'
import { type Credential, call, headersOf } from './gateway.ts'

/** State of the log on this device: `size` entries that it has seen, or an alarm. */
export type Watched = { readonly size: number } | { readonly alarm: string } | undefined

const againMs = 1500

/**
 * Compares the newest checkpoint with the stored one of this device, and stores it when it continues that. Undefined: not known
 * now.
 */
export async function watchLog(by: Credential): Promise<Watched> {
  try {
    const first = await look(by)
    if (first?.kind !== 'older') return resultOf(first)
    await new Promise((resolve) => setTimeout(resolve, againMs))
    return resultOf(await look(by))
  } catch {
    return undefined
  }
}

async function look(by: Credential) {
  const [noteAnswer, health, keys] = await Promise.all([
    fetch('/api/log/checkpoint', { headers: headersOf(by), cache: 'no-store' }),
    fetch('/api/health', { headers: headersOf(by), cache: 'no-store' }),
    call('/api/log/keys', by),
  ])
  const { logKey } = membersOf(await health.json())
  if (!noteAnswer.ok || keys.kind !== 'acknowledged' || typeof logKey !== 'string' || logKey === '') return undefined
  const kept = (await readKept())?.checkpoint
  const handOvers = (keys.answer['handOvers'] ?? []) as LeafProof[]
  const verdict = await keepCheckpoint({
    note: await noteAnswer.text(),
    vkey: logKey,
    kept: kept && { ...kept, vkey: await keyAfter(crypto.subtle, kept.vkey, handOvers) },
    proof: async (from, to) => {
      const outcome = await call(`/api/log/consistency?from=${from}&to=${to}`, by)
      if (outcome.kind !== 'acknowledged') throw new Error('no proof was answered')
      return outcome.answer['proof'] as string[]
    },
  })
  if (verdict.kind === 'kept') await writeKept({ checkpoint: verdict.kept, at: new Date().toISOString() })
  return verdict
}

const resultOf = (verdict: Awaited<ReturnType<typeof look>>): Watched =>
  verdict && (verdict.kind === 'kept' ? { size: verdict.kept.size } : { alarm: verdict.words })
