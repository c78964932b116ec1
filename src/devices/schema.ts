import { z } from '@hono/zod-openapi'
import { deviceRoles } from '../config/index.ts'
import { barcode, listOf, nameText, optional, resource, rowId, text, timeOut } from '../http/index.ts'

export const devicesPath = '/api/devices'
export const operatorsPath = '/api/operators'
export const signedUrlsPath = '/api/signed-urls'

const Role = z.enum(deviceRoles)

/** Characters that are safe in a header, and no `@`, so that no name is an address. */
const name = () => text(64).regex(/^[A-Za-z0-9._-]+$/, 'letters, digits, dot, underscore and hyphen')

const pin = () =>
  z
    .string()
    .regex(/^\d{4,8}$/, 'expected 4 to 8 digits')
    .refine((digits) => !isEasy(digits), 'is too easy to guess')

/** All the same, or one after the other. */
function isEasy(digits: string): boolean {
  const steps = new Set([...digits].slice(1).map((digit, i) => (Number(digit) - Number(digits[i]) + 10) % 10))
  return steps.size === 1 && [0, 1, 9].includes([...steps][0] ?? 0)
}

export const NewDevice = z
  .object({
    name: name().openapi({ description: 'its user name' }),
    kind: optional(z.enum(['handheld', 'kiosk'])).openapi({ description: 'kiosk: a wall screen, which can only read' }),
    role: optional(Role).openapi({ description: 'the highest role of anyone who uses it; of a kiosk: viewer' }),
    warehouseIds: optional(z.array(rowId()).min(1).max(64)).openapi({
      description: 'the only warehouses that it sees; by default those that the caller sees',
    }),
  })
  .openapi('NewDevice')
export type NewDevice = z.output<typeof NewDevice>

const deviceShape = {
  id: rowId(),
  name: z.string(),
  kind: z.enum(['handheld', 'kiosk']),
  role: Role,
  warehouseIds: z.array(rowId()).nullable(),
  status: z.enum(['waiting', 'enrolled', 'revoked']),
  createdAt: timeOut(),
  enrolledAt: timeOut().nullable(),
  seenAt: timeOut().nullable().openapi({ description: 'accurate to some minutes' }),
  seenAddress: z.string().nullable(),
  revokedAt: timeOut().nullable(),
}
const Device = z.object(deviceShape).openapi('Device')
export type Device = z.infer<typeof Device>
export const DeviceList = listOf(Device)
export const DeviceResource = resource(deviceShape).openapi('DeviceResource')

export const Enrolment = resource({
  ...deviceShape,
  enrolment: z
    .object({
      code: z.string(),
      expiresAt: timeOut(),
      text: z.string().openapi({
        description:
          'text of the QR code: JSON {url, code, caFingerprint}; the last is the SHA-256 of the CA of the box, absent without one',
      }),
      qr: z.string().openapi({ description: 'SVG' }),
    })
    .openapi({ description: 'shown once' }),
}).openapi('DeviceEnrolment')
export type Enrolment = z.infer<typeof Enrolment>

export const EnrolmentCode = z.object({ code: text(128) }).openapi('EnrolmentCode')

export const NewPairingResource = resource({
  code: z.string().openapi({ description: 'the letters that the screen shows for people' }),
  token: z.string().openapi({ description: 'for the screen alone; shown once' }),
  url: z.string().openapi({ description: 'text of the QR code: the page that confirms' }),
  qr: z.string().openapi({ description: 'SVG' }),
  expiresAt: timeOut(),
}).openapi('NewPairing')
export type NewPairing = z.infer<typeof NewPairingResource>

const openPairing = {
  code: z.string(),
  address: z.string().openapi({ description: 'from which the screen asked' }),
  expiresAt: timeOut(),
  confirmed: z.boolean(),
}
export const OpenPairingResource = resource(openPairing).openapi('Pairing')
export type OpenPairing = z.infer<z.ZodObject<typeof openPairing>>

export const PairingConfirmation = z
  .object({
    name: name().openapi({ description: 'the user name of the screen' }),
    warehouseIds: optional(z.array(rowId()).min(1).max(64)).openapi({
      description: 'the only warehouses that it sees; by default those that the caller sees',
    }),
  })
  .openapi('PairingConfirmation')
export const PairingToken = z.object({ token: text(128) }).openapi('PairingToken')
export const CollectedPairingResource = resource({ enrolmentCode: z.string().nullable() }).openapi('CollectedPairing')
export type CollectedPairing = z.infer<typeof CollectedPairingResource>

const credentialShape = {
  username: z.string().openapi({ description: 'X-Storage-Username' }),
  instance: z.string().openapi({ description: 'X-Storage-Instance' }),
  secret: z.string().openapi({ description: 'bearer token; shown once' }),
  role: Role,
}
export const DeviceCredential = resource({ ...credentialShape, deviceId: rowId(), siteId: z.string() }).openapi(
  'DeviceCredential',
)
export type DeviceCredential = z.infer<typeof DeviceCredential>

export const NewOperator = z
  .object({ username: nameText(128), role: optional(Role), badge: barcode(), pin: pin() })
  .openapi('NewOperator', { description: 'badge: as a scanner reads it' })
export type NewOperator = z.output<typeof NewOperator>
export const NewPin = z.object({ pin: pin() }).openapi('NewPin')

const operatorShape = {
  id: rowId(),
  username: z.string(),
  role: Role,
  createdAt: timeOut(),
  revokedAt: timeOut().nullable(),
}
const Operator = z.object(operatorShape).openapi('BadgeOperator')
export type Operator = z.infer<typeof Operator>
export const OperatorList = listOf(Operator)
export const OperatorResource = resource(operatorShape).openapi('BadgeOperatorResource')

export const BadgeSignIn = z
  .object({ badge: barcode(), pin: z.string().regex(/^\d{4,8}$/, 'expected 4 to 8 digits') })
  .openapi('BadgeSignIn')
export const ShiftSession = resource({ ...credentialShape, expiresAt: timeOut() }).openapi('ShiftSession')
export type ShiftSession = z.infer<typeof ShiftSession>

export const NewSignedUrl = z
  .object({
    path: text(2048).openapi({
      description: 'path of a clip, snapshot, photo, label, story, receipt or live view, with its query',
    }),
    seconds: optional(z.int().min(1).max(3600)).openapi({ description: 'default 300' }),
  })
  .openapi('NewSignedUrl')
export const SignedUrl = resource({ url: z.string(), expiresAt: timeOut() }).openapi('SignedUrl')
