import { Recent } from '../../auth/index.ts'
import { AppError } from '../../errors/index.ts'
import { type NoteKey, readVkey } from '../../evidence/index.ts'
import type { FeedAnswer } from '../../feed/index.ts'
import { sha256 } from '../../log/index.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import { originOfLog } from '../../proof/index.ts'
import type { HubDatabase, HubWrite } from '../store/database.ts'
import { Ahead } from './ahead.ts'
import { isKept, keepCheckpoint, keepNewest } from './checkpoints.ts'
import { adopt, keysUnder, notEnrolled } from './fork.ts'
import { type Addition, Forked, isOverLeaves, knownBefore, weigh } from './intake.ts'
import { putBundles, putPlacements } from './leaves-store.ts'
import { type Erasures, erase, putOpenings } from './names-store.ts'
import { newestOf, newestSteps } from './registers.ts'
import { demandSignature, readFeed, type SentFeed } from './request.ts'
import { correctAssets, putAssets, putSlots, putUnits } from './snapshot-store.ts'
import {
  ensureHead,
  type FedLog,
  findLog,
  findLogOfToken,
  formerLogs,
  type Head,
  handOver,
  keepEvidence,
  lockHead,
  markHead,
  moveHead,
  moveNamed,
  raiseAlert,
} from './store.ts'
import type { StoredRoots } from './stored-tree.ts'

/** A feed was taken in, or it begins behind the end of the stored leaves. */
export type Fed =
  | { readonly kind: 'fed'; readonly answer: FeedAnswer }
  | { readonly kind: 'gap'; readonly size: number }

export type FeedServiceNeeds = {
  readonly db: HubDatabase
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly roots: StoredRoots
  /** Returns the signature line of the head office under the text of a checkpoint. */
  readonly cosign: (text: string, nowMs: number) => string
  readonly openings: 'never' | 'names'
  /** The version offered to a site; undefined: nothing. */
  readonly offerFor: (siteId: string) => Promise<{ readonly version: string } | undefined>
}

/** The site and log of a token. Its `log` is undefined when the log of the feed is not known as its site's. */
type OfToken = { readonly siteId: string; readonly log: FedLog | undefined }

/** Keys of so many logs; each takes some 10 KiB. */
const keysInMemory = 4096

/** Takes the logs of gateways in: one transaction a feed, acknowledged after it is on disk. */
export class FeedService {
  readonly #needs: FeedServiceNeeds
  readonly #ahead: Ahead
  /** Keys by their vkeys: reading one takes as long as a signature. */
  readonly #keys = new Recent<readonly NoteKey[]>(keysInMemory)

  constructor(needs: FeedServiceNeeds) {
    this.#needs = needs
    this.#ahead = new Ahead({ log: needs.log })
  }

  /** Returns the site of a valid token, and the log if it is that site's. Throws INVALID_CREDENTIALS. */
  async demandToken(token: string, logId: string) {
    const found = await findLogOfToken(this.#needs.db, sha256(token), logId)
    if (found) return found
    throw new AppError('INVALID_CREDENTIALS', 'This token is not valid; run gatehouse hub join with a new code')
  }

  /**
   * Takes a feed in for the holder of a token. Sending the same again changes nothing. Throws NOT_FOUND for a log that is not
   * enrolled, NOT_SIGNED, VALIDATION_ERROR, LOG_FORKED, and NOT_READY or STORAGE_FULL when the database cannot take it now.
   */
  async feed(claimed: OfToken, logId: string, body: unknown): Promise<Fed> {
    const sent = readFeed(body, logId)
    const log = await this.#logOf(claimed, logId, sent)
    demandSignature(sent.checkpoint, this.#keysOf(log))
    demandSite(sent, log.site_id)
    if (log.is_retired) {
      await this.#eraseBefore(logId, sent.erasures, [logId])
      throw new AppError(
        'NOT_FOUND',
        'This log is retired here; to go on with it, run gatehouse hub join with a new code',
      )
    }
    try {
      return await this.#withOffer(log.site_id, await this.#takeIn(log, sent))
    } catch (error) {
      // The log takes no more feeds, but the people in it can still be erased.
      if (isForked(error)) await this.#eraseBefore(logId, sent.erasures, [logId])
      throw error
    }
  }

  #keysOf({ vkeys }: FedLog): readonly NoteKey[] {
    const name = vkeys.join('\n')
    const known = this.#keys.get(name)
    if (known) return known
    const read = vkeys.flatMap((vkey) => readVkey(vkey) ?? [])
    this.#keys.set(name, read)
    return read
  }

  /** Stored leaves are acknowledged, whether the offer can be read or not. */
  async #withOffer(siteId: string, fed: Fed): Promise<Fed> {
    if (fed.kind !== 'fed') return fed
    const offer = await this.#needs.offerFor(siteId).catch(() => undefined)
    return offer ? { ...fed, answer: { ...fed.answer, offer: { version: offer.version } } } : fed
  }

