import type { KeyObject } from 'node:crypto'
import {
  cosign,
  type NoteKey,
  readAddCheckpoint,
  readCheckpointText,
  readNote,
  readVkey,
  sizeType,
  verifySignatures,
  vkeyOf,
  type WitnessAnswer,
} from '../evidence/index.ts'
import { isContinuation, MerkleFrontier, sha256 } from '../log/index.ts'
import { type Clock, isoTime, type Logger } from '../platform/index.ts'
import { findCheckpoint, isKept, keepNewest, noteOver } from './feed/checkpoints.ts'
import {
  type Contradiction,
  ensureHead,
  type FedLog,
  type Head,
  keepEvidence,
  lockHead,
  markHead,
  raiseAlert,
} from './feed/store.ts'
import type { StoredRoots } from './feed/stored-tree.ts'
import type { HubDatabase, HubTx, HubWrite } from './store/database.ts'
import { hubStatement } from './store/statement.ts'

const logByOrigin = hubStatement(
  'log-by-origin',
  `SELECT l.log_id, l.site_id, l.origin, coalesce(h.vkeys, l.vkeys) AS vkeys, l.superseded_by, l.ends_at,
     l.retired_at IS NOT NULL AS is_retired FROM log l
   LEFT JOIN log_head h ON h.log_id = l.log_id WHERE l.origin = $1`,
)
const movedWitness = hubStatement(
  'move-witnessed',
  `UPDATE log_head SET witnessed_size = $2, witnessed_root = $3, witnessed_note = $4, witnessed_cosignature = $5, witnessed_at = $6
   WHERE log_id = $1`,
)
const everyWitnessed = hubStatement(
  'every-witnessed',
  `SELECT l.origin, h.witnessed_size, h.witnessed_root FROM log_head h JOIN log l ON l.log_id = h.log_id
   WHERE h.witnessed_size > 0 ORDER BY l.origin`,
)

const plain = 'text/plain; charset=utf-8'
const answer = (status: WitnessAnswer['status'], body = '', type = plain): WitnessAnswer => ({ status, type, body })
const conflict = (size: number) => answer(409, `${size}\n`, sizeType)

type Asked = NonNullable<ReturnType<typeof readAddCheckpoint>> & {
  readonly text: string
  readonly size: number
  readonly root: Buffer
}

export type HubWitnessNeeds = {
  readonly db: HubDatabase
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly roots: StoredRoots
  readonly key: NoteKey
  readonly pair: KeyObject
}

/**
 * Witnesses the logs of the enrolled gateways, as c2sp.org/tlog-witness says. Checkpoints that a feed confirmed and those confirmed
 * here are one state: the head of the log.
 */
export class HubWitness {
  readonly #needs: HubWitnessNeeds

  constructor(needs: HubWitnessNeeds) {
    this.#needs = needs
  }

  /** The verifier key under which checkpoints are confirmed. */
  get vkey(): string {
    return vkeyOf(this.#needs.key)
  }

  /** Returns the signature line under the text of a checkpoint. Call it only for checkpoints that are in the transaction. */
  cosign(text: string, nowMs: number): string {
    return cosign(this.#needs.key, this.#needs.pair, text, nowMs)
  }

  /** Answers the body of POST add-checkpoint. */
  async addCheckpoint(body: string): Promise<WitnessAnswer> {
    const request = readAddCheckpoint(body)
    const note = request && readNote(request.note)
    const head = note && readCheckpointText(note.text)
    if (!request || !note || !head) return answer(400, 'this is no add-checkpoint request of c2sp.org/tlog-witness\n')
    const { db } = this.#needs
    const [log] = await db.rows<FedLog>(logByOrigin, [head.origin])
    if (!log || log.is_retired) return answer(404, 'this log is not known here, or retired\n')
    const keys = log.vkeys.flatMap((vkey) => readVkey(vkey) ?? [])
    const signatures = verifySignatures(note, keys)
    if (signatures.length === 0 || !signatures.every(({ holds }) => holds)) {
      return answer(403, 'no signature by a known key of this log\n')
    }
    if (request.old > head.size) return answer(400, 'the old size is larger than the checkpoint\n')
    const asked = { ...request, text: note.text, size: head.size, root: head.root }
    await ensureHead(db, log.log_id)
    return db.transaction((tx) => this.#takeIn(tx, log, asked))
  }

  /** Returns the verifier key, then a line `<origin> <size> <root>` for each log. */
  async list(): Promise<string> {
    type Row = { origin: string; witnessed_size: string; witnessed_root: Buffer }
    const rows = await this.#needs.db.rows<Row>(everyWitnessed, [])
    const lines = rows.map((row) => `${row.origin} ${row.witnessed_size} ${row.witnessed_root.toString('base64')}\n`)
    return `${this.vkey}\n${lines.join('')}`
  }

  async #takeIn(tx: HubWrite, log: FedLog, asked: Asked): Promise<WitnessAnswer> {
    const head = await lockHead(tx, log.log_id)
    if (head?.state !== 'live') return answer(403, 'this log shows two histories or is continued by another\n')
    const { size, root, old, proof, note } = asked
    const nowMs = this.#needs.clock.now()
    const known = await this.#rootKnown(tx, log.log_id, head, size)
    if (known && !known.equals(root)) {
      const knownNote = (await noteOver(tx, log.log_id, size)) ?? head.witnessedNote
      this.#keepFork(tx, log, { ...asked, known, knownNote })
      return conflict(head.witnessedSize)
    }
    if (old !== head.witnessedSize) return conflict(head.witnessedSize)
    const before = { size: head.witnessedSize, root: head.witnessedRoot ?? sha256('') }
    if (!isContinuation(before, { size, root }, proof)) return answer(422, 'the consistency proof does not hold\n')
    const cosignature = this.cosign(asked.text, nowMs)
    if (size > head.witnessedSize) {
      if (isKept(head, { size, atMs: nowMs }, head.size)) keepNewest(tx, log.log_id)
      tx.send(movedWitness, [log.log_id, size, root, note, cosignature, isoTime(nowMs)])
    }
    return answer(200, cosignature)
  }

  /** The root at a size: from the leaves, if that many are stored, else from a checkpoint that was cosigned; undefined where neither tells it. */
  async #rootKnown(tx: HubTx, logId: string, head: Head, size: number): Promise<Buffer | undefined> {
    if (size === head.size) return MerkleFrontier.from(size, head.frontier).root()
    if (size < head.size) return this.#needs.roots.at(tx, logId, size)
    if (size === head.witnessedSize) return head.witnessedRoot ?? undefined
    return (await findCheckpoint(tx, logId, size))?.root
  }

  #keepFork(tx: HubWrite, log: FedLog, asked: Asked & Pick<Contradiction, 'known' | 'knownNote'>): void {
    const { clock, log: logger } = this.#needs
    const nowMs = clock.now()
    const sent = { sent: asked.root, sentNote: asked.note, sentHash: sha256(asked.note) }
    const known = { known: asked.known, knownNote: asked.knownNote }
    const detail = { place: asked.size, kind: 'root', siteId: log.site_id, seenAt: isoTime(nowMs) }
    markHead(tx, log.log_id, 'forked')
    keepNewest(tx, log.log_id)
    keepEvidence(tx, log.log_id, { place: asked.size, kind: 'root', ...known, ...sent }, nowMs)
    raiseAlert(tx, log.log_id, { id: 'log.forked', type: 'log.forked', severity: 'critical', detail }, nowMs)
    logger.error({ logId: log.log_id, ...detail }, 'a log has signed two roots for one size; both are kept')
  }
}
