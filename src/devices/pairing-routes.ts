import { z } from '@hono/zod-openapi'
import { type Api, askOf, operation, sendResource } from '../http/index.ts'
import type { Pairings } from './pairings.ts'
import {
  CollectedPairingResource,
  DeviceResource,
  devicesPath,
  NewPairingResource,
  OpenPairingResource,
  PairingConfirmation,
  PairingToken,
} from './schema.ts'

const tag = 'Devices'
export const pairingsPath = '/api/device-pairings'
export const collectPath = `${pairingsPath}/collect`
const params = z.object({ code: z.string() })
/** Supervisors and admins. */
const confirming = { access: 'events:verify', tag } as const

const begin = operation({
  id: 'beginPairing',
  method: 'post',
  path: pairingsPath,
  access: 'public',
  tag,
  summary: 'Ask for a code that a wall screen shows, for ten minutes',
  description:
    'Needs no sign-in. The screen shows `qr` (the address `url`) and `code`; a person who scans it and may confirm it makes a wall screen of it. The screen keeps `token` to itself and asks with it whether that has happened.',
  input: {},
  success: { 201: { description: 'The code', schema: NewPairingResource, location: true } },
})
const describe = operation({
  id: 'getPairing',
  ...confirming,
  method: 'get',
  path: `${pairingsPath}/{code}`,
  summary: 'The screen that shows a code',
  description: 'With the address from which the screen asked for it. 404 once it has ended.',
  input: { params },
  success: { 200: { description: 'The pairing', schema: OpenPairingResource } },
})
const confirm = operation({
  id: 'confirmPairing',
  ...confirming,
  method: 'post',
  path: `${pairingsPath}/{code}/confirm`,
  summary: 'Make the screen that shows this code a wall screen',
  description:
    'A device of kind kiosk, which only reads. An admin can revoke it like any device. A code is confirmed once.',
  input: { params, body: PairingConfirmation },
  success: {
    201: { description: 'The device; the screen enrols it by itself', schema: DeviceResource, location: true },
  },
  errors: ['ALREADY_EXISTS', 'REFERENCE_NOT_FOUND'],
})
const collect = operation({
  id: 'collectPairing',
  method: 'post',
  path: collectPath,
  access: 'public',
  tag,
  summary: 'Fetch the enrolment code of a screen that was confirmed',
  description:
    'Needs no sign-in: the token identifies the screen. `enrolmentCode` is null until somebody has confirmed, and is given once. 404 when the pairing has ended: begin another one.',
  input: { body: PairingToken },
  success: { 200: { description: 'The code for POST /api/devices/enrol', schema: CollectedPairingResource } },
  errors: ['NOT_FOUND'],
})

export function pairingRoutes(api: Api, pairings: Pairings): void {
  api.openapi(begin, (c) => {
    const made = pairings.begin(c.get('address'))
    c.header('Location', `${pairingsPath}/${made.code}`)
    return c.json(made, 201)
  })
  api.openapi(collect, (c) => c.json(pairings.collect(c.req.valid('json').token), 200))
  api.openapi(describe, (c) => sendResource(c, pairings.describe(c.req.valid('param').code)))
  api.openapi(confirm, async (c) => {
    const { code } = c.req.valid('param')
    const { by } = askOf(c)
    const device = await pairings.confirm(code, c.req.valid('json'), { by, claim: undefined })
    c.header('Location', `${devicesPath}/${device.id}`)
    return c.json({ success: true as const, ...device }, 201)
  })
}
