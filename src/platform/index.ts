export { type ApplianceImage, applianceImage, type LastUpdate } from './appliance-image.ts'
export { type Clock, isoTime, systemClock } from './clock.ts'
export { type ClockReport, ClockSync, type ClockSyncNeeds, clockStates } from './clock-sync.ts'
export { type FreeSpace, freeSpace } from './disk.ts'
export { bytesWrittenHere, bytesWrittenTo, diskDevice } from './disk-device.ts'
export {
  giveToGroup,
  linkBelow,
  makeGroupFolder,
  ownFile,
  PartFile,
  readFileIfThere,
  syncFolder,
  writeFileDurably,
  writeFileDurablyAside,
  writeForGroup,
} from './files.ts'
export { giveBackFreeMemory } from './free-memory.ts'
export { KeyedHash } from './keyed-hash.ts'
export { createLogger, isJournal, type LogFormat, type Logger, logFormats, scrubText, silentLogger } from './log.ts'
export { escapedMarkup } from './markup.ts'
export { neighbourhoodOf, networkOf } from './network-of.ts'
export { type LineSpan, shareAround, spansAround } from './polygon.ts'
export { processorCelsius } from './processor-heat.ts'
export { type RandomBytes, randomSecret, systemRandom } from './random.ts'
export { loadBoxKey, type SecretBox, secretBox } from './secret-box.ts'
export { type ServiceManager, serviceManager } from './service-manager.ts'
export { sizeWords } from './size-words.ts'
export { type SystemUser, systemUser } from './system-user.ts'
export { TaskLimit } from './task-limit.ts'
export { temporaryFolder } from './temporary-folder.ts'
export { type Throttling, throttlingOf } from './throttling.ts'
export { uuidv7Maker } from './uuid.ts'
export { isWithinHours, parseWeeklyHours, toNextMinute, type WeeklyHours } from './weekly-hours.ts'
export { zoneOffset } from './zone-offset.ts'
