import { z } from '@hono/zod-openapi'
import type { Admission, Refusals } from '../auth/index.ts'
import { AppError } from '../errors/index.ts'
import {
  type Api,
  allQuery,
  askOf,
  numericPath,
  onceHeaders,
  operation,
  originOf,
  pageOfAll,
  send,
  sendResource,
} from '../http/index.ts'
import {
  BadgeSignIn,
  DeviceCredential,
  DeviceList,
  DeviceResource,
  devicesPath,
  Enrolment,
  EnrolmentCode,
  NewDevice,
  NewOperator,
  NewPin,
  NewSignedUrl,
  OperatorList,
  OperatorResource,
  operatorsPath,
  ShiftSession,
  SignedUrl,
  signedUrlsPath,
} from './schema.ts'
import type { DeviceService } from './service.ts'
import type { SignedUrls } from './signed-urls.ts'

const tag = 'Devices'
const params = z.object({ id: z.string() })
const managing = { access: 'whms:write', tag } as const
const once = z.object(onceHeaders)

/** The one public route of this room: the code identifies the device. */
export const enrolPath = `${devicesPath}/enrol`

const createDevice = operation({
  id: 'createDevice',
  stepUp: true,
  ...managing,
  method: 'post',
  path: devicesPath,
  summary: 'Create a device and its enrolment code, which works once within 15 minutes',
  description:
    'The answer has the text of the QR code that the handheld scans. The secret is created when the device enrols.',
  input: { headers: once, body: NewDevice },
  success: { 201: { description: 'Created; not enrolled yet', schema: Enrolment, location: true } },
  errors: ['ALREADY_EXISTS', 'REFERENCE_NOT_FOUND'],
})
const listDevices = operation({
  id: 'listDevices',
  ...managing,
  method: 'get',
  path: devicesPath,
  summary: 'All devices, including revoked ones',
  description: 'Each with the time of its enrolment, and the time and address of its last request.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The devices', schema: DeviceList } },
})
const getDevice = operation({
  id: 'getDevice',
  ...managing,
  method: 'get',
  path: `${devicesPath}/{id}`,
  summary: 'One device',
  description: 'With the time of its enrolment, and the time and address of its last request.',
  input: { params },
  success: { 200: { description: 'The device', schema: DeviceResource } },
})
const renewCode = operation({
  id: 'renewEnrolment',
  stepUp: true,
  ...managing,
  method: 'post',
  path: `${devicesPath}/{id}/enrolment`,
  summary: 'Create a new enrolment code for a device; its secret stays valid until the code is used',
  description: 'For a handheld that was reset or replaced. The old secret ends when the new code is used.',
  input: { params },
  success: { 200: { description: 'The code', schema: Enrolment } },
})
const revokeDevice = operation({
  id: 'revokeDevice',
  ...managing,
  method: 'post',
  path: `${devicesPath}/{id}/revoke`,
  summary: 'Revoke a device and end every shift on it',
  description: 'Its secret and every shift on it end immediately. A revoked device stays in the list.',
  input: { params },
  success: { 200: { description: 'The device', schema: DeviceResource } },
})
const enrol = operation({
  id: 'enrolDevice',
  method: 'post',
  path: enrolPath,
  access: 'public',
  tag,
  summary: 'Exchange an enrolment code for the secret of the device',
  description:
    'Needs no sign-in: the code identifies the device. It works once, within 15 minutes. The secret is shown in this answer only.',
  input: { body: EnrolmentCode },
  success: { 200: { description: 'The credentials of the device', schema: DeviceCredential } },
  errors: ['INVALID_CREDENTIALS'],
})
const signIn = operation({
  id: 'signInByBadge',
  method: 'post',
  path: `${devicesPath}/sign-in`,
  access: 'caller',
  tag,
  summary: 'Start a shift: sign a person in on the calling handheld by badge and PIN',
  description:
    'The handheld sends its own credentials and gets credentials of the person, which are valid until the shift ends. Wrong PINs slow down further tries.',
  input: { body: BadgeSignIn },
  success: { 200: { description: 'The credentials of the shift', schema: ShiftSession } },
  errors: ['INVALID_CREDENTIALS', 'PERMISSION_DENIED'],
})
const signOut = operation({
  id: 'endShift',
  method: 'post',
  path: `${devicesPath}/sign-out`,
  access: 'caller',
  tag,
  summary: 'End the shift of the caller',
  description: 'Send the credentials of the shift. With any other credentials nothing changes.',
  input: {},
  success: { 204: { description: 'Ended' } },
  errors: ['STORAGE_FULL'],
})
const addOperator = operation({
  id: 'createOperator',
  ...managing,
  method: 'post',
  path: operatorsPath,
  summary: 'Register a badge and its PIN',
  description:
    'No answer contains the PIN. Idempotency-Key has no effect here, because its record would help to guess the PIN.',
  input: { body: NewOperator },
  success: { 201: { description: 'Registered', schema: OperatorResource, location: true } },
  errors: ['ALREADY_EXISTS'],
})
const listOperators = operation({
  id: 'listOperators',
  ...managing,
  method: 'get',
  path: operatorsPath,
  summary: 'All badges, including revoked ones',
  description: 'No answer contains a PIN.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The operators', schema: OperatorList } },
})
const changePin = operation({
  id: 'changeOperatorPin',
  ...managing,
  method: 'put',
  path: `${operatorsPath}/{id}/pin`,
  summary: 'Change the PIN of a badge',
  description: 'Ends every shift of this badge: the person signs in again with the new PIN.',
  input: { params, body: NewPin },
  success: { 200: { description: 'The operator', schema: OperatorResource } },
})
const revokeOperator = operation({
  id: 'revokeOperator',
  ...managing,
  method: 'post',
  path: `${operatorsPath}/{id}/revoke`,
  summary: 'Revoke a badge',
  description: 'Every shift of this badge ends immediately. A revoked badge stays in the list.',
  input: { params },
  success: { 200: { description: 'The operator', schema: OperatorResource } },
})
const signUrl = operation({
  id: 'signAddress',
  method: 'post',
  path: signedUrlsPath,
  access: 'caller',
  tag,
  summary:
    'Create an address for one clip, snapshot, photo, label, story, receipt or live view that works without headers for a limited time',
  description:
    'The address has the rights of the caller for this one picture, file or story, for `seconds`. It ends early with the account, session or secret of the caller.',
  input: { body: NewSignedUrl },
  success: { 200: { description: 'The address', schema: SignedUrl } },
})

