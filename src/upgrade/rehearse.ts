import { createHash } from 'node:crypto'
import { Pace } from '../backup/index.ts'
import {
  copyDatabase,
  databaseFile,
  type Migration,
  newestSchema,
  openWriter,
  schemaOfFile,
  sizeOfDatabase,
} from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { verifyLedger } from '../evidence/index.ts'
import { freeSpace, isoTime } from '../platform/index.ts'
import { Comparison, type Difference } from './compare.ts'
import { type Answers, answersOf, type Program, type ProgramVersion } from './previous.ts'
import { makeRehearsalFolder, removeRehearsalFolder } from './rehearsal-folder.ts'
import { derivedStates, type StatesAsked } from './states.ts'

export type RehearsalOrder = {
  /** The folder of the ledger that lives. */
  readonly dataDir: string
  readonly reserveBytes: number
  readonly nowMs: number
  /** The version that is to be replaced; undefined: there is none to compare with. */
  readonly previous: Program | undefined
  /** Age up to which events are compared. */
  readonly windowMs: number
  readonly mostEvents: number
  /** The whole rehearsal is given up after that. */
  readonly limitMs: number
  readonly onProgress?: (words: string) => void
  /** For tests: the steps of the next version. */
  readonly migrations?: readonly Migration[]
}

export type RehearsedUpgrade = {
  /** Whether the new version may take over. */
  readonly ok: boolean
  /** Why not, in sentences. */
  readonly reasons: readonly string[]
  /** Facts worth knowing that do not stop the upgrade. */
  readonly notes: readonly string[]
  /** Schema of the ledger before and after. */
  readonly schema: { readonly from: number; readonly to: number }
  readonly previous: ProgramVersion | null
  /** Answers of both versions that were compared. */
  readonly compared: number
  readonly different: number
  readonly differences: readonly Difference[]
  /** Whether the previous version serves the ledger after this one has changed its schema. */
  readonly wayBack: boolean
  /** Names these reasons: a person who has read them may take the version over all the same. Null: there are none. */
  readonly acceptBy: string | null
}

/** A migration may write the file twice, as step 0016 does. */
const copiesNeeded = { migrated: 3, asItIs: 1 }

/** Number of events about which the previous version is asked again after the migration. */
const askedAgain = 500

/**
 * Rehearses the upgrade to this version on a copy of the ledger. It migrates the copy, verifies all of it, and compares the states
 * that both versions derive from it. The ledger itself is only read; a gateway may serve it meanwhile. Rejects with ExitError when
 * it cannot be rehearsed.
 */
export async function rehearseUpgrade(order: RehearsalOrder): Promise<RehearsedUpgrade> {
  const { dataDir, nowMs, windowMs, mostEvents, limitMs, previous, migrations, onProgress = () => {} } = order
  const endMs = performance.now() + limitMs
  const leftMs = () => Math.max(endMs - performance.now(), 0)
  demandRoom(order)
  try {
    const folder = makeRehearsalFolder(dataDir)
    onProgress('copying the ledger')
    await copyPaced(dataDir, folder, leftMs)
    const from = schemaOfFile(databaseFile(folder)).schema
    const asked = { folder, since: isoTime(nowMs - windowMs), most: mostEvents }
    onProgress('asking the previous version')
    const before = previous && (await answersOf(previous, { ...asked, limitMs: leftMs() }))
    onProgress('changing the schema of the copy')
    openWriter({ dataDir: folder, nowMs, ...(migrations && { migrations }) }).close()
    const { schema: to } = schemaOfFile(databaseFile(folder))
    onProgress('verifying the copy')
    const reasons = verified(folder)
    onProgress('computing the states anew')
    const compared = compareStates(
      before,
      { folder, most: mostEvents, sinceMs: nowMs - windowMs, ...(migrations && { migrations }) },
      leftMs,
    )
    const way = await wayBack(previous, before, { ...asked, isChanged: to !== from, limitMs: leftMs() })
    const allReasons = [...reasons, ...compared.reasons, ...way.reasons]
    const kinds = [...(reasons.length > 0 ? ['unverified'] : []), ...compared.kinds, ...way.reasons]
    return {
      ...{
        ok: allReasons.length === 0,
        reasons: allReasons,
        notes: [...compared.notes, ...way.notes],
        schema: { from, to },
      },
      ...{
        previous: before && 'answers' in before ? before.by : null,
        compared: compared.compared,
        different: compared.different,
      },
      differences: compared.shown,
      wayBack: way.isThere,
      acceptBy: codeOf(kinds),
    }
  } finally {
    removeRehearsalFolder(dataDir)
  }
}

