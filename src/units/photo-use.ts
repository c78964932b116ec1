import { integer, statement } from '../database/index.ts'
import { warehousesOfPhotoSql } from '../ledger/index.ts'
import type { UseOf } from '../photos/index.ts'

// The first that is found decides: a photo that somebody sends with every event has thousands.
const uses = `${warehousesOfPhotoSql} UNION ALL SELECT warehouse_id FROM unit_photo WHERE sha256 = +?`
const use = statement({
  columns: { used: integer, shown: integer },
  sql: `SELECT EXISTS (${uses}) AS used,
    EXISTS (SELECT 1 FROM (${uses}) WHERE warehouse_id NOT IN (SELECT value FROM json_each(?))) AS shown`,
})

/** Whether any event or transport unit holds the photo. */
export const photoUse: UseOf = (tx, sha256, hidden) => {
  const row = tx.get(use, [sha256, sha256, sha256, sha256, JSON.stringify(hidden)])
  return { isUsed: row?.used === 1, isShown: row?.shown === 1 }
}
