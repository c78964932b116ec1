import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { hashOfToken, sessionToken } from '../auth/index.ts'
import {
  type Api,
  type AppEnv,
  allQuery,
  operation,
  operationsOf,
  originOf,
  pageOfAll,
  sendResource,
} from '../http/index.ts'
import type { OpenSessions } from './open-sessions.ts'
import {
  AccountChange,
  AccountList,
  AccountResource,
  AccountSecret,
  accountsPath,
  EndedSessions,
  NewAccount,
  NewPassword,
  OwnAccount,
  ownAccountPath,
  SessionList,
  SessionsToEnd,
  SightQuery,
  SightResource,
  sessionsPath,
  sightPath,
} from './schema.ts'
import type { Accounts } from './service.ts'
import type { Sights } from './sights.ts'

const tag = 'Accounts'
const params = z.object({ username: z.string().openapi({ description: 'percent-encoded' }) })
const managing = { access: 'accounts:manage', tag } as const

const listAccounts = operation({
  id: 'listAccounts',
  ...managing,
  method: 'get',
  path: accountsPath,
  summary: 'All local accounts: of the config and of the database',
  description: 'Accounts of the config are read-only here, and win when the database has the same name.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The accounts', schema: AccountList } },
})
const getAccount = operation({
  id: 'getAccount',
  ...managing,
  method: 'get',
  path: `${accountsPath}/{username}`,
  summary: 'One local account',
  description: 'If config and database have the name, the account of the config.',
  input: { params },
  success: { 200: { description: 'The account', schema: AccountResource } },
})
const createAccount = operation({
  id: 'createAccount',
  ...managing,
  stepUp: true,
  method: 'post',
  path: accountsPath,
  summary: 'Create an account with a secret for its first sign-in',
  description:
    'The secret is in this answer only. Its owner replaces it with PUT /api/own-account/password. Idempotency-Key has no effect here, because a stored reply would be the secret.',
  input: { body: NewAccount },
  success: { 201: { description: 'Created', schema: AccountSecret, location: true } },
  errors: ['ALREADY_EXISTS'],
})
const changeAccount = operation({
  id: 'changeAccount',
  ...managing,
  stepUp: true,
  method: 'patch',
  path: `${accountsPath}/{username}`,
  summary: 'Change role and groups of an account',
  description: 'Applies to the next request of the account. The last admin stays an admin.',
  input: { params, body: AccountChange },
  success: { 200: { description: 'The account', schema: AccountResource } },
  errors: ['INVALID_TRANSITION'],
})
const disableAccount = operation({
  id: 'disableAccount',
  ...managing,
  stepUp: true,
  method: 'post',
  path: `${accountsPath}/{username}/disable`,
  summary: 'Disable an account and end its sessions',
  description: 'The name stays taken, because the audit trail has it. The last admin stays enabled.',
  input: { params },
  success: { 200: { description: 'The account', schema: AccountResource } },
  errors: ['INVALID_TRANSITION'],
})
const enableAccount = operation({
  id: 'enableAccount',
  ...managing,
  stepUp: true,
  method: 'post',
  path: `${accountsPath}/{username}/enable`,
  summary: 'Enable a disabled account',
  description: 'With the password that it had.',
  input: { params },
  success: { 200: { description: 'The account', schema: AccountResource } },
  errors: ['INVALID_TRANSITION'],
})
const resetAccount = operation({
  id: 'resetAccount',
  ...managing,
  stepUp: true,
  method: 'post',
  path: `${accountsPath}/{username}/reset`,
  summary: 'Give an account a new secret and end its sessions',
  description: 'The old password and the second factors end. The new secret is in this answer only.',
  input: { params },
  success: { 200: { description: 'The account and its secret', schema: AccountSecret } },
  errors: ['INVALID_TRANSITION'],
})
const removeFactors = operation({
  id: 'removeFactors',
  ...managing,
  stepUp: true,
  method: 'post',
  path: `${accountsPath}/{username}/remove-factors`,
  summary: 'Remove the second factors of an account and end its sessions',
  description: 'For a lost phone or passkey. Works for accounts of the config, too.',
  input: { params },
  success: { 200: { description: 'The account', schema: AccountResource } },
  errors: ['INVALID_TRANSITION'],
})
const getSight = operation({
  id: 'getSight',
  ...managing,
  method: 'get',
  path: sightPath,
  summary: 'Warehouses, cameras and operations that somebody may see, and why',
  description:
    'By the rules that every request passes. A user of a storage server is known after the first sign-in, with the groups of the last one. A badge has the limits of the device that it signs in on as well.',
  input: { query: SightQuery },
  success: { 200: { description: 'The sight', schema: SightResource } },
  errors: ['NOT_FOUND'],
})
const getOwnAccount = operation({
  id: 'getOwnAccount',
  method: 'get',
  path: ownAccountPath,
  access: 'caller',
  tag,
  summary: 'The local account of the caller',
  description: '404 for users of a storage server, devices and badges, which have no account here.',
  input: {},
  success: { 200: { description: 'The account', schema: OwnAccount } },
  errors: ['NOT_FOUND'],
})
const changePassword = operation({
  id: 'changeOwnPassword',
  stepUp: true,
  method: 'put',
  path: `${ownAccountPath}/password`,
  access: 'caller',
  tag,
  summary: 'Change the own password',
  description:
    'For accounts of the database. 12 characters or more, of any kind; the first guesses are refused (NIST SP 800-63B). All sessions of the account end, also this one.',
  input: { body: NewPassword },
  success: { 204: { description: 'Changed; sign in with the new password' } },
  errors: ['INVALID_TRANSITION'],
})
const listSessions = operation({
  id: 'listSessions',
  method: 'get',
  path: sessionsPath,
  access: 'caller',
  tag,
  summary: 'Open sessions of the console: the own ones, for admins those of everybody',
  description: 'Shifts on handhelds are no sessions; they end with their device or badge.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The sessions, the newest first', schema: SessionList } },
})
const endSession = operation({
  id: 'endSession',
  method: 'delete',
  path: `${sessionsPath}/{id}`,
  access: 'caller',
  tag,
  summary: 'End one session: an own one, for admins one of anybody',
  description: 'Its browser is signed out with the next request.',
  input: { params: z.object({ id: z.string() }) },
  success: { 204: { description: 'Ended' } },
  errors: ['STORAGE_FULL'],
})
const endSessions = operation({
  id: 'endSessions',
  method: 'post',
  path: `${sessionsPath}/end`,
  access: 'caller',
  tag,
  summary: 'End sessions together: the own other ones, for admins those of a user or of everybody',
  description: 'The session of this request stays open.',
  input: { body: SessionsToEnd, bodyOptional: true },
  success: { 200: { description: 'How many ended', schema: EndedSessions } },
  errors: ['PERMISSION_DENIED'],
})

