export { acceptsPage } from './answers/accepts-page.ts'
export { batchRefusal } from './answers/batch-refusal.ts'
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
} from './answers/envelope.ts'
export { type FileAnswer, sendFile } from './answers/file-answer.ts'
export { type PackedText, packText } from './answers/packed-text.ts'
export { type PageLanguage, pageLanguage, pageLanguages } from './answers/page-language.ts'
export { printedPagePolicy } from './answers/printed-page.ts'
export { type Api, always, newApi, newRoot } from './app.ts'
export { type Caller, identityOf, type SignIn } from './caller.ts'
export { type AppEnv, demand, measured, originOf, type RequestOrigin } from './context.ts'
export { crossOrigin } from './cross-origin.ts'
export { type DescribedOperation, type Description, describeRoutes, type Example } from './description.ts'
export { asOpenApi30 } from './openapi-30.ts'
export { type DeclaredOperation, operation, operationsOf } from './operation.ts'
export { bodyParts, jsonBodies, jsonBodyLimitBytes, readBody, readBodyInTime, readPackedBody } from './requests/body.ts'
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
} from './requests/fields.ts'
export { ifMatchHeaders, versionOf } from './requests/if-match.ts'
export { isKnown } from './requests/known-tag.ts'
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
} from './requests/once.ts'
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
} from './requests/pagination.ts'
export { sharedParameter } from './requests/parameters.ts'
export { readTimeCursor, type TimePlace, timeCursor } from './requests/time-cursor.ts'
export { readLater } from './requests/unknown-names.ts'
export { initTls, type TlsMade, takeTls } from './server/box-authority.ts'
export { type Certificate, readCertificate, type TlsFiles } from './server/certificate.ts'
export { connectionOf, noteKnown } from './server/connections.ts'
export { isOpening, type OutSocket, openSocket } from './server/out-socket.ts'
export { probePaths } from './server/probes.ts'
export { type RequestTimes, requestMetrics } from './server/request-metrics.ts'
export { type BoxAuthority, servedAuthority } from './server/served-authority.ts'
export { HttpListener, type ListenOptions, type WireLimits, wireLimits } from './server/server.ts'
