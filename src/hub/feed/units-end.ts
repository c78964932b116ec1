import { bigints, column, moments, texts } from '../store/arrays.ts'
import type { HubTx } from '../store/database.ts'
import { fromHead, hubStatement } from '../store/statement.ts'
import { readLeaf, type UnitFact } from './facts.ts'
import { leavesUpTo } from './leaves-store.ts'
import { newestSteps } from './registers.ts'

/** Transport units of one statement, so that none takes long however many a restore has lost. */
const mostUnits = 1000

// No right to delete is granted: a mark means that nothing is known of the unit.
const marked = hubStatement(
  'mark-units',
  `UPDATE unit_state SET status = '-' WHERE log_id = $1 AND unit_id = ANY($2::text[])`,
)
const refilled = hubStatement(
  'refill-units',
  `UPDATE unit_state u SET at = x.at, seq = x.seq, status = x.status, stage = x.stage, direction = x.direction, sscc = x.sscc,
     reference = x.reference
   ${fromHead('$2::text[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]')}
   (unit_id, at, seq, status, stage, direction, sscc, reference)
   WHERE u.log_id = $1 AND h.log_id = $1 AND u.unit_id = x.unit_id`,
)

/** Transport units with steps between two places of a log, and whether each was made there. */
export class UnitsBetween {
  readonly #madeAt = new Map<string, number | undefined>()

  add(steps: readonly UnitFact[]): void {
    for (const { unitId, seq, isFirst } of steps) {
      this.#madeAt.set(unitId, isFirst ? seq : this.#madeAt.get(unitId))
    }
  }

  /**
   * Puts each of the units where its newest step up to leaf `to` left it. No table has their earlier steps, so the leaves are read
   * backward from there, until the first step of each was found. The oldest of the units bounds the read, not the length of the
   * log. Call it with the head locked.
   */
  async endAt(tx: HubTx, logId: string, to: number): Promise<void> {
    const unitIds = [...this.#madeAt.keys()]
    const newest = newestSteps(await this.#stepsUpTo(tx, logId, to))
    for (let i = 0; i < unitIds.length; i += mostUnits) {
      await tx.rows(marked, [logId, texts(unitIds.slice(i, i + mostUnits))])
    }
    for (let i = 0; i < newest.length; i += mostUnits) {
      const some = newest.slice(i, i + mostUnits)
      await tx.rows(refilled, [
        ...[logId, texts(column(some, 'unitId')), moments(column(some, 'atMs')), bigints(column(some, 'seq'))],
        ...[column(some, 'status'), column(some, 'stage'), column(some, 'direction'), column(some, 'sscc')],
        column(some, 'reference'),
      ])
    }
  }

  async #stepsUpTo(tx: HubTx, logId: string, to: number): Promise<UnitFact[]> {
    const open = new Set([...this.#madeAt].flatMap(([unitId, seq = 0]) => (seq <= to ? unitId : [])))
    const found: UnitFact[] = []
    if (open.size === 0) return found
    for await (const leaves of leavesUpTo(tx, logId, to)) {
      for (const leaf of leaves.filter(isStep)) {
        const step = readLeaf(leaf)?.unit
        if (!step || !this.#madeAt.has(step.unitId)) continue
        found.push(step)
        if (step.isFirst) open.delete(step.unitId)
      }
      if (open.size === 0) break
    }
    return found
  }
}

/** Looks before the leaf is parsed, which takes longer: a floor has some hundred moves for each step of a unit. */
const isStep = (leaf: Buffer): boolean => leaf.includes('"unit-history"')
