import type { Readable } from 'node:stream'
import type { UnitOfWork } from '../../database/index.ts'
import type { SignedUrls } from '../../devices/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller, RequestOrigin } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import type { LedgerService } from '../../ledger/index.ts'
import type { EvidenceStates, Log, Provable } from '../../log/index.ts'
import type { Photos } from '../../photos/index.ts'
import { isoTime, type Logger, ownTurn } from '../../platform/index.ts'
import type { UnitService } from '../../units/index.ts'
import type { WarehouseService } from '../../warehouse/index.ts'
import { recipe } from '../bundle/package.ts'
import type { Proof, Proofs } from '../bundle/proofs.ts'
import { ZipStream } from '../incident/zip-stream.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import type { LogSigner } from '../transparency/keys.ts'
import { signedNote } from '../transparency/published-log.ts'
import type { Receipt, ReceiptPlacement, ReceiptUnit } from './schema.ts'

/** Rows of each kind on one receipt. */
const mostRows = 200
/** Rows read or proved in one turn; a proof takes one to three milliseconds of the main thread. */
const rowsInOneTurn = 8
/** Validity of the links that the page loads: photos, the file to keep, the proof that the log has only grown. */
const partSeconds = 3600
/** Validity of a driver's link. Files that were saved by then need no link. */
const linkSeconds = 90 * 86_400

export type ReceiptsNeeds = {
  readonly work: UnitOfWork
  readonly log: Logger
  readonly logRoom: Log
  readonly units: Pick<UnitService, 'unit' | 'provable' | 'workOrders'>
  readonly ledger: Pick<LedgerService, 'events' | 'provable'>
  readonly photos: Pick<Photos, 'isHeldFor'>
  readonly warehouse: Pick<WarehouseService, 'warehouse'>
  readonly proofs: Pick<Proofs, 'prove'>
  readonly checkpoints: Pick<Checkpoints, 'newest'>
  readonly evidenceStates: Pick<EvidenceStates, 'ofPage'>
  readonly signer: () => LogSigner
  readonly signedUrls: Pick<SignedUrls, 'signStanding'>
  readonly audit: AuditTrail
  /** `site.url`. */
  readonly siteUrl: () => string
}

type Proven = { readonly kind: 'unit-step' | 'event'; readonly id: string; readonly proof: Proof }
type Row = { readonly kind: Proven['kind']; readonly id: string; readonly provable: Provable }

type Move = { readonly placement: Omit<ReceiptPlacement, 'photos' | 'evidence'>; readonly row: Row }

/** Makes receipts for people who hand goods over: the records of one transport unit, with proofs to save. */
export class Receipts {
  readonly #needs: ReceiptsNeeds

