export { addressResolver, tlsResolver } from './addresses.ts'
export { askCameraClock, usualPlace } from './camera-clock.ts'
export { compose } from './compose.ts'
export {
  addWarehouseThroughDaemon,
  backupThroughDaemon,
  daemonAt,
  daemonServes,
  type Erased,
  eraseThroughDaemon,
  importThroughDaemon,
  metricsThroughDaemon,
  type ProofCommand,
  proveThroughDaemon,
  rotateThroughDaemon,
  statusThroughDaemon,
  verifyThroughDaemon,
} from './control-client.ts'
export { describeApi } from './description.ts'
export { importer } from './import-command.ts'
export { type Running, startGateway } from './lifecycle.ts'
export { askDevices, type OnvifNeeds, searchDevices } from './onvif-thread.ts'
export type { ConfigNow } from './reload-book.ts'
export type { GatewayStatus } from './status.ts'
export { noteVerification } from './verification-note.ts'
export { type AddedWarehouse, warehouseAdder } from './warehouse-command.ts'
