export { addressResolver, tlsResolver } from './addresses.ts'
export { compose } from './compose.ts'
export {
  addWarehouseThroughDaemon,
  backupThroughDaemon,
  beginExportThroughDaemon,
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
  userThroughDaemon,
  verifyThroughDaemon,
} from './control/client.ts'
export { importer } from './control/import-command.ts'
export type { GatewayStatus } from './control/status.ts'
export { type UserAccount, type UserCommand, type UserOutcome, userActs } from './control/user-command.ts'
export { noteVerification } from './control/verification-note.ts'
export { type AddedWarehouse, warehouseAdder } from './control/warehouse-command.ts'
export { describeApi } from './description.ts'
export { ownHosts } from './host-names.ts'
export { type Running, startGateway } from './lifecycle.ts'
export type { ConfigNow } from './reload-book.ts'
export { type ProbeQuestion, type ProbeReply, probeHere, type StreamProbe, streamProbe } from './stream-probe.ts'
export { askCameraClock } from './threads/camera-clock.ts'
export { askDevices, type OnvifNeeds, searchDevices } from './threads/onvif-thread.ts'
