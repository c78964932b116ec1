import {
  type Crypto,
  checkBundle,
  fromBase64,
  type HashedFile,
  hashedBytes,
  keyAfter,
  parseObject,
} from '../../../proof/index.ts'
import type { LeafProof, Receipt } from '../data/shapes.ts'
import { type KeeperVerdict, type KeptCheckpoint, keepCheckpoint } from './checkpoint-keeper.ts'

export type ReceiptQuestion = {
  readonly receipt: Receipt
  readonly kept: KeptCheckpoint | undefined
  readonly crypto: Crypto
  /** Returns the proof of GET /api/log/consistency (base64). Its errors are passed on. */
  readonly proof: (from: number, to: number) => Promise<readonly string[]>
  /** Returns the bytes of a photo by the address that the receipt gives; undefined when they cannot be fetched. Never rejects. */
  readonly photo: (url: string) => Promise<Uint8Array<ArrayBuffer> | undefined>
}

export type ReceiptVerdict = {
  /** Verdict on the newest checkpoint, against the one that this device stored. */
  readonly keeper: KeeperVerdict
  /** Why entries are not proven, as sentences; empty when all are. */
  readonly faults: readonly string[]
  /** Facts on the page that no proof states, so that they cannot be compared. */
  readonly uncompared: readonly string[]
}

/** More photos are not fetched to be compared: a phone pays for them. */
const mostPhotos = 24

/**
 * Checks a receipt on the device of its reader. The log continues the one that the device saw, each entry is in it as shown, and
 * all entries are of one log. It stores nothing.
 */
export async function checkReceipt({ receipt, kept, crypto, proof, photo }: ReceiptQuestion): Promise<ReceiptVerdict> {
  const { note, key } = receipt.checkpoint
  const handOvers = receipt.proofs.find(({ bundle }) => bundle.handOvers)?.bundle.handOvers ?? []
  const known = kept && { ...kept, vkey: await keyAfter(crypto, kept.vkey, handOvers) }
  const keeper = await keepCheckpoint({ note, vkey: key, kept: known, proof })
  if (keeper.kind !== 'kept') return { keeper, faults: [], uncompared: [] }
  const vkey = keeper.kept.vkey
  const faults: string[] = []
  const heads = new Map<string, KeptCheckpoint>()
  const proven = new Set<string>()
  const steps: LeafProof[] = []
  const photos = await fetchedPhotos(receipt, crypto, photo)
  let absent = 0
  for (const { kind, id, bundle } of receipt.proofs) {
    const { findings } = await checkBundle(crypto, JSON.stringify(bundle), {
      keys: [vkey],
      acceptsOtherLogs: true,
      file: (item) => photos.get(item.sha256),
    })
    const failing = findings.find(({ state }) => state === 'fails')
    const isSigned = findings.some(({ step, state }) => step === 'signature' && state === 'holds')
    if (failing || !isSigned) faults.push(`The proof of entry ${id} fails: ${failing?.words ?? 'no signature'}.`)
    else if (isShown(receipt, kind, id, bundle)) {
      proven.add(`${kind} ${id}`)
      if (kind === 'unit-step') steps.push(bundle)
      absent += mediaOf(bundle).filter((hash) => !photos.has(hash)).length
    } else faults.push(`Entry ${id} says something else than its proof.`)
    const head = headOf(bundle.tlogProof, vkey)
    if (head?.origin === keeper.kept.origin) heads.set(`${head.size} ${head.root}`, head)
  }
  for (const { tlogProof } of handOvers) {
    const head = headOf(tlogProof, vkey)
    if (head?.origin === keeper.kept.origin) heads.set(`${head.size} ${head.root}`, head)
  }
  for (const head of heads.values()) {
    const verdict = await keepCheckpoint({ note, vkey, kept: head, proof })
    if (verdict.kind !== 'kept') faults.push(`A proof is of another history of the log. ${verdict.words}`)
  }
  for (const one of shownIn(receipt))
    if (!proven.has(one)) faults.push(`One entry that is shown here has no proof (${one}).`)
  const unit = compareUnit(receipt, steps)
  const missing =
    absent === 0
      ? []
      : [absent === 1 ? 'one photo that could not be fetched' : `${absent} photos that could not be fetched`]
  return {
    keeper,
    faults: [...new Set([...faults, ...unit.faults])],
    uncompared: [...missing, ...unit.uncompared, ...neverStated],
  }
}

/** Master data of the gateway, and its statements about the entries: they are in no leaf. */
const neverStated = ['the name of the warehouse', 'what each entry says about how far it is signed']

type Fetched = ReadonlyMap<string, HashedFile>

