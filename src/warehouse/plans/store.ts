import { built, integer, type ReadTx, real, statement, type Tx } from '../../database/index.ts'
import type { PlanImagePlace } from '../schema.ts'
import { sql, tables } from '../tables.ts'

const byWarehouse = { warehouse_id: integer }
const imageOf = built(byWarehouse, ({ warehouse_id }) =>
  sql.selectFrom('plan_image').selectAll().where('warehouse_id', '=', warehouse_id),
)
const fileOf = built(byWarehouse, ({ warehouse_id }) =>
  sql.selectFrom('plan_image_file').select('bytes').where('warehouse_id', '=', warehouse_id),
)
const putImage = built(tables.plan_image, (row) => sql.replaceInto('plan_image').values(row))
const putFile = built(tables.plan_image_file, (row) => sql.replaceInto('plan_image_file').values(row))
const dropImage = built(byWarehouse, ({ warehouse_id }) =>
  sql.deleteFrom('plan_image').where('warehouse_id', '=', warehouse_id),
)
const dropFile = built(byWarehouse, ({ warehouse_id }) =>
  sql.deleteFrom('plan_image_file').where('warehouse_id', '=', warehouse_id),
)
/** Corners of the slots in use of a warehouse. */
const spanOfSlots = statement({
  columns: { lowest: real, highest: real },
  sql: `SELECT min(json_extract(p.value, '$.' || ?)) AS lowest, max(json_extract(p.value, '$.' || ?)) AS highest
    FROM slot s, json_each(s.floor_plan_polygon) p WHERE s.warehouse_id = ? AND s.retired_at_ms IS NULL HAVING count(*) > 0`,
})

export type PlanImage = NonNullable<ReturnType<typeof findPlanImage>>

/** Returns the picture below the plan of a warehouse, without its bytes. */
export function findPlanImage(tx: ReadTx, warehouseId: number) {
  const row = tx.get(imageOf, { warehouse_id: warehouseId })
  if (!row) return undefined
  const { x, y, width, rotation, opacity } = row
  return {
    sha256: row.sha256,
    mediaType: row.media_type,
    sizeBytes: row.size_bytes,
    widthPx: row.width_px,
    heightPx: row.height_px,
    place: { x, y, width, rotation, opacity },
  }
}

export const planImageBytes = (tx: ReadTx, warehouseId: number): Buffer | undefined =>
  tx.get(fileOf, { warehouse_id: warehouseId })?.bytes

/** Writes what is known of the picture. */
export function keepPlanImage(tx: Tx, warehouseId: number, { place, ...image }: PlanImage): void {
  tx.run(putImage, {
    warehouse_id: warehouseId,
    sha256: image.sha256,
    media_type: image.mediaType,
    size_bytes: image.sizeBytes,
    width_px: image.widthPx,
    height_px: image.heightPx,
    ...place,
  })
}

export function keepPlanImageFile(tx: Tx, warehouseId: number, bytes: Buffer): void {
  tx.run(putFile, { warehouse_id: warehouseId, bytes })
}

export function dropPlanImage(tx: Tx, warehouseId: number): void {
  tx.run(dropImage, { warehouse_id: warehouseId })
  tx.run(dropFile, { warehouse_id: warehouseId })
}

/** The width of a picture of an empty hall, in units of the plan. */
const emptyHallWidth = 50
const opacityAtFirst = 0.6

/** Returns a place for a picture of `ratio` (width by height): around all slots in use, and as small as that allows. */
export function placeAroundSlots(tx: ReadTx, warehouseId: number, ratio: number): PlanImagePlace {
  const along = (axis: 'x' | 'y') => tx.get(spanOfSlots, [axis, axis, warehouseId])
  const [across, down] = [along('x'), along('y')]
  const upright = { rotation: 0, opacity: opacityAtFirst }
  if (!across || !down) return { x: 0, y: 0, width: emptyHallWidth, ...upright }
  const width = Math.max(across.highest - across.lowest, (down.highest - down.lowest) * ratio)
  return {
    x: (across.lowest + across.highest - width) / 2,
    y: (down.lowest + down.highest - width / ratio) / 2,
    width,
    ...upright,
  }
}
