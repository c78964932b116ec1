import { hash } from 'node:crypto'
import { databaseFile, executor, openReader, type ReadTx } from '../database/index.ts'
import { type DigestSpan, digestSpan, endOfTrail } from '../journal/index.ts'
import {
  canonicalJson,
  type Json,
  type KnownLog,
  knownLogs,
  type LeafKind,
  type LeafText,
  type LeafVersion,
  leafHash,
  leafHashOfText,
  leafOf,
  leafTextsBetween,
  MerkleFrontier,
  parsedJson,
} from '../log/index.ts'
import { originOfLog } from '../proof/index.ts'
import { type CheckedTrail, checkAuditTrail } from './audit-trail.ts'
import { Findings, type Mismatch } from './findings.ts'
import { checkFiles } from './held-files.ts'
import { type OnProgress, Progress } from './progress.ts'
import { type StatedKind, type StatedRow, statedKinds, type UnreadableRow } from './stated-rows.ts'
import { checkFork } from './transparency/check-fork.ts'
import { HeadCheck } from './transparency/check-head.ts'
import { checkSignatures, type HandedLog, keysForCheck } from './transparency/check-signatures.ts'
import { TreeCheck } from './transparency/check-tree.ts'
import { type HandOver, isSamePair, readHandOver } from './transparency/hand-over.ts'

/** A recomputed log of the box. */
export type VerifiedLog = {
  readonly logId: string
  /** Leaves recomputed, and the RFC 6962 root over them (64 hex digits). */
  readonly size: number
  readonly root: string
  /** The log that this one continues, and how many leaves of it count. */
  readonly parent: { readonly logId: string; readonly size: number } | null
}

/** Result of a verification of the leaves and of everything that they state. */
export type VerifiedLeaves = {
  /** The growing log; `size` and `root` as in `logs`. */
  readonly logId: string
  readonly siteId: string
  readonly size: number
  readonly root: string
  /** Every log of the box, the growing one last. */
  readonly logs: readonly VerifiedLog[]
  readonly events: number
  readonly detections: number
  readonly cameraGaps: number
  readonly unitSteps: number
  readonly incidentChanges: number
  readonly reports: number
  readonly removals: number
  /** Checkpoints of all logs, and whether the keys of the box were here to verify their signatures. */
  readonly signedHeads: { readonly count: number; readonly areKeysHere: boolean }
  /** The audit trail: up to which entry digests cover it. */
  readonly auditTrail: CheckedTrail
  readonly media: number
  /** Files that are not there, when they may lack. */
  readonly lacking?: number
  readonly mismatches: readonly Mismatch[]
  /** Whether there are more mismatches than those listed. */
  readonly truncated: boolean
}

export type VerifyOptions = {
  /** Gets the share of the work that is done, from 0 to 1, at most a hundred times. */
  readonly onProgress?: OnProgress
  /** Files that are not there are counted as `lacking` instead of reported. */
  readonly mayLackFiles?: boolean
}

const batch = 2000
/** Space for the hash of the present leaf. */
const hashSpace = Buffer.alloc(32)
const treeHash = (content: string | Buffer) =>
  typeof content === 'string' ? leafHashOfText(content) : leafHash(content).toString('hex')

/**
 * Recomputes everything from the first leaf: bytes against hashes, rows against leaves, the audit trail against its digests,
 * files against their rows. Reads in short batches, so that a running gateway's WAL is not kept. Throws ExitError when the file
 * cannot be opened.
 */
export function verifyLeaves(
  dataDir: string,
  { onProgress, mayLackFiles = false }: VerifyOptions = {},
): VerifiedLeaves {
  const db = openReader(databaseFile(dataDir))
  try {
    const tx = executor(db)
    const findings = new Findings()
    const progress = new Progress(onProgress)
    const head = new HeadCheck(tx, dataDir, findings)
    const keys = keysForCheck(dataDir, head.wasSigned, findings)
    const known = knownLogs(tx)
    if (known.length === 0) findings.add('log', 'has no identity')
    checkParents(findings, known)
    progress.plan(
      known.reduce((sum, { size }) => sum + size, 0),
      endOfTrail(tx),
    )
    const walk = new Walk({ tx, findings, logs: known, head, progress })
    const logs = known.map((log) => ({ logId: log.logId, ...walk.log(log), parent: log.parent }))
    head.end(known, keys !== undefined)
    const keysNow = () => keysForCheck(dataDir, head.wasSigned, findings)
    const signedHeads = keys ? checkSignatures(tx, walk.handed, keys, keysNow, findings) : 0
    const newest = logs.at(-1)
    const counts = walk.counts
    for (const stated of statedKinds) checkCountOfRows(tx, findings, known, stated, counts[stated.kind])
    const auditTrail = checkAuditTrail(tx, findings, walk.auditDigests, (entries) => progress.trail(entries))
    const onShare = (share: number) => progress.files(share)
    const { named: media, lacking } = checkFiles(tx, findings, dataDir, { mayLackFiles, onShare })
    const { mismatches, truncated } = findings
    return {
      logId: newest?.logId ?? '',
      siteId: known.at(-1)?.siteId ?? '',
      size: newest?.size ?? 0,
      root: newest?.root ?? '',
      logs,
      events: counts.placement,
      detections: counts.detection,
      cameraGaps: counts['camera-gap'],
      unitSteps: counts['unit-history'],
      incidentChanges: counts['incident-change'],
      reports: counts.report,
      removals: counts['media-removed'],
      signedHeads: { count: signedHeads, areKeysHere: keys !== undefined },
      auditTrail,
      media,
      ...(mayLackFiles && { lacking }),
      mismatches,
      truncated,
    }
  } finally {
    db.close()
  }
}