export type AccountParts = {
  readonly accounts: Accounts
  readonly openSessions: OpenSessions
  readonly sights: Sights
}

/** Adds /api/accounts, /api/sight, /api/own-account and /api/sessions. */
export function accountRoutes(api: Api, { accounts, openSessions, sights }: AccountParts): void {
  const named = (c: { req: { valid(from: 'param'): { username: string } } }) => c.req.valid('param').username
  api.openapi(listAccounts, (c) => c.json(pageOfAll(accounts.list(), c.req.valid('query')), 200))
  api.openapi(getAccount, (c) => sendResource(c, accounts.account(named(c))))
  api.openapi(createAccount, async (c) => {
    const made = await accounts.add(c.req.valid('json'), originOf(c))
    c.header('Location', `${accountsPath}/${encodeURIComponent(made.username)}`)
    return c.json(made, 201)
  })
  api.openapi(changeAccount, async (c) =>
    sendResource(c, await accounts.change(named(c), c.req.valid('json'), originOf(c))),
  )
  api.openapi(disableAccount, async (c) => sendResource(c, await accounts.disable(named(c), originOf(c))))
  api.openapi(enableAccount, async (c) => sendResource(c, await accounts.enable(named(c), originOf(c))))
  api.openapi(resetAccount, async (c) => c.json(await accounts.reset(named(c), originOf(c)), 200))
  api.openapi(removeFactors, async (c) => sendResource(c, await accounts.removeFactors(named(c), originOf(c))))
  api.openapi(getSight, (c) => {
    const operations = operationsOf(api)
    return c.json(sights.of(c.req.valid('query').name, c.get('caller'), operations), 200)
  })
  api.openapi(getOwnAccount, (c) => c.json(accounts.own(c.get('caller')), 200))
  api.openapi(changePassword, async (c) => {
    await accounts.changePassword(c.req.valid('json'), originOf(c))
    return c.body(null, 204)
  })
  api.openapi(listSessions, (c) =>
    c.json(pageOfAll(openSessions.list(c.get('caller'), currentOf(c)), c.req.valid('query')), 200),
  )
  api.openapi(endSession, async (c) => {
    await openSessions.end(c.req.valid('param').id, originOf(c))
    return c.body(null, 204)
  })
  api.openapi(endSessions, async (c) => {
    const ended = await openSessions.endMany(c.req.valid('json'), originOf(c), currentOf(c))
    return c.json({ success: true as const, ended }, 200)
  })
}

/** Returns the hash of the session of this request; undefined for other credentials. */
function currentOf(c: Context<AppEnv>): Buffer | undefined {
  const token = c.req.header('authorization') === undefined ? sessionToken(c) : undefined
  return token === undefined ? undefined : hashOfToken(token)
}