export type DeviceParts = {
  readonly devices: DeviceService
  readonly signedUrls: SignedUrls
  readonly admission: Admission
  readonly refusals: Refusals
}

export function deviceRoutes(api: Api, { devices, signedUrls, admission, refusals }: DeviceParts): void {
  /** Counts a refused code like any other refusal. */
  async function counted<T>(from: { requestId: string; address: string }, look: () => Promise<T>): Promise<T> {
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INVALID_CREDENTIALS') throw error
      refusals.note(error.code, { requestId: from.requestId, address: from.address })
      admission.refused(from.address)
      throw error
    }
  }

  api.openapi(enrol, async (c) => {
    const from = { requestId: c.get('requestId'), address: c.get('address') }
    return c.json(await counted(from, () => devices.enrol(c.req.valid('json').code, from)), 200)
  })
  api.openapi(signIn, async (c) => {
    const { badge, pin } = c.req.valid('json')
    const by = originOf(c)
    return c.json(await counted(by, () => devices.signIn(badge, pin, by)), 200)
  })
  api.openapi(signOut, async (c) => {
    const secret = c.req.header('authorization')?.replace(/^Bearer +/i, '')
    if (secret !== undefined) await devices.signOut(secret, originOf(c))
    return c.body(null, 204)
  })
  api.openapi(createDevice, async (c) => send(c, await devices.create(c.req.valid('json'), askOf(c)), 201))
  api.openapi(listDevices, (c) => c.json(pageOfAll(devices.devices(), c.req.valid('query')), 200))
  api.openapi(getDevice, (c) => sendResource(c, devices.device(numericPath(c.req.valid('param').id))))
  api.openapi(renewCode, async (c) =>
    c.json(await devices.renew(numericPath(c.req.valid('param').id), originOf(c)), 200),
  )
  api.openapi(revokeDevice, async (c) => {
    const device = await devices.revoke(numericPath(c.req.valid('param').id), originOf(c))
    return sendResource(c, device)
  })
  api.openapi(addOperator, async (c) => {
    // No Idempotency-Key: its stored hash would allow trying all badges and PINs.
    const { body, location } = await devices.addOperator(c.req.valid('json'), originOf(c))
    c.header('Location', location)
    return c.json(body, 201)
  })
  api.openapi(listOperators, (c) => c.json(pageOfAll(devices.operators(), c.req.valid('query')), 200))
  api.openapi(changePin, async (c) => {
    const { id } = c.req.valid('param')
    return c.json(await devices.changePin(numericPath(id), c.req.valid('json').pin, originOf(c)), 200)
  })
  api.openapi(revokeOperator, async (c) =>
    c.json(await devices.revokeOperator(numericPath(c.req.valid('param').id), originOf(c)), 200),
  )
  api.openapi(signUrl, (c) => {
    const { path, seconds } = c.req.valid('json')
    return sendResource(c, signedUrls.sign(path, seconds, c.get('caller')))
  })
}
