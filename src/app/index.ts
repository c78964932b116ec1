export { describeApi } from './api.ts'
export { compose } from './compose.ts'
export { daemonServes, type Erased, eraseThroughDaemon, verifyThroughDaemon } from './control.ts'
export { type Running, startGateway } from './lifecycle.ts'
