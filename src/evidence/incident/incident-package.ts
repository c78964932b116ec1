import type { Readable } from 'node:stream'
import type { ConfiguredCameras, Gaps } from '../../cameras/index.ts'
import type { UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Traces } from '../../floor/index.ts'
import type { Governance, Incident } from '../../governance/index.ts'
import type { Ask, Caller } from '../../http/index.ts'
import type { AuditTrail } from '../../journal/index.ts'
import type { LedgerService } from '../../ledger/index.ts'
import { type Provable, type ProvableFile, removalOf, removalsOfDetection } from '../../log/index.ts'
import type { Photos } from '../../photos/index.ts'
import { isoTime, type Logger } from '../../platform/index.ts'
import type { UnitService } from '../../units/index.ts'
import type { WarehouseService } from '../../warehouse/index.ts'
import { recipe } from '../bundle/package.ts'
import type { Proof, Proofs } from '../bundle/proofs.ts'
import type { Checkpoints } from '../transparency/checkpoints.ts'
import type { Manifest, Missing, PackagedItem } from './manifest.ts'
import { indexPage, readme } from './pages.ts'
import { ZipStream } from './zip-stream.ts'

/** Gaps of cameras and rows of the trail are taken from this long before the first thing to this long after the last. */
const aroundMs = 10 * 60_000
/** Films that show the moment of an event are searched this far around it. */
const filmSeconds = 60
const mostDetections = 500
/** Packages that are made at the same time: each reads the ledger and the disk as fast as its client takes it. */
const mostPackages = 2
/** A package of some clips takes about so long. */
const retrySeconds = 30
/** Rows of the trail about one thing. */
const mostRows = 1000

export type IncidentPackagesNeeds = {
  readonly work: UnitOfWork
  readonly log: Logger
  readonly governance: Pick<Governance, 'incidents' | 'audit'>
  readonly ledger: Pick<LedgerService, 'event'>
  readonly traces: Pick<Traces, 'footage'>
  readonly units: Pick<UnitService, 'unit' | 'provable'>
  readonly photos: Pick<Photos, 'file'>
  readonly warehouse: Pick<WarehouseService, 'slotByPath'>
  readonly cameras: Pick<ConfiguredCameras, 'watching' | 'isVisible' | 'site'>
  readonly gaps: Pick<Gaps, 'sight'>
  readonly proofs: Pick<Proofs, 'of' | 'prove'>
  readonly checkpoints: Pick<Checkpoints, 'make'>
  readonly audit: AuditTrail
  readonly nowMs: () => number
}

/** Packs everything that an incident refers to, with proofs, into one file for people outside. */
export class IncidentPackages {
  readonly #needs: IncidentPackagesNeeds
  #open = 0

  constructor(needs: IncidentPackagesNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the package of an incident as a stream of a zip, with only the parts that the caller may see. Signs a checkpoint first,
   * so that all of it can be proved, and writes an entry of the audit trail. Rejects with NOT_FOUND, NOT_READY, and
   * PACKAGES_WAITING (Retry-After) while others are made. The stream ends with an error when it cannot be completed.
   */
  async open(id: number | undefined, { by }: Pick<Ask, 'by'>): Promise<{ name: string; stream: Readable }> {
    const { governance, checkpoints, audit, work, log } = this.#needs
    const incident = governance.incidents.incident(id, by.caller)
    const release = this.#take()
    try {
      const checkpoint = await checkpoints.make()
      await work.write((tx) =>
        audit.write(tx, by, { action: 'incident.packaged', entity: 'incident', entityId: incident.id }),
      )
      const zip = new ZipStream()
      zip.output.once('close', release)
      const head = { size: checkpoint.size, rootHash: checkpoint.root.toString('base64') }
      new Packing(this.#needs, zip, incident, by.caller, head).run().catch((error: Error) => {
        if (!zip.output.destroyed)
          log.error({ err: error, incident: incident.id }, 'the package of an incident ended early')
        zip.fail(error)
      })
      return { name: `incident-${incident.id}`, stream: zip.output }
    } catch (error) {
      release()
      throw error
    }
  }

