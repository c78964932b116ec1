import { z } from '@hono/zod-openapi'
import { type SecondFactors, type Sessions, sessionToken } from '../auth/index.ts'
import { qrPicture } from '../devices/index.ts'
import { type Api, numericPath, operation, originOf } from '../http/index.ts'
import {
  BegunTotp,
  ownAccountPath,
  PasskeyCreation,
  PasskeyRegistration,
  RecoveryCodes,
  TotpConfirmation,
} from './schema.ts'
import type { Accounts } from './service.ts'

const own = { access: 'caller', tag: 'Accounts', stepUp: true } as const

const beginTotp = operation({
  id: 'beginTotp',
  ...own,
  method: 'post',
  path: `${ownAccountPath}/totp`,
  summary: 'Begin an authenticator app: the secret that the app reads from a QR code',
  description: 'It counts once its first code is confirmed. 404 for callers without an account of this gateway.',
  input: {},
  success: { 200: { description: 'The secret', schema: BegunTotp } },
  errors: ['NOT_FOUND'],
})
const confirmTotp = operation({
  id: 'confirmTotp',
  ...own,
  method: 'post',
  path: `${ownAccountPath}/totp/confirm`,
  summary: 'Confirm an authenticator app by its first code (TOTP, RFC 6238)',
  description: 'The first factor of an account comes with recovery codes.',
  input: { body: TotpConfirmation },
  success: { 200: { description: 'Set up', schema: RecoveryCodes } },
  errors: ['NOT_FOUND'],
})
const beginPasskey = operation({
  id: 'beginPasskey',
  ...own,
  method: 'post',
  path: `${ownAccountPath}/passkeys/begin`,
  summary: 'Begin a passkey: the options for the browser',
  description: 'Valid for five minutes, once.',
  input: {},
  success: { 200: { description: 'The options', schema: PasskeyCreation } },
  errors: ['NOT_FOUND'],
})
const addPasskey = operation({
  id: 'addPasskey',
  ...own,
  method: 'post',
  path: `${ownAccountPath}/passkeys`,
  summary: 'Add the passkey that the browser made',
  description: 'The first factor of an account comes with recovery codes.',
  input: { body: PasskeyRegistration },
  success: { 200: { description: 'Set up', schema: RecoveryCodes } },
  errors: ['NOT_FOUND'],
})
const removeFactor = operation({
  id: 'removeOwnFactor',
  ...own,
  method: 'delete',
  path: `${ownAccountPath}/factors/{id}`,
  summary: 'Remove an own second factor',
  description: 'With the last one the recovery codes go.',
  input: { params: z.object({ id: z.string() }) },
  success: { 204: { description: 'Removed' } },
  errors: ['STORAGE_FULL'],
})
const newCodes = operation({
  id: 'newRecoveryCodes',
  ...own,
  method: 'post',
  path: `${ownAccountPath}/recovery-codes`,
  summary: 'Make new recovery codes; the old ones end',
  description: '404 without a second factor.',
  input: {},
  success: { 200: { description: 'The codes', schema: RecoveryCodes } },
  errors: ['NOT_FOUND'],
})

export type FactorParts = {
  readonly accounts: Accounts
  readonly secondFactors: SecondFactors
  readonly sessions: Pick<Sessions, 'steppedUp'>
}

/** Adds the second factors of the own account. */
export function factorRoutes(api: Api, { accounts, secondFactors, sessions }: FactorParts): void {
  /** A factor that was just set up counts as shown. */
  const shownNow = async (c: Parameters<typeof sessionToken>[0]) => {
    const token = sessionToken(c)
    if (token !== undefined) await sessions.steppedUp(token)
  }
  api.openapi(beginTotp, (c) => {
    const { secret, uri } = secondFactors.beginTotp(accounts.ownName(c.get('caller')))
    return c.json({ success: true as const, secret, uri, qr: qrPicture(uri) }, 200)
  })
  api.openapi(confirmTotp, async (c) => {
    accounts.ownName(c.get('caller'))
    const { code, name } = c.req.valid('json')
    const recoveryCodes = await secondFactors.confirmTotp(code, name, originOf(c))
    await shownNow(c)
    return c.json({ success: true as const, recoveryCodes }, 200)
  })
  api.openapi(beginPasskey, async (c) => {
    const username = accounts.ownName(c.get('caller'))
    const options = await secondFactors.creationOf(username)
    return c.json({ success: true as const, options: { ...options } }, 200)
  })
  api.openapi(addPasskey, async (c) => {
    accounts.ownName(c.get('caller'))
    const { passkey, name } = c.req.valid('json')
    const recoveryCodes = await secondFactors.addPasskey(passkey, name, originOf(c))
    await shownNow(c)
    return c.json({ success: true as const, recoveryCodes }, 200)
  })
  api.openapi(removeFactor, async (c) => {
    accounts.ownName(c.get('caller'))
    await secondFactors.remove(numericPath(c.req.valid('param').id), originOf(c))
    return c.body(null, 204)
  })
  api.openapi(newCodes, async (c) => {
    accounts.ownName(c.get('caller'))
    return c.json({ success: true as const, recoveryCodes: await secondFactors.newCodes(originOf(c)) }, 200)
  })
}
