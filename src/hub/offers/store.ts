import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'

const openStages = hubStatement(
  'open-offers',
  `SELECT version, stage, sites, offered_at, offered_by FROM upgrade_offer WHERE ended_at IS NULL ORDER BY stage`,
)
const newStage = hubStatement(
  'put-offer',
  `INSERT INTO upgrade_offer (version, stage, sites, offered_at, offered_by) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (version, stage) DO UPDATE SET sites = excluded.sites, offered_at = excluded.offered_at,
     offered_by = excluded.offered_by, ended_at = NULL`,
)
const endedStages = hubStatement('end-offers', 'UPDATE upgrade_offer SET ended_at = $1 WHERE ended_at IS NULL')

/** A stage of the offer that is open. `sites`: those that it added; null: the rest. */
export type OfferStage = {
  readonly version: string
  readonly stage: number
  readonly sites: readonly string[] | null
  readonly offered_at: Date
  readonly offered_by: string
}

/** Returns the stages of the open offer, the first one first. */
export function stagesOf(db: HubTx): Promise<OfferStage[]> {
  return db.rows<OfferStage>(openStages, [])
}

export async function putStage(db: HubTx, stage: Omit<OfferStage, 'offered_at'>, atMs: number): Promise<void> {
  await db.rows(newStage, [stage.version, stage.stage, stage.sites, isoTime(atMs), stage.offered_by])
}

export async function endStages(db: HubTx, atMs: number): Promise<void> {
  await db.rows(endedStages, [isoTime(atMs)])
}
