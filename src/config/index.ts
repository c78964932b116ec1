export { nearestNames } from '../errors/index.ts'
export { readSecretFile, SecretFileError, type SecretFileErrorCode } from '../platform/secrets/secret-file.ts'
export {
  type AlertKind,
  alertKindChoices,
  alertKinds,
  meansKind,
  type Severity,
  severities,
  severityOf,
} from './alerts/kinds.ts'
export { fillTemplate, type TemplateValues } from './alerts/template.ts'
export { zonesAreLarge } from './cross-checks.ts'
export { siteIdOf } from './derived.ts'
export { formatDuration, parseDuration } from './duration.ts'
export { sharedNamePlaces } from './faults.ts'
export { changedFiles, type FileMarks, fileMarks, settingsFiles } from './file-marks.ts'
export type { HubConfig } from './hub-schema.ts'
export { type DatabaseAddress, isLoopback, network, readDatabaseUrl } from './kinds.ts'
export {
  type Checked,
  checkConfig,
  type Loaded,
  loadConfig,
  loadHubConfig,
  problemList,
  type Surroundings,
} from './load.ts'
export {
  type ConfigName,
  callbackNameOf,
  type Identity,
  identitiesOf,
  isOidcInstance,
  type Namespace,
  oidcInstance,
  readName,
} from './names.ts'
export { applyLive, type Plan, plan } from './plan.ts'
export { formatProblem, type Place, type Problem } from './problems.ts'
export { type ConfigKey, type ConfigSection, configExample, configReference, configSections } from './reference.ts'
export {
  type DeviceRole,
  deviceRoles,
  type Permission,
  permissions,
  permissionsOf,
  type Role,
  roleNames,
  roleWhileUnconfirmed,
} from './roles.ts'
export type { CameraConfig, Config } from './schema.ts'
export { type EventKind, eventKinds, motionRanges } from './sections/cameras.ts'
export { warningCodes } from './sections/floor.ts'
export { username } from './sections/shared.ts'
export { formatSize, parseSize } from './size.ts'
