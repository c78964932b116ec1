import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { builtStatement, sql } from '../store/statement.ts'

const openStages = builtStatement('open-offers', {}, () =>
  sql
    .selectFrom('upgrade_offer')
    .select(['version', 'stage', 'sites', 'offered_at', 'offered_by'])
    .where('ended_at', 'is', null)
    .orderBy('stage'),
)
const newStage = builtStatement(
  'put-offer',
  { version: 'text', stage: 'smallint', sites: 'text[]?', at: 'timestamptz', by: 'text' },
  ({ version, stage, sites, at, by }) =>
    sql
      .insertInto('upgrade_offer')
      .values({ version, stage, sites, offered_at: at, offered_by: by })
      .onConflict((on) =>
        on.columns(['version', 'stage']).doUpdateSet((row) => ({
          sites: row.ref('excluded.sites'),
          offered_at: row.ref('excluded.offered_at'),
          offered_by: row.ref('excluded.offered_by'),
          ended_at: null,
        })),
      ),
)
const endedStages = builtStatement('end-offers', { at: 'timestamptz' }, ({ at }) =>
  sql.updateTable('upgrade_offer').set({ ended_at: at }).where('ended_at', 'is', null),
)

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
  return db.rows(openStages, {})
}

export async function putStage(db: HubTx, stage: Omit<OfferStage, 'offered_at'>, atMs: number): Promise<void> {
  const { offered_by: by, ...offered } = stage
  await db.rows(newStage, { ...offered, by, at: isoTime(atMs) })
}

export async function endStages(db: HubTx, atMs: number): Promise<void> {
  await db.rows(endedStages, { at: isoTime(atMs) })
}