  constructor(needs: ReceiptsNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the receipt of a unit, as far as the caller sees it and without names of people. Rejects with NOT_FOUND, and with
   * NOT_READY (Retry-After) while no checkpoint covers all of it.
   */
  async receipt(unitId: string, caller: Caller): Promise<Receipt> {
    const { steps, placements, complete } = await this.#rows(unitId, caller)
    const proven = await this.#proven([...steps, ...placements.map(({ row }) => row)])
    const part = (path: string) => this.#needs.signedUrls.signStanding(path, partSeconds, caller).url
    const path = `/api/whms/transport-units/${encodeURIComponent(unitId)}/receipt`
    return {
      unit: this.#unit(unitId, steps, caller),
      placements: this.#secured(placements).map((one, i) => ({
        ...one,
        photos: placements[i] ? this.#photos(placements[i].row, caller) : [],
      })),
      complete,
      proofs: proven.map(({ kind, id, proof }) => ({
        kind,
        id,
        bundle: proof.bundle as Receipt['proofs'][0]['bundle'],
      })),
      checkpoint: this.#checkpoint(),
      links: { consistency: part('/api/log/consistency'), zip: part(`${path}?format=zip`) },
    }
  }

  /** Returns the receipt as a zip: proofs with their photos, the checkpoint and the recipe. Rejects as `receipt` does. */
  async zip(unitId: string, caller: Caller): Promise<Readable> {
    const { steps, placements } = await this.#rows(unitId, caller)
    const proven = await this.#proven([...steps, ...placements.map(({ row }) => row)])
    const facts = {
      unit: withoutAddresses(this.#unit(unitId, steps, caller)),
      placements: this.#secured(placements),
      checkpoint: this.#checkpoint(),
    }
    const zip = new ZipStream()
    this.#pack(zip, facts, proven).catch((error: Error) => {
      if (!zip.output.destroyed) this.#needs.log.error({ err: error, unit: unitId }, 'a receipt ended early')
      zip.fail(error)
    })
    return zip.output
  }

  /** Makes the address of a receipt's page, which works without sign-in, and notes it in the audit trail. Rejects with NOT_FOUND. */
  async link(unitId: string, by: RequestOrigin) {
    const { units, work, audit, signedUrls, siteUrl, warehouse } = this.#needs
    const { reference, carrier, warehouseId } = units.unit(unitId, by.caller)
    const path = `/api/whms/transport-units/${encodeURIComponent(unitId)}/receipt`
    const { url, expiresAt } = signedUrls.signStanding(path, linkSeconds, by.caller)
    await work.write((tx) =>
      audit.write(tx, by, {
        action: 'transport_unit.receipt_handed_out',
        entity: 'transport_unit',
        entityId: unitId,
        changes: { expiresAt },
      }),
    )
    const page = `${siteUrl().replace(/\/+$/, '')}/receipt/${encodeURIComponent(unitId)}`
    const { timezone } = work.read((tx) => warehouse.warehouse(tx, warehouseId, by.caller))
    return { url: `${page}${url.slice(path.length)}`, expiresAt, reference, carrier, timezone }
  }

  /** Returns steps and placements of the unit, oldest first, each with a proof that opens no name. */
  async #rows(unitId: string, caller: Caller) {
    const { units } = this.#needs
    await ownTurn()
    const { warehouseId, history } = units.unit(unitId, caller)
    const provable = units.provable(unitId, caller)
    const steps = history.slice(0, mostRows).flatMap(({ eventId }, i): Row[] => {
      const one = provable[i]?.provable
      return one ? [{ kind: 'unit-step', id: eventId, provable: this.#closed(one, caller) }] : []
    })
    const found = await this.#placements(units.workOrders(unitId, caller), warehouseId, caller)
    const complete = steps.length === history.length && found.length <= mostRows
    return { steps, placements: found.slice(0, mostRows), complete }
  }

  async #placements(workOrders: readonly string[], warehouseId: number, caller: Caller): Promise<Move[]> {
    const { ledger } = this.#needs
    const pages = await Promise.all(
      workOrders.map((work_order_ref) =>
        // One more than is shown, so that a receipt knows that it is cut.
        ledger.events({ work_order_ref, warehouseId }, { limit: mostRows + 1, offset: 0 }, caller),
      ),
    )
    const events = pages.flatMap((page) => page.events).toSorted((a, b) => a.id - b.id)
    const moves: Move[] = []
    for (const [i, { id, event_type, asset_barcode, slot_code, timestamp, scale_weight_kg }] of events.entries()) {
      if (i % rowsInOneTurn === 0) await ownTurn()
      if (event_type !== 'PLACED' && event_type !== 'REMOVED') continue
      const placement = { id, event_type, asset_barcode, slot_code, timestamp, weightKg: scale_weight_kg }
      const row: Row = { kind: 'event', id: String(id), provable: this.#closed(ledger.provable(id, caller), caller) }
      moves.push({ placement, row })
    }
    return moves
  }

  /** Leaves out names, notes and files that the caller may not see; the leaf has them as commitments alone. */
  #closed({ openings, files, ...place }: Provable, caller: Caller): Provable {
    const { work, photos } = this.#needs
    return {
      ...place,
      openings: openings.filter(({ field }) => field === 'vehicle'),
      files: work.read((tx) =>
        files.filter(({ kind, sha256 }) => kind === 'photo' && photos.isHeldFor(tx, sha256, caller)),
      ),
    }
  }

  /** Adds the states as they are now: proving may just have signed the newest entries. */
  #secured(placements: readonly Move[]) {
    const places = placements.map(({ row: { provable } }) => ({ log_id: provable.log, leaf_seq: provable.seq }))
    const stateOf = this.#needs.work.read((tx) => this.#needs.evidenceStates.ofPage(tx, places))
    return placements.map(({ placement }, i) => ({
      ...placement,
      evidence: places[i] ? stateOf(places[i]) : { state: 'recorded' as const },
    }))
  }

  async #proven(rows: readonly Row[]): Promise<Proven[]> {
    const { proofs } = this.#needs
    // The newest row first: the checkpoint that it needs covers all the others.
    const bySeq = rows.toSorted((a, b) => b.provable.log - a.provable.log || b.provable.seq - a.provable.seq)
    const made = new Map<Row, Proof>()
    for (const [i, row] of bySeq.entries()) {
      if (i % rowsInOneTurn === 0) await ownTurn()
      made.set(row, withoutReceivers(await proofs.prove(row.provable)))
    }
    return rows.flatMap((row) => {
      const proof = made.get(row)
      return proof ? [{ kind: row.kind, id: row.id, proof }] : []
    })
  }

  #unit(unitId: string, steps: readonly Row[], caller: Caller): ReceiptUnit {
    const { units, work, warehouse, evidenceStates, logRoom } = this.#needs
    const unit = units.unit(unitId, caller)
    const places = steps.map(({ provable: { log, seq } }) => ({ log_id: log, leaf_seq: seq }))
    const { hall, stateOf } = work.read((tx) => ({
      hall: warehouse.warehouse(tx, unit.warehouseId, caller),
      stateOf: evidenceStates.ofPage(tx, places),
    }))
    const { id, reference, sscc, direction, carrier, vehicle, stage, status, createdAt, completedAt } = unit
    return {
      id,
      reference,
      sscc,
      direction,
      carrier,
      vehicle,
      stage,
      status,
      createdAt,
      completedAt,
      siteId: logRoom.identity.siteId,
      warehouse: hall.name,
      timezone: hall.timezone,
      weightKg: unit.evidence.scaleReading,
      steps: unit.history.slice(0, steps.length).map(({ eventId, action, toStage, timestamp, scaleReading }, i) => ({
        eventId,
        action,
        stage: toStage,
        timestamp,
        weightKg: scaleReading,
        photos: steps[i] ? this.#photos(steps[i], caller) : [],
        evidence: places[i] ? stateOf(places[i]) : { state: 'recorded' as const },
      })),
    }
  }

  #photos({ provable: { files } }: Row, caller: Caller): ReceiptPlacement['photos'] {
    return files
      .filter(({ path }) => path !== null)
      .map(({ sha256 }) => ({
        sha256,
        url: this.#needs.signedUrls.signStanding(`/api/whms/evidence/photos/${sha256}`, partSeconds, caller).url,
      }))
  }

  #checkpoint(): Receipt['checkpoint'] {
    const { checkpoints, work, logRoom, signer } = this.#needs
    const newest = checkpoints.newest()
    if (!newest) throw new AppError('NOT_READY', 'The log has no signed checkpoint yet', { retryAfterSeconds: 5 })
    return {
      logId: logRoom.identity.logId,
      size: newest.size,
      rootHash: newest.root.toString('base64'),
      signedAt: isoTime(newest.signed_at_ms),
      note: work.read((tx) => signedNote(tx, newest)),
      key: signer().vkeys[0],
    }
  }

  async #pack(zip: ZipStream, facts: { checkpoint: Receipt['checkpoint'] }, proven: readonly Proven[]): Promise<void> {
    await zip.addText('README.txt', readme)
    await zip.addText('recipe.sh', recipe())
    await zip.addText('receipt.json', `${JSON.stringify(facts, undefined, 2)}\n`)
    await zip.addText('checkpoint.txt', facts.checkpoint.note)
    for (const [i, { kind, id, proof }] of proven.entries()) {
      const name = kind === 'event' ? `placement-${id}` : `step-${i + 1}`
      await zip.addText(`${name}/${name}.proof.json`, `${JSON.stringify(proof.bundle, undefined, 2)}\n`)
      for (const { path, name: file } of proof.files) {
        if (path !== null) await zip.addFile(`${name}/${file}`, path)
      }
    }
    zip.end()
  }
}

/** Unknown callers must not see the receivers of webhooks. */
function withoutReceivers({ bundle, files }: Proof): Proof {
  return { bundle: { ...bundle, anchors: bundle.anchors.filter(({ kind }) => kind !== 'webhook') }, files }
}

/** Signed addresses are of no use in a file that is kept. */
function withoutAddresses({ steps, ...unit }: ReceiptUnit) {
  return { ...unit, steps: steps.map(({ photos: _, ...step }) => step) }
}

const readme = `Receipt of a gatehouse gateway: what was recorded when goods were handed over.

receipt.json      what the page showed
*.proof.json      one entry of the log each: the entry, the path to the root, the signed checkpoint; photos lie beside it
checkpoint.txt    the newest signed checkpoint of the log; keep it

Check one proof on any Linux with base64, sha256sum, xxd, openssl and jq:

    sh recipe.sh step-1/step-1.proof.json

With gatehouse: gatehouse ledger verify FILE.zip, and gatehouse ledger verify --checkpoint checkpoint.txt at the box.

Compare the key that is printed with one that you know from elsewhere. The key of a log changes only by a hand-over that the key
before has signed; the bundles name it under handOvers.
`
