export { type Clock, isoTime, systemClock } from './clock/clock.ts'
export { type ClockReport, ClockSync, type ClockSyncNeeds, clockStates } from './clock/sync.ts'
export { isWithinHours, parseWeeklyHours, toNextMinute, type WeeklyHours } from './clock/weekly-hours.ts'
export { zoneOffset } from './clock/zone-offset.ts'
export { type FreeSpace, freeSpace, sizeWords } from './disk.ts'
export {
  giveToGroup,
  linkBelow,
  makeFolder,
  makeFolderNow,
  makeGroupFolder,
  ownFile,
  PartFile,
  readFileIfThere,
  syncFolder,
  writeFileDurably,
  writeFileDurablyAside,
  writeForGroup,
} from './files.ts'
export { type HeldFolders, heldFolders, holdAlso, holdFolder, identityOf, releaseFolder } from './held-folder.ts'
export { createLogger, isJournal, type LogFormat, type Logger, logFormats, scrubText, silentLogger } from './log.ts'
export { type ApplianceImage, applianceImage, type LastUpdate } from './machine/appliance-image.ts'
export { bytesWrittenHere, bytesWrittenTo, diskDevice } from './machine/disk-device.ts'
export { asDaemonUser, daemonUser, type Owner } from './machine/folder-owner.ts'
export { giveBackFreeMemory } from './machine/free-memory.ts'
export { libc } from './machine/libc.ts'
export { processorCelsius } from './machine/processor-heat.ts'
export { sandboxed, unitLimits, unitText } from './machine/sandbox.ts'
export { type ServiceManager, serviceManager } from './machine/service-manager.ts'
export { type SystemUser, systemUser } from './machine/system-user.ts'
export { type Throttling, throttlingOf } from './machine/throttling.ts'
export { nameOfUid, peerUid } from './machine/unix-peer.ts'
export { escapedMarkup } from './markup.ts'
export {
  type AnswerHead,
  type AnswerLimits,
  errorLine,
  OutsideTimeout,
  outsideHttpsRequest,
  outsideRequest,
  retryAfterSeconds,
  type WholeAnswer,
  wholeAnswer,
} from './network/answer.ts'
export { answerBounds } from './network/bounds.ts'
export { isBoundedDer } from './network/der.ts'
export { dial, dialThrough, dialThroughTls } from './network/dial.ts'
export { NoOutsideAnswer, outsideFetch } from './network/fetch.ts'
export { outsideJson } from './network/json.ts'
export { neighbourhoodOf, networkOf } from './network-of.ts'
export { type LineSpan, shareAround, spansAround } from './polygon.ts'
export { KeyedHash } from './secrets/keyed-hash.ts'
export { type RandomBytes, randomSecret, systemRandom } from './secrets/random.ts'
export { loadBoxKey, type SecretBox, secretBox } from './secrets/secret-box.ts'
export { uuidv7Maker } from './secrets/uuid.ts'
export { temporaryFolder } from './temporary-folder.ts'
export { print, printError, styleCode, terminalStyles, terminalText } from './terminal.ts'
export { asAsker, ownTurn } from './turns.ts'
export { type XmlEvent, xmlAttributes, xmlEvents } from './xml.ts'
