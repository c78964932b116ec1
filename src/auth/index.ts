export { Admission, type RateSettings, type Way } from './admission.ts'
export { Authenticator } from './authenticator.ts'
export { BasicTries, countedForMs, type KeptTry, latestCountMs, loginMarks, type TryMemory } from './basic-tries.ts'
export { ByteRate } from './byte-rate.ts'
export { ConfigNames, isMember, type NameSettings } from './config-names.ts'
export { normaliseInstance, type Presented, readCredentials, twoNames } from './credentials.ts'
export { firstAdminFile, firstAdminName, newFirstAdmin, storedAccounts, storeFirstAdmin } from './first-admin.ts'
export { FirstUses } from './first-uses.ts'
export { forgetCaller } from './forgetting.ts'
export { type CallerMemory, clockSlackMs, KnownCallers, keptForMs, type Verification } from './known-callers.ts'
export { type LocalAccount, LocalAccounts } from './local-accounts.ts'
export { door } from './middleware.ts'
export { Recent } from './recent.ts'
export { Refusals } from './refusals.ts'
export { checkSecret, hashSecret, nobodysHash } from './secret-hash.ts'
export { openCredential, sealCredential } from './session-credential.ts'
export {
  csrfTokenOf,
  giveSessionCookie,
  hashOfToken,
  isCsrfTokenOf,
  newSessionToken,
  sessionToken,
  takeSessionCookie,
} from './session-token.ts'
export { longestSessionMs, Sessions } from './sessions.ts'
export { SlidingWindow } from './sliding-window.ts'
export { Slowing } from './slowing.ts'
export { StorageAgents, type StorageInstance } from './storage-agents.ts'
export { StorageClient } from './storage-client.ts'
export { StorageUsers, type VerificationOutcome } from './storage-users.ts'
export { Tally } from './tally.ts'
export type { CredentialVerifier, Verified } from './verifier.ts'
