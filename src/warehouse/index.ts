export { gtin14 } from './assets/goods.ts'
export { AssetService, type AssetSight } from './assets/service.ts'
export {
  type Asset,
  type AssetFilter,
  assetKeyOf,
  assetKeysBehind,
  assetsAfter,
  assetsPrinted,
} from './assets/store.ts'
export {
  type Barcode,
  type BarcodeWarning,
  barcodeWarnings,
  barcodeWarningText,
  readBarcode,
  symbologyOf,
} from './barcodes/barcode.ts'
export { checkDigit, hasCheckDigit } from './barcodes/check-digit.ts'
export { elementText, GS } from './barcodes/element-strings.ts'
export { matchedName } from './barcodes/matched-text.ts'
export { type PictureReader, PlanImages } from './plans/plan-images.ts'
export { isPlanImagePath, planImageRoutes } from './plans/routes.ts'
export { warehouseRoutes } from './routes.ts'
export { RowChanges, type SentChanges } from './row-changes.ts'
export {
  AssetChange,
  assetShape,
  assetTypes,
  day,
  goodsTextLimit,
  gtin,
  NewAsset,
  NewSlot,
  NewWarehouse,
  NewZone,
  SlotChange,
  slotShape,
  sscc,
  warehouseShape,
  zoneShape,
  zoneTypes,
} from './schema.ts'
export { WarehouseService } from './service.ts'
export { type Sight, sampleSight, seenOnly, type WarehouseRule, WarehouseSight, wholeSight } from './sight.ts'
export { SingleWrites } from './single-writes.ts'
export {
  labelOf,
  type Slot,
  type SlotFilter,
  slotIdsIn,
  slotMark,
  slotPlaces,
  slots,
  slotsFrom,
  slotsWithNames,
  warehouseOfSlot,
  warehouseOfSlotId,
  zoneMarks,
} from './slot-store.ts'
export { type Warehouse, warehouseOfZone, type Zone } from './store.ts'
