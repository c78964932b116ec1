export { Authenticator } from './authenticator.ts'
export { ConfigNames, isMember, type NameSettings, roleOfGroups } from './config-names.ts'
export { normaliseInstance, type Presented, readCredentials, twoNames } from './credentials.ts'
export type { NewPasskey, PasskeyAnswer } from './factors/passkeys.ts'
export { type FactorState, SecondFactors, type ShownFactor } from './factors/second-factors.ts'
export { base32 } from './factors/totp.ts'
export { firstAdminFile, firstAdminName, hasAccounts, newFirstAdmin, storeFirstAdmin } from './first-admin.ts'
export { FirstUses } from './first-uses.ts'
export { type CallerMemory, clockSlackMs, KnownCallers, keptForMs, type Verification } from './known-callers.ts'
export { type LocalAccount, LocalAccounts } from './local-accounts.ts'
export { door } from './middleware.ts'
export { passwordProblem } from './password-rules.ts'
export { Admission, type RateSettings, type Way } from './rates/admission.ts'
export {
  BasicTries,
  countedForMs,
  type KeptTry,
  latestCountMs,
  loginMarks,
  type TryMemory,
} from './rates/basic-tries.ts'
export { ByteRate } from './rates/byte-rate.ts'
export { forgetCaller } from './rates/forgetting.ts'
export { afterWrong, freeAttemptsOfDevice, type Tries, waitMs } from './rates/patience.ts'
export { Recent } from './rates/recent.ts'
export { Slowing } from './rates/slowing.ts'
export { StrangerWork } from './rates/stranger-work.ts'
export { Tally } from './rates/tally.ts'
export { Refusals } from './refusals.ts'
export { checkSecret, hashSecret, nobodysHash, tooManySignIns } from './secret-hash.ts'
export { openCredential, sealCredential } from './sessions/credential.ts'
export type { OpenSession } from './sessions/open-sessions.ts'
export { longestSessionMs, Sessions } from './sessions/sessions.ts'
export {
  csrfTokenOf,
  giveSessionCookie,
  hashOfToken,
  isCsrfTokenOf,
  newSessionToken,
  sessionToken,
  takeSessionCookie,
} from './sessions/token.ts'
export { StorageAgents, type StorageInstance } from './storage/agents.ts'
export { StorageClient } from './storage/client.ts'
export type { ServerWellness } from './storage/gate.ts'
export { StorageUsers, type VerificationOutcome } from './storage/users.ts'
export { type StoredAccount, StoredAccounts } from './stored-accounts.ts'
export type { CredentialVerifier, GrantVerifier, SignedInByGrant, Verified } from './verifier.ts'
