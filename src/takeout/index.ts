export { type Exported, type ExportOrder, exportEverything } from './export.ts'
export { refuseFullFolder } from './folder.ts'