function demandRoom({ dataDir, reserveBytes, migrations }: RehearsalOrder): void {
  const { bytes, schema } = sizeOfDatabase(databaseFile(dataDir))
  const newest = migrations?.at(-1)?.version ?? newestSchema
  const needed = bytes * (schema < newest ? copiesNeeded.migrated : copiesNeeded.asItIs) + reserveBytes
  const free = freeSpace(dataDir).bytes
  if (free >= needed) return
  const mib = (n: number) => Math.ceil(n / 2 ** 20)
  throw new ExitError(1, `the rehearsal needs ${mib(needed)} MiB at ${dataDir}, and ${mib(free)} MiB are free`)
}

async function copyPaced(dataDir: string, folder: string, leftMs: () => number): Promise<void> {
  const pace = new Pace(true)
  await copyDatabase(databaseFile(dataDir), databaseFile(folder), () => {
    if (leftMs() === 0) throw tooLong()
    pace.rest()
  })
}

const tooLong = () => new ExitError(1, 'the rehearsal took longer than it may (--limit); nothing was changed')

function verified(folder: string): string[] {
  const { ok, mismatches, size } = verifyLedger(folder, { mayLackFiles: true })
  if (ok) return []
  const [first] = mismatches
  return [`of ${size} leaves, ${mismatches.length} do not match: ${first?.where}: ${first?.what}`]
}

type Compared = ReturnType<Comparison['end']> & { readonly reasons: string[]; readonly notes: string[] }

function compareStates(before: Answers | undefined, asked: StatesAsked, leftMs: () => number): Compared {
  const comparison = new Comparison(before && 'answers' in before ? before.answers : new Map())
  const states = derivedStates(asked)
  let own = 0
  for (const line of states) {
    if (leftMs() === 0) throw tooLong()
    own += 1
    if (before && 'answers' in before) comparison.next(line)
  }
  const found = comparison.end()
  const computed = `this version computed ${own} answers without a fault`
  if (!before) return { ...found, reasons: [], notes: [`there is no previous version to compare with; ${computed}`] }
  if ('answers' in before) {
    const reasons = found.different > 0 ? [`${found.different} answers differ from those of the previous version`] : []
    return { ...found, reasons, notes: found.passedOver.map(notCompared) }
  }
  if (before.isUnknown) {
    const notes = [`the previous version has no command that says its states, so nothing was compared; ${computed}`]
    return { ...found, reasons: [], notes }
  }
  return { ...found, reasons: [`the previous version could not say its states: ${before.problem}`], notes: [] }
}

const notCompared = (part: string): string =>
  `the previous version answers "${part}" by another rule than this one, so that part was not compared`

type WayBack = { readonly isThere: boolean; readonly reasons: string[]; readonly notes: string[] }
const noPrevious: WayBack = { isThere: false, reasons: [], notes: ['no previous version is kept to go back to'] }

/**
 * Asks the previous version about the migrated copy, if that differs from the present ledger: its faults must be known before the
 * upgrade.
 */
async function wayBack(
  previous: Program | undefined,
  before: Answers | undefined,
  { isChanged, ...asked }: Parameters<typeof answersOf>[1] & { readonly isChanged: boolean },
): Promise<WayBack> {
  if (!previous || !before) return noPrevious
  if (!isChanged) return { isThere: true, reasons: [], notes: [] }
  if (!('answers' in before))
    return { isThere: false, reasons: [], notes: ['whether there is a way back is not known'] }
  const after = await answersOf(previous, { ...asked, most: Math.min(asked.most, askedAgain) })
  if (!('answers' in after)) {
    const reason = `there will be no way back: the previous version cannot work with the changed ledger: ${after.problem}`
    return { isThere: false, reasons: [reason], notes: [] }
  }
  for (const [question, answer] of after.answers) {
    const first = before.answers.get(question)
    if (first === undefined || JSON.stringify(first) === JSON.stringify(answer)) continue
    const reason = `there will be no way back: with the changed ledger the previous version says something else of ${question}`
    return { isThere: false, reasons: [reason], notes: [] }
  }
  return { isThere: true, reasons: [], notes: [] }
}

/** The same reasons have the same code, however many events came meanwhile. */
function codeOf(kinds: readonly string[]): string | null {
  if (kinds.length === 0) return null
  // Folders and figures change from one rehearsal to the next.
  const steady = kinds.map((kind) => kind.replaceAll(/\/\S+|\d+/g, '')).join('\n')
  return createHash('sha256').update(steady).digest('hex').slice(0, 12)
}