/** Hash and size of the photos that the page shows, by the hash under which it shows them. */
async function fetchedPhotos(
  { unit, placements }: Receipt,
  crypto: Crypto,
  photo: ReceiptQuestion['photo'],
): Promise<Fetched> {
  const shown = new Map([...unit.steps, ...placements].flatMap((row) => row.photos.map((one) => [one.sha256, one.url])))
  const some = [...shown].slice(0, mostPhotos)
  const fetched = await Promise.all(some.map(async ([hash, url]) => ({ hash, bytes: await photo(url) })))
  const found = new Map<string, HashedFile>()
  for (const { hash, bytes } of fetched) if (bytes) found.set(hash, await hashedBytes(crypto, bytes))
  return found
}

const unitFields = { reference: 'reference', sscc: 'SSCC', direction: 'direction', carrier: 'carrier' } as const

/** Compares the page's facts of the unit with its proved steps, oldest first: the newest statement of a fact counts. */
function compareUnit({ unit, complete }: Receipt, steps: readonly LeafProof[]) {
  const leaves = steps.map(factsOf)
  const faults: string[] = []
  const uncompared: string[] = []
  const compare = (what: string, shown: unknown, stated: unknown) => {
    if (stated === undefined && shown !== null) uncompared.push(`the ${what}`)
    else if (stated !== undefined && stated !== shown)
      faults.push(`The ${what} that is shown is not the one of the proofs.`)
  }
  for (const [key, what] of Object.entries(unitFields)) {
    compare(what, unit[key as keyof typeof unitFields], leaves.findLast((leaf) => leaf[key] !== undefined)?.[key])
  }
  compare(
    'vehicle',
    unit.vehicle,
    steps.map(vehicleOf).findLast((text) => text !== undefined),
  )
  if (complete) {
    compare('stage', unit.stage, leaves.at(-1)?.['toStage'])
    compare('status', unit.status, leaves.at(-1)?.['status'])
  } else uncompared.push('the stage and the status: the newest entries are not on this page')
  const isWeighed = unit.weightKg === null || leaves.some(({ scaleWeightKg }) => scaleWeightKg === unit.weightKg)
  if (!isWeighed) faults.push('The weight that is shown is not one of the proofs.')
  return { faults, uncompared }
}

/** The opened name of the vehicle; the check of the proof has compared it with the leaf. */
function vehicleOf(bundle: LeafProof): string | undefined {
  const { openings } = bundle as { openings?: readonly { field: string; text: string }[] }
  return openings?.find(({ field }) => field === 'vehicle')?.text
}

/** Hashes of the photos that a proof names; that its leaf states them was checked with the proof. */
function mediaOf(bundle: LeafProof): string[] {
  const { media } = bundle as { media?: readonly { sha256: string }[] }
  return (media ?? []).map(({ sha256 }) => sha256)
}

const shownIn = ({ unit, placements }: Receipt): string[] => [
  ...unit.steps.map(({ eventId }) => `unit-step ${eventId}`),
  ...placements.map(({ id }) => `event ${id}`),
]

/** Whether the leaf states the facts on the page. */
function isShown(receipt: Receipt, kind: string, id: string, bundle: LeafProof): boolean {
  const leaf = factsOf(bundle)
  const media = new Set(mediaOf(bundle))
  const areStated = (row: { readonly photos: readonly { readonly sha256: string }[] }) =>
    row.photos.every(({ sha256 }) => media.has(sha256))
  const said = { id: leaf.eventId, timestamp: leaf.timestamp, weightKg: leaf.scaleWeightKg ?? null }
  if (kind === 'unit-step') {
    const step = receipt.unit.steps.find(({ eventId }) => eventId === id)
    if (!step || leaf.unitId !== receipt.unit.id || said.id !== id || !areStated(step)) return false
    return same(
      [said.timestamp, said.weightKg, leaf.action, leaf.toStage],
      [step.timestamp, step.weightKg, step.action, step.stage],
    )
  }
  const move = receipt.placements.find((one) => String(one.id) === id)
  if (!move || String(leaf.id) !== id || !areStated(move)) return false
  return same(
    [said.timestamp, said.weightKg, leaf.eventType, leaf.assetBarcode, leaf.slotCode],
    [move.timestamp, move.weightKg, move.event_type, move.asset_barcode, move.slot_code],
  )
}

const same = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.every((value, i) => value === other[i])

/** Returns the facts of a leaf; an empty object for anything else. */
function factsOf({ leaf }: LeafProof): Readonly<Record<string, unknown>> {
  const bytes = fromBase64(leaf)
  return (bytes && parseObject(new TextDecoder().decode(bytes))) ?? {}
}

/** Returns the tree head in a proof as a checkpoint that may be continued; its signature was checked with the proof. */
function headOf(tlogProof: string, vkey: string): KeptCheckpoint | undefined {
  const note = tlogProof.slice(tlogProof.indexOf('\n\n') + 2)
  const [origin, size, root] = note.split('\n')
  return origin && size && root ? { origin, size: Number(size), root, vkey, note } : undefined
}
