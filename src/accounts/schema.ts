import { z } from '@hono/zod-openapi'
import { permissions, roleNames } from '../config/index.ts'
import { listOf, nameText, optional, resource, text, timeOut } from '../http/index.ts'

export const accountsPath = '/api/accounts'
export const ownAccountPath = '/api/own-account'
export const sessionsPath = '/api/sessions'
export const sightPath = '/api/sight'

const Role = z.enum(roleNames)
/** As the config takes it. */
const username = () =>
  nameText(128).regex(/^[^: ]([^:]*[^: ])?$/, 'expected a user name without a colon and without a space at its ends')
const groups = () =>
  z.array(nameText(128)).max(64).openapi({
    description: 'groups that the config may name as `group:NAME@` and the address of this gateway',
  })

export const NewAccount = z
  .object({ username: username(), role: Role, groups: optional(groups()) })
  .openapi('NewAccount')
export type NewAccount = z.output<typeof NewAccount>

export const AccountChange = z
  .object({ role: Role.optional(), groups: groups().nullable().optional(), passkeyAlone: z.boolean().optional() })
  .openapi('AccountChange', { description: 'An absent field stays as it is; groups null: none.' })
export type AccountChange = z.output<typeof AccountChange>

const accountShape = {
  username: z.string(),
  source: z.enum(['config', 'database']).openapi({ description: 'an account of the config is changed there' }),
  role: Role,
  groups: z.array(z.string()),
  status: z.enum(['active', 'disabled', 'overridden']).openapi({
    description: 'overridden: the config has an account of the same name, and that one counts',
  }),
  createdAt: timeOut().nullable().openapi({ description: 'null: an account of the config' }),
  disabledAt: timeOut().nullable(),
  sessions: z.int().openapi({ description: 'open sessions of the console' }),
  factors: z.int().openapi({ description: 'second factors that are set up' }),
  passkeyAlone: z.boolean().openapi({ description: 'a passkey signs in without a password' }),
}
const Account = z.object(accountShape).openapi('Account')
export type Account = z.infer<typeof Account>
export const AccountList = listOf(Account)
export const AccountResource = resource(accountShape).openapi('AccountResource')

export const AccountSecret = resource({
  ...accountShape,
  secret: z.string().openapi({ description: 'for its first sign-in; shown once' }),
}).openapi('AccountSecret')
export type AccountSecret = Account & { readonly success: true; readonly secret: string }

export const OwnAccount = resource({
  ...accountShape,
  canChangePassword: z.boolean().openapi({ description: 'false: the config has the hash of its secret' }),
  secondFactor: z.object({
    required: z.boolean().openapi({ description: 'by auth.secondFactor' }),
    factors: z.array(
      z.object({
        id: z.int(),
        kind: z.enum(['totp', 'passkey']),
        name: z.string(),
        createdAt: timeOut(),
        usedAt: timeOut().nullable(),
      }),
    ),
    recoveryCodes: z.int().openapi({ description: 'unused ones' }),
  }),
}).openapi('OwnAccount')
export type OwnAccount = z.infer<typeof OwnAccount>

export const NewPassword = z
  .object({
    current: z.string().min(1).max(1024),
    password: z.string().openapi({
      description: '12 to 1024 characters of any kind; the first guesses are refused',
    }),
  })
  .openapi('NewPassword')

const factorName = () => nameText(64).openapi({ description: 'for its owner, such as the name of the phone' })
export const BegunTotp = resource({
  secret: z.string().openapi({ description: 'base32, for typing; shown once' }),
  uri: z.string().openapi({ description: 'text of the QR code' }),
  qr: z.string().openapi({ description: 'SVG' }),
}).openapi('BegunTotp')
export const TotpConfirmation = z.object({ code: text(16), name: factorName() }).openapi('TotpConfirmation')
export const RecoveryCodes = resource({
  recoveryCodes: z.array(z.string()).openapi({
    description: 'shown once; each replaces the second factor once. Empty beside a further factor',
  }),
}).openapi('RecoveryCodes')
export const PasskeyCreation = resource({
  options: z.record(z.string(), z.unknown()).openapi({
    description: 'PublicKeyCredentialCreationOptionsJSON, for navigator.credentials.create',
  }),
}).openapi('PasskeyCreation')
export const PasskeyRegistration = z
  .object({
    name: factorName(),
    passkey: z
      .object({
        id: text(2048),
        response: z.object({ clientDataJSON: text(16_384), attestationObject: text(65_536) }),
      })
      .openapi({ description: 'PublicKeyCredential.toJSON()' }),
  })
  .openapi('PasskeyRegistration')

const sessionShape = {
  id: z.string(),
  username: z.string(),
  instance: z.string(),
  address: z.string().nullable().openapi({ description: 'network address of the sign-in' }),
  createdAt: timeOut(),
  expiresAt: timeOut().openapi({ description: 'unless it is used before' }),
  current: z.boolean().openapi({ description: 'the session of this request' }),
}
const OpenSession = z.object(sessionShape).openapi('OpenSession')
export type OpenSession = z.infer<typeof OpenSession>
export const SessionList = listOf(OpenSession)

export const SessionsToEnd = z
  .object({
    username: optional(nameText(128)),
    instance: optional(nameText(2048)).openapi({ description: "of the name; default: this gateway's own" }),
    all: optional(z.boolean()).openapi({ description: 'true: those of everybody' }),
  })
  .openapi('SessionsToEnd', { description: "Empty: the caller's own, except the session of this request." })
export type SessionsToEnd = z.output<typeof SessionsToEnd>
export const EndedSessions = resource({ ended: z.int() }).openapi('EndedSessions')

/** Why somebody sees a thing or does not. */
const warehouseRule = z.enum(['everyone', 'admin', 'viewers', 'not-in-viewers', 'other-warehouses'])
const cameraRule = z.enum(['admin', 'owner', 'viewers', 'not-in-viewers'])

export const SightQuery = z.object({
  name: text(2048).openapi({
    description: 'as the config writes names: `alice`, `alice@` and the address of a storage server, `device:wall-1`',
    example: 'nora',
  }),
})
export const SightResource = resource({
  username: z.string(),
  instance: z.string(),
  isDevice: z.boolean(),
  role: Role,
  groups: z.array(z.string()),
  warehouses: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      seen: z.boolean(),
      why: warehouseRule.openapi({
        description:
          'everyone: the warehouse has no viewers; viewers: one of `warehouses[].viewers` means the caller; other-warehouses: the device is kept to others',
      }),
      by: z.array(z.string()).openapi({ description: 'the entries of viewers that mean the caller' }),
    }),
  ),
  cameras: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      seen: z.boolean(),
      why: cameraRule,
      by: z.array(z.string()).openapi({ description: 'the entries of viewers that mean the caller' }),
      control: z.boolean().openapi({ description: 'may start, stop and tune it' }),
      export: z.boolean().openapi({ description: 'may hand out its clips' }),
    }),
  ),
  routes: z.array(
    z.object({
      permission: z.enum([...permissions, 'caller']).openapi({ description: 'caller: for everybody who is signed in' }),
      granted: z.boolean().openapi({ description: 'by the role' }),
      operations: z.array(z.string()),
    }),
  ),
}).openapi('Sight')
export type Sight = z.infer<typeof SightResource>