type PerKind = Record<StatedKind['kind'], number>

/** Checks that each log continues existing leaves, of the same site. */
function checkParents(findings: Findings, logs: readonly KnownLog[]): void {
  for (const { logId, siteId, parent, size } of logs) {
    // A log without leaves states nothing: the site was set again before the first event.
    if (siteId !== logs.at(-1)?.siteId && size > 0) findings.add(`log ${logId}`, `is one of site ${siteId}`)
    const known = parent && logs.find((log) => log.logId === parent.logId)
    // The parent log may be on another box; then its leaves are rows of this one.
    if (known && known.size < parent.size) {
      findings.add(`log ${logId}`, `goes on from ${parent.size} leaves of log ${parent.logId}, which has ${known.size}`)
    }
  }
}

type WalkNeeds = {
  readonly tx: ReadTx
  readonly findings: Findings
  readonly logs: readonly KnownLog[]
  readonly head: HeadCheck
  readonly progress: Progress
}

/** Walks the leaves of one log after the other; counts and times continue over all logs. */
class Walk {
  readonly counts = Object.fromEntries(statedKinds.map(({ kind }) => [kind, 0])) as PerKind
  /** Digests of the audit trail in the leaves, in their order. */
  readonly auditDigests: DigestSpan[] = []
  /** The logs with the changes of keys that their leaves state. */
  readonly handed: HandedLog[] = []
  readonly #newestMs: PerKind = { ...this.counts }
  readonly #needs: WalkNeeds
  readonly #tx: ReadTx
  readonly #findings: Findings
  /** Recomputed roots from which later logs continue, in hex, by log and size. */
  readonly #forkRoots = new Map<string, string>()
  #handOvers: HandOver[] = []

  constructor(needs: WalkNeeds) {
    this.#needs = needs
    this.#tx = needs.tx
    this.#findings = needs.findings
  }