  async #takeIn(log: FedLog, sent: SentFeed): Promise<Fed> {
    const { db } = this.#needs
    try {
      const fed = await db.transaction((tx) => this.#inTransaction(tx, log, sent))
      if (fed?.kind === 'fed') {
        await this.#eraseBefore(log.log_id, sent.erasures)
        await this.#correctBefore(log.log_id, sent.assets)
      }
      if (fed) return fed
      await ensureHead(db, log.log_id)
      return await this.#takeIn(log, sent)
    } catch (error) {
      this.#ahead.undone(log.log_id)
      if (!(error instanceof Forked)) throw error
      await this.#keepFork(log, error)
      throw forked(`Leaf or root ${error.found.place} differs from what is stored here`)
    }
  }

  /** Undefined when the log has no head yet. */
  async #inTransaction(tx: HubWrite, log: FedLog, sent: SentFeed): Promise<Fed | undefined> {
    const { log_id: logId } = log
    const { clock, cosign, openings, roots } = this.#needs
    const [head, known] = await Promise.all([lockHead(tx, logId), knownBefore(tx, logId, sent)])
    if (!head) return undefined
    if (head.state !== 'live') throw forked('This log showed two histories or was continued by another one')
    if (sent.from > head.size) return { kind: 'gap', size: head.size }
    const added = await weigh({ tx, roots }, logId, head, sent, known)
    const nowMs = clock.now()
    const cosignature = added.isConfirmed ? cosign(sent.checkpoint.text, nowMs) : null
    await this.#store(tx, logId, sent, added, nowMs)
    this.#ahead.note(tx, log, head, sent, nowMs)
    const made = { ...sent.checkpoint, cosignature }
    const newest = added.isAhead ? made : undefined
    if (newest && isKept(head, { size: newest.size, atMs: nowMs }, added.head.size)) keepNewest(tx, logId)
    moveHead(tx, logId, { ...added.head, newest }, { atMs: nowMs, status: sent.status })
    const hasNewKeys = this.#learnKeys(tx, log, added)
    // A checkpoint that was not cosigned is in no head. By one with new keys, a reader follows the keys from those of the enrolment
    // on.
    if (hasNewKeys || (added.isProven && !added.isConfirmed)) keepCheckpoint(tx, logId, made, nowMs)
    const named =
      openings === 'names' ? this.#named(tx, logId, { namedTo: head.namedTo, size: added.head.size }, sent) : undefined
    return {
      kind: 'fed',
      answer: { size: added.head.size, cosignature, witnessed: added.head.witnessedSize, openings, named },
    }
  }

  /** Returns the leaves whose names have come: they come in order, none is left out, and those of no leaf do not count. */
  #named(tx: HubWrite, logId: string, { namedTo, size }: Pick<Head, 'namedTo' | 'size'>, { names }: SentFeed): number {
    if (!names || names.from > namedTo || names.end <= namedTo || names.end > size) return namedTo
    moveNamed(tx, logId, names.end)
    return names.end
  }

  /**
   * Erases people in the logs that this one continues, and in those of `more`, whatever state each is in: one separate transaction
   * a log.
   */
  async #eraseBefore(logId: string, erasures: Erasures, more: readonly string[] = []): Promise<void> {
    if (erasures.commitments.length + erasures.people.length === 0) return
    const { db, clock } = this.#needs
    for (const one of [...more, ...(await formerLogs(db, logId))]) {
      await db.transaction(async (tx) => {
        await lockHead(tx, one)
        erase(tx, one, erasures, clock.now())
      })
    }
  }

  /** A site says one thing of an asset: what its newest log says goes for those that this one continues. */
  async #correctBefore(logId: string, assets: SentFeed['assets']): Promise<void> {
    const { db } = this.#needs
    const earlier = assets.length > 0 ? await formerLogs(db, logId) : []
    for (const one of earlier) await correctAssets(db, one, assets)
  }

  async #store(tx: HubWrite, logId: string, sent: SentFeed, added: Addition, nowMs: number): Promise<void> {
    const facts = added.leaves.map((leaf) => leaf.facts)
    const placements = facts.flatMap(({ placement }) => placement ?? [])
    putBundles(tx, logId, added.bundles)
    putPlacements(tx, logId, placements, newestOf(placements))
    putUnits(tx, logId, newestSteps(facts.flatMap(({ unit }) => unit ?? [])))
    putAssets(tx, logId, sent.assets, sent.snapshotVersion)
    putSlots(tx, logId, sent.slots, sent.snapshotVersion)
    erase(tx, logId, sent.erasures, nowMs)
    if (this.#needs.openings === 'names') await putOpenings(tx, logId, sent.openings, nowMs)
    const odd = facts.filter(({ isOdd }) => isOdd)
    if (odd.length > 0) {
      this.#needs.log.warn({ logId, first: odd[0]?.seq, count: odd.length }, 'leaves cannot be read; they are kept')
    }
  }

  /**
   * Follows a rotation of the log's keys. The leaf that names the new ones is under a checkpoint that a known key signed; the old
   * ones are not believed any more. Returns whether it did.
   */
  #learnKeys(tx: HubWrite, log: FedLog, { leaves }: Addition): boolean {
    let known = log.vkeys
    for (const { facts } of leaves) {
      const { previousKeys, keys } = facts.handOver ?? { previousKeys: [], keys: [] }
      const isOurs = keys.length > 0 && keys.every((vkey) => readVkey(vkey)?.name === log.origin)
      if (isOurs && previousKeys.some((vkey) => known.includes(vkey))) known = keys
    }
    if (known === log.vkeys) return false
    handOver(tx, log.log_id, known)
    this.#needs.log.info({ logId: log.log_id }, 'a gateway has exchanged the keys of its log')
    return true
  }

  /** In a separate transaction, after the feed was undone: what contradicts is kept, and the log takes no more feeds. */
  async #keepFork(log: FedLog, { found }: Forked): Promise<void> {
    const { db, clock, log: logger } = this.#needs
    const nowMs = clock.now()
    const detail = { place: found.place, kind: found.kind, siteId: log.site_id }
    await db.transaction(async (tx) => {
      await lockHead(tx, log.log_id)
      markHead(tx, log.log_id, 'forked')
      keepNewest(tx, log.log_id)
      keepEvidence(tx, log.log_id, found, nowMs)
      raiseAlert(tx, log.log_id, { id: 'log.forked', type: 'log.forked', severity: 'critical', detail }, nowMs)
    })
    logger.error(
      { logId: log.log_id, ...detail },
      'a log shows two histories; both are kept and it takes no more feeds',
    )
  }

  /**
   * Returns the log that a feed is of. One that is not known may continue a known one; then it is enrolled with the keys of that. One that
   * has joined under other keys ends the one that it continues with its first leaf, too.
   */
  async #logOf({ siteId, log: known }: OfToken, logId: string, sent: SentFeed): Promise<FedLog> {
    const { db, clock, log, roots } = this.#needs
    const fork = sent.from === 0 ? sent.leaves[0]?.facts.fork : undefined
    const parent = fork && (await findLog(db, fork.parentLogId))
    if (!fork || !parent || parent.site_id !== siteId) {
      if (known) return known
      throw notEnrolled()
    }
    if (known && (known.is_retired || parent.is_retired || !(await this.#isUnfed(logId)))) return known
    // The number alone makes no log this site's.
    const taken = known ?? (await findLog(db, logId))
    if (taken && taken.site_id !== siteId) throw notEnrolled()
    const origin = originOfLog({ siteId, logId })
    const keys = known ? this.#keysOf(known) : keysUnder(origin, parent.vkeys)
    demandSignature(sent.checkpoint, keys)
    demandSite(sent, siteId)
    // The parent ends with this, so what the leaf says must have been signed.
    if (!isOverLeaves(sent)) throw AppError.field('leaves', 'they do not lead to the checkpoint of the new log')
    return adopt({ db, roots, nowMs: clock.now(), log }, { parent, fork, logId, origin, keys })
  }

  async #isUnfed(logId: string): Promise<boolean> {
    const head = await this.#needs.db.transaction((tx) => lockHead(tx, logId))
    return (head?.size ?? 0) === 0
  }
}

function demandSite({ leaves }: SentFeed, siteId: string): void {
  for (const { facts } of leaves) {
    if (facts.siteId !== siteId) throw AppError.field('leaves', `leaf ${facts.seq} names site ${facts.siteId}`)
  }
}

const forked = (message: string) => new AppError('LOG_FORKED', message)
const isForked = (error: unknown) => error instanceof AppError && error.code === 'LOG_FORKED'