  /**
   * Takes one of the places, and returns the function that releases it. A client that stops reading loses its connection after a
   * minute.
   */
  #take(): () => void {
    if (this.#open >= mostPackages) {
      throw new AppError('PACKAGES_WAITING', `${mostPackages} packages of incidents are being made already`, {
        retryAfterSeconds: retrySeconds,
      })
    }
    this.#open += 1
    let isTaken = true
    return () => {
      if (isTaken) this.#open -= 1
      isTaken = false
    }
  }
}

/** One package while it is made. */
class Packing {
  readonly #needs: IncidentPackagesNeeds
  readonly #zip: ZipStream
  readonly #incident: Incident
  readonly #caller: Caller
  readonly #checkpoint: Manifest['checkpoint']
  readonly #items: PackagedItem[] = []
  readonly #missing: Missing[] = []
  readonly #slots = new Set<string>()
  readonly #cameras = new Set<number>()
  readonly #detections = new Set<number>()
  /** Those that the incident itself refers to; films of events give way to them. */
  readonly #named = new Set<number>()
  readonly #times: number[]

  constructor(
    needs: IncidentPackagesNeeds,
    zip: ZipStream,
    incident: Incident,
    caller: Caller,
    checkpoint: Manifest['checkpoint'],
  ) {
    this.#needs = needs
    this.#zip = zip
    this.#incident = incident
    this.#caller = caller
    this.#checkpoint = checkpoint
    this.#times = [Date.parse(incident.createdAt)]
  }