  log(log: KnownLog): { size: number; root: string } {
    const { head, logs, progress } = this.#needs
    const tree = new MerkleFrontier()
    const check = new TreeCheck(this.#tx, log, this.#findings)
    const forks = new Set(logs.flatMap(({ parent }) => (parent?.logId === log.logId ? parent.size : [])))
    const look = () => {
      head.root(log.logId, tree.size, () => tree.root())
      if (forks.has(tree.size)) this.#forkRoots.set(placeOf(log.logId, tree.size), tree.root().toString('hex'))
    }
    this.#handOvers = []
    this.handed.push({ log, handOvers: this.#handOvers })
    look()
    let expected = 1
    while (expected <= log.size) {
      const leaves = leafTextsBetween(this.#tx, log.number, expected, log.size, batch)
      const first = leaves[0]
      const last = leaves.at(-1)
      if (!first || !last) break
      const rows = new Map(
        statedKinds.map((stated) => [stated.kind as string, stated.rows(this.#tx, log.number, first.seq, last.seq)]),
      )
      for (const leaf of leaves) {
        if (leaf.seq !== expected) this.#findings.add(this.#nameOf(log, expected), `is missing up to ${leaf.seq - 1}`)
        expected = leaf.seq + 1
        const made = treeHash(leaf.content)
        if (made !== leaf.hash) this.#findings.add(this.#nameOf(log, leaf.seq), 'its bytes do not have its hash')
        hashSpace.write(made, 'hex')
        tree.append(hashSpace)
        check.leaf(hashSpace, tree)
        look()
        if (leaf.seq === 1 || readByWalk.has(leaf.kind)) this.#said(log, leaf)
        this.#leaf(log, leaf, rows.get(leaf.kind)?.get(leaf.seq))
      }
      progress.leaves(leaves.length)
    }
    check.end()
    return { size: log.size, root: tree.root().toString('hex') }
  }

  /** Takes the facts of a leaf about the log itself. The leaf counts, not a row, because the root of the log covers the leaf. */
  #said(log: KnownLog, { seq, kind, content }: LeafText): void {
    const facts = parse(content) ?? {}
    if (kind === 'log-key') this.#handOver(log, facts, this.#nameOf(log, seq))
    const span = kind === 'audit-digest' ? digestSpan(facts) : undefined
    if (span) this.auditDigests.push(span)
    const root = log.parent ? this.#forkRoots.get(placeOf(log.parent.logId, log.parent.size)) : undefined
    checkFork(log, { seq, kind, facts }, this.#nameOf(log, seq), root, this.#findings)
  }

  /** Each hand-over continues from the keys of the one before. */
  #handOver(log: KnownLog, facts: Record<string, Json>, where: string): void {
    const stated = readHandOver(facts, originOfLog(log))
    const before = this.#handOvers.at(-1)
    if (!stated) this.#findings.add(where, 'does not name the keys of this log before and after it')
    else if (before && !isSamePair(before.keys, stated.previousKeys)) {
      this.#findings.add(where, 'hands the log over from keys that it did not have')
    }
    if (stated) this.#handOvers.push(stated)
  }

  #leaf(log: KnownLog, leaf: LeafText, found: StatedRow | UnreadableRow | undefined): void {
    const where = this.#nameOf(log, leaf.seq)
    const stated = statedKinds.find(({ kind }) => kind === leaf.kind)
    const row = found && 'isUnreadable' in found ? undefined : found
    const made = stated && row && rebuilt(leaf, row, stated, log)
    const isSameAsRow = made !== undefined && leaf.content === made
    // A leaf that equals the one made from the row is canonical and has the right header.
    if (!isSameAsRow) checkBytes(leaf, log, where, found?.leafVersion, this.#findings)
    if (!stated) return
    this.counts[stated.kind] += 1
    if (!row) {
      const what = found ? 'whose row has a value that cannot be read' : 'which is not there'
      this.#findings.add(where, `states ${stated.noun} ${leaf.ref}, ${what}`)
      return
    }
    if (row.receivedAtMs < this.#newestMs[stated.kind]) {
      this.#findings.add(row.name, 'was received before the one in front of it')
    }
    this.#newestMs[stated.kind] = row.receivedAtMs
    row.check(this.#tx, this.#findings)
    checkRow(leaf, row, stated, where, isSameAsRow ? undefined : made, this.#findings)
  }

  #nameOf({ logId }: KnownLog, seq: number): string {
    return this.#needs.logs.length > 1 ? `leaf ${seq} of log ${logId}` : `leaf ${seq}`
  }
}

/** Kinds of leaves that are about the log itself. */
const readByWalk: ReadonlySet<string> = new Set<LeafKind>(['audit-digest', 'log-fork', 'log-key'])

const placeOf = (logId: string, size: number) => `${logId}/${size}`

function rebuilt(leaf: LeafText, row: StatedRow, { kind }: StatedKind, { logId, siteId }: KnownLog): string {
  return canonicalJson(leafOf({ v: row.leafVersion, kind, logId, siteId, seq: leaf.seq }, row.facts))
}

const versions: readonly unknown[] = [1, 2] satisfies LeafVersion[]

/** Checks bytes and header of a leaf. `version` is the row's; undefined without a row. */
function checkBytes(
  leaf: LeafText,
  { logId, siteId }: KnownLog,
  where: string,
  version: LeafVersion | undefined,
  findings: Findings,
): void {
  const stated = parse(leaf.content)
  if (stated === undefined) {
    findings.add(where, 'its bytes are not canonical JSON')
    return
  }
  const said = stated['v']
  const v = version ?? (versions.includes(said) ? said : 2)
  for (const [key, value] of Object.entries({ v, kind: leaf.kind, seq: leaf.seq, logId, siteId })) {
    if (stated[key] !== value) findings.add(where, `says ${key} ${String(stated[key])}, expected ${value}`)
  }
}

/** Undefined for bytes that are no canonical JSON. */
function parse(content: string | Buffer): Record<string, Json> | undefined {
  if (typeof content !== 'string') return undefined
  try {
    const value = parsedJson(content)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && canonicalJson(value) === content ? (value as Record<string, Json>) : undefined
  } catch {
    return undefined
  }
}

/** Compares a row with its leaf. @param other the leaf made from the row, when it differs */
function checkRow(
  leaf: LeafText,
  row: StatedRow,
  { noun }: StatedKind,
  leafName: string,
  other: string | undefined,
  findings: Findings,
): void {
  const where = `${row.name} (${leafName})`
  if (row.ref !== leaf.ref) findings.add(where, `the leaf states ${noun} ${leaf.ref}`)
  if (hash('sha256', leaf.content, 'hex') !== row.evidenceHash) {
    findings.add(where, 'its evidence_hash is not that of the leaf')
  }
  if (other !== undefined) findings.add(where, `the row differs from its leaf${differences(other, leaf.content)}`)
}

function differences(rebuilt: string, content: string | Buffer): string {
  const stated = parse(content)
  if (!stated) return ''
  const found = JSON.parse(rebuilt) as Record<string, Json>
  const keys = new Set([...Object.keys(stated), ...Object.keys(found)])
  return ` in ${[...keys].filter((key) => JSON.stringify(stated[key]) !== JSON.stringify(found[key])).join(', ')}`
}

/** Finds rows beside those that the leaves state, which another program added. Looks as far as the walk went. */
function checkCountOfRows(
  tx: ReadTx,
  findings: Findings,
  logs: readonly KnownLog[],
  { noun, upTo }: StatedKind,
  leaves: number,
): void {
  const rows = logs.reduce((sum, { number, size }) => sum + upTo(tx, number, size), 0)
  if (rows !== leaves) findings.add('ledger', `${rows} ${noun}s, but ${leaves} leaves that state one`)
}
