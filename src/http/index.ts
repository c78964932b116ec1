export { type Api, always, newApi, newRoot } from './app.ts'
export { batchRefusal } from './batch-refusal.ts'
export { bodyParts, jsonBodies, jsonBodyLimitBytes, readBody, readBodyInTime, readPackedBody } from './body.ts'
export { initTls, type TlsMade, takeTls } from './box-authority.ts'
export { type Caller, identityOf } from './caller.ts'
export { type Certificate, readCertificate, type TlsFiles } from './certificate.ts'
export { connectionOf, noteKnown } from './connections.ts'
export { type AppEnv, demand, originOf, type RequestOrigin } from './context.ts'
export { crossOrigin } from './cross-origin.ts'
export { type DescribedOperation, type Description, describeRoutes, type Example } from './description.ts'
export {
  ErrorBody,
  ErrorFacts,
  errorBody,
  errorFacts,
  MediaRemovalOut,
  type RawAnswer,
  rawAnswer,
  resource,
  sendResource,
  validationError,
} from './envelope.ts'
export {
  barcode,
  barcodePath,
  closedObject,
  hashPath,
  httpUrl,
  label,
  lines,
  nameText,
  numericPath,
  onceFieldsFit,
  optional,
  optionalTime,
  parseTime,
  queryInteger,
  rowId,
  sha256Hex,
  text,
  time,
  timeOut,
} from './fields.ts'
export { type FileAnswer, sendFile } from './file-answer.ts'
export { ifMatchHeaders, versionOf } from './if-match.ts'
export { isKnown } from './known-tag.ts'
export {
  type Ask,
  askOf,
  claimOf,
  claimOfBytes,
  type IdempotencyClaim,
  onceHeaders,
  type Reply,
  send,
  writtenBody,
} from './once.ts'
export { asOpenApi30 } from './openapi-30.ts'
export { operation } from './operation.ts'
export { isOpening, type OutSocket, openSocket } from './out-socket.ts'
export { type PackedText, packText } from './packed-text.ts'
export { type PageLanguage, pageLanguage, pageLanguages } from './page-language.ts'
export {
  allQuery,
  countLimit,
  historyLimit,
  historyQuery,
  listOf,
  type Pagination,
  packedList,
  pageOfAll,
  sendAll,
  sendPacked,
  sendPage,
  sendShared,
  takesPacked,
} from './pagination.ts'
export { sharedParameter } from './parameters.ts'
export { printedPagePolicy } from './printed-page.ts'
export { probePaths } from './probes.ts'
export { type RequestTimes, requestMetrics } from './request-metrics.ts'
export { type BoxAuthority, servedAuthority } from './served-authority.ts'
export { HttpListener, type ListenOptions, type WireLimits, wireLimits } from './server.ts'
export { readTimeCursor, type TimePlace, timeCursor } from './time-cursor.ts'
export { readLater } from './unknown-names.ts'