  async run(): Promise<void> {
    const incident = this.#incident
    await this.#json('incident/incident.json', incident)
    for (const { change, provable } of this.#needs.governance.incidents.provable(incident.id, this.#caller)) {
      const item = {
        kind: 'change',
        id: String(change),
        timestamp: null,
        words: `change ${change} of the incident`,
      } as const
      await this.#prove(`incident/change-${change}`, item, () => this.#needs.proofs.prove(provable))
    }
    const references: { type: string; id: string | null; included: boolean }[] = []
    for (const { type, id } of incident.evidenceReferences) {
      references.push({ type, id, included: id !== null && (await this.#reference(type, id)) })
    }
    const ordered = [...new Set([...this.#named, ...this.#detections])]
    for (const id of ordered.slice(0, mostDetections)) await this.#detection(id)
    for (const id of ordered.slice(mostDetections)) this.#leaveOut(id)
    const span = { fromMs: Math.min(...this.#times) - aroundMs, toMs: Math.max(...this.#times) + aroundMs }
    await this.#gaps({ fromMs: span.fromMs, toMs: Math.min(span.toMs, this.#needs.nowMs()) })
    await this.#custody()
    await this.#finish(references, span)
  }

  /** Says whether the package holds what is behind the reference. */
  async #reference(type: string, id: string): Promise<boolean> {
    switch (type) {
      case 'event':
        return this.#event(Number(id))
      case 'detection_event':
        this.#named.add(Number(id))
        this.#detections.add(Number(id))
        return true
      case 'transport_unit':
        return this.#unit(id)
      case 'photo':
        return this.#photo(id)
      case 'slot':
        return this.#found(() => {
          const { warehouse, work } = this.#needs
          this.#slots.add(work.read((tx) => warehouse.slotByPath(tx, id, false, this.#caller)).slot_id)
        })
      case 'camera':
        if (this.#needs.cameras.isVisible(Number(id), this.#caller)) this.#cameras.add(Number(id))
        return this.#cameras.has(Number(id))
      default:
        return false
    }
  }

  /** Parts that were hidden or removed since the incident was read are left out. */
  async #found(work: () => void | Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return false
      throw error
    }
  }

  #event(id: number): Promise<boolean> {
    return this.#found(async () => {
      const event = this.#needs.ledger.event(id, this.#caller)
      this.#slots.add(event.slot_code)
      this.#times.push(Date.parse(event.timestamp))
      const folder = `events/${id}`
      const words = `${event.event_type} of ${event.asset_barcode} in slot ${event.slot_code}`
      const item = { kind: 'event', id: String(id), timestamp: event.timestamp, words } as const
      await this.#json(`${folder}/event.json`, event)
      await this.#prove(`${folder}/event-${id}`, item, () => this.#needs.proofs.of('event', id, this.#caller))
      const { clips } = this.#needs.traces.footage(id, filmSeconds, this.#caller)
      for (const { detectionId } of clips) this.#detections.add(detectionId)
    })
  }

  async #detection(id: number): Promise<void> {
    const folder = `detections/${id}`
    const item = { kind: 'detection', id: String(id), timestamp: null, words: `detection ${id}` } as const
    await this.#found(() =>
      this.#prove(`${folder}/detection-${id}`, item, async () => {
        const proof = await this.#needs.proofs.of('detection', id, this.#caller)
        const leaf = JSON.parse(Buffer.from(proof.bundle.leaf, 'base64').toString('utf8')) as Record<string, unknown>
        const time = Date.parse(String(leaf['timestamp']))
        if (!Number.isNaN(time)) this.#times.push(time)
        if (typeof leaf['cctvId'] === 'number') this.#cameras.add(leaf['cctvId'])
        return proof
      }),
    )
  }

  /** Names a film of an event that does not fit any more, with its hash. */
  #leaveOut(id: number): void {
    this.#detections.delete(id)
    const path = `detections/${id}`
    const why = `left out: a package has at most ${mostDetections} detections; GET /api/iot/detection-events/${id}/proof proves it`
    this.#missing.push({ path, sha256: null, why, removal: null })
  }

  #unit(id: string): Promise<boolean> {
    return this.#found(async () => {
      const { units, proofs } = this.#needs
      await this.#json(`units/${id}/unit.json`, units.unit(id, this.#caller))
      for (const { row, provable } of units.provable(id, this.#caller)) {
        const item = {
          kind: 'unit-step',
          id: String(row),
          timestamp: null,
          words: `step ${row} of unit ${id}`,
        } as const
        await this.#prove(`units/${id}/step-${row}/step-${row}`, item, () => proofs.prove(provable))
      }
    })
  }

  async #photo(sha256: string): Promise<boolean> {
    const path = `photos/${sha256}`
    try {
      const { path: file, mediaType } = this.#needs.photos.file(sha256, this.#caller)
      const name = `${path}.${mediaType.split('/')[1]}`
      const added = await this.#zip.addFile(name, file)
      if (!added) this.#missing.push({ path: name, sha256, why: 'not on this box', removal: null })
      const words = `photo ${sha256}`
      this.#items.push({ kind: 'photo', id: sha256, proof: null, files: added ? [name] : [], timestamp: null, words })
      return added !== undefined
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
      const removal = await this.#removal(sha256, undefined)
      this.#missing.push({ path, sha256, why: removal?.why ?? error.message, removal: removal?.proof ?? null })
      return false
    }
  }

  /** Adds a bundle as `NAME.proof.json` with its files beside it, and names the files that cannot be added. */
  async #prove(name: string, item: Omit<PackagedItem, 'proof' | 'files'>, prove: () => Promise<Proof>): Promise<void> {
    const path = `${name}.proof.json`
    try {
      const { bundle, files } = await prove()
      await this.#zip.addText(path, `${JSON.stringify(bundle, undefined, 2)}\n`)
      const added: string[] = []
      for (const file of files) {
        const at = `${name.slice(0, name.lastIndexOf('/'))}/${file.name}`
        if (await this.#file(at, file, item)) added.push(at)
      }
      this.#items.push({ ...item, proof: path, files: added })
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'NOT_FOUND') throw error
      this.#missing.push({ path, sha256: null, why: error.message, removal: null })
    }
  }

  async #file(at: string, file: ProvableFile, item: Pick<PackagedItem, 'kind' | 'id'>): Promise<boolean> {
    const { sha256 } = file
    if (file.kind !== 'photo' && this.#needs.cameras.site.fourEyesForExport) {
      const why = 'withheld: clips leave this gateway with the agreement of two people (privacy.fourEyesForExport)'
      this.#missing.push({ path: at, sha256, why, removal: null })
      return false
    }
    const added = file.path === null ? undefined : await this.#zip.addFile(at, file.path)
    if (added?.sha256 === sha256) return true
    if (added) {
      this.#missing.push({
        path: at,
        sha256,
        why: 'the file on this box has other bytes than the log states',
        removal: null,
      })
      return true
    }
    const removal = await this.#removal(sha256, item.kind === 'detection' ? Number(item.id) : undefined)
    this.#missing.push({ path: at, sha256, why: removal?.why ?? 'not on this box', removal: removal?.proof ?? null })
    return false
  }

  /** Adds the proof that a file was removed from this box; undefined when no leaf states it. */
  async #removal(sha256: string, detectionId: number | undefined) {
    const row = this.#needs.work.read((tx) =>
      detectionId === undefined
        ? removalOf(tx, sha256)
        : removalsOfDetection(tx, detectionId).find((one) => one.sha256 === sha256),
    )
    if (!row) return undefined
    const provable: Provable = { log: row.log_id, seq: row.leaf_seq, openings: [], files: [] }
    const timestamp = isoTime(row.removed_at_ms)
    const why = `removed from this box at ${timestamp}: ${row.cause} (${row.policy})`
    const name = `removed/removal-${row.id}`
    const item = { kind: 'removal', id: String(row.id), timestamp, words: `${why}, ${sha256}` } as const
    if (!this.#items.some(({ kind, id }) => kind === 'removal' && id === item.id)) {
      await this.#prove(name, item, () => this.#needs.proofs.prove(provable))
    }
    return { why, proof: `${name}.proof.json` }
  }

  /** Adds the gaps of the cameras that watch the slots, with their causes. */
  async #gaps(span: { readonly fromMs: number; readonly toMs: number }): Promise<void> {
    const { cameras, gaps } = this.#needs
    for (const slot of this.#slots) {
      for (const { id } of cameras.watching(slot, this.#caller).visible) this.#cameras.add(id)
    }
    const visible = [...this.#cameras].filter((id) => cameras.isVisible(id, this.#caller)).sort((a, b) => a - b)
    const sight = await gaps.sight(visible, span)
    await this.#json('gaps.json', { from: isoTime(span.fromMs), to: isoTime(span.toMs), ...sight })
  }

  /** Adds the acts of people on the evidence: playbacks, exports, redactions and all else that the audit trail has about it. */
  async #custody(): Promise<void> {
    const units = this.#incident.evidenceReferences.filter(({ type }) => type === 'transport_unit')
    const things = [
      { entity: 'incident' as const, ids: [String(this.#incident.id)] },
      { entity: 'event' as const, ids: this.#items.flatMap(({ kind, id }) => (kind === 'event' ? [id] : [])) },
      { entity: 'detection_event' as const, ids: [...this.#detections].map(String) },
      { entity: 'transport_unit' as const, ids: units.flatMap(({ id }) => id ?? []) },
      { entity: 'photo' as const, ids: this.#items.flatMap(({ kind, id }) => (kind === 'photo' ? [id] : [])) },
    ]
    const custody = []
    for (const { entity, ids } of things) {
      for (const entityId of ids) {
        const page = { limit: mostRows, offset: 0 }
        const { data, hasMore } = await this.#needs.governance.audit.entries({ entity, entityId }, page, this.#caller)
        custody.push({ entity, id: entityId, complete: !hasMore, entries: data })
      }
    }
    await this.#json('custody.json', { custody })
  }

  async #finish(references: Manifest['references'], span: { fromMs: number; toMs: number }): Promise<void> {
    await this.#zip.addText('recipe.sh', recipe())
    await this.#zip.addText('README.txt', readme(this.#incident.id))
    const manifest: Manifest = {
      format: 'gatehouse-incident-package/1',
      incident: this.#incident.id,
      madeAt: isoTime(this.#needs.nowMs()),
      checkpoint: this.#checkpoint,
      from: isoTime(span.fromMs),
      to: isoTime(span.toMs),
      items: this.#items,
      references,
      missing: this.#missing,
      files: this.#zip.files.slice(),
    }
    await this.#zip.addText('index.html', indexPage(this.#incident, manifest))
    await this.#json('manifest.json', { ...manifest, files: this.#zip.files.slice() })
    this.#zip.end()
  }

  async #json(path: string, value: unknown): Promise<void> {
    await this.#zip.addText(path, `${JSON.stringify(value, undefined, 2)}\n`)
  }
}
