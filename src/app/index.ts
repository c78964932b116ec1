export { askCameraClock, usualPlace } from './camera-clock.ts'
export { compose } from './compose.ts'
export {
  addWarehouseThroughDaemon,
  backupThroughDaemon,
  daemonServes,
  type Erased,
  eraseThroughDaemon,
  importThroughDaemon,
  type ProofCommand,
  proveThroughDaemon,
  verifyThroughDaemon,
} from './control-client.ts'
export { describeApi } from './description.ts'
export { importer } from './import-command.ts'
export { type Running, startGateway } from './lifecycle.ts'
export { askDevices, type OnvifNeeds, searchDevices } from './onvif-thread.ts'
export { type AddedWarehouse, warehouseAdder } from './warehouse-command.ts'
