import { z } from '@hono/zod-openapi'
import { type Api, operation, rawAnswer, resource, sendResource, time } from '../../http/index.ts'
import { untouchedAnswer } from './schema.ts'
import type { Absence } from './untouched.ts'

export const signedNoteType = 'text/x.signed-note'
/** As on other routes of a slot. */
const byQuery = { by: z.enum(['slot_id']).optional().openapi({ description: '`slot_id`: the path is a label' }) }
const when = () => time().openapi({ format: 'date-time' })

const getUntouched = operation({
  id: 'getSlotUntouched',
  method: 'get',
  path: '/api/whms/slots/{id}/untouched',
  access: 'whms:read',
  tag: 'Evidence',
  summary: 'Signed statement whether anything happened at a slot in a past time, and which cameras watched',
  description:
    'Proof of absence: events of the slot by their own time, the share of the time in which a camera saw the slot, gaps with causes, and the checkpoint that covers everything known then. `Accept: text/x.signed-note` or `format=note` answers the signed note alone; `gatehouse ledger verify FILE` checks it. A time that is not over is refused. An event that is recorded later about this time is not covered; `lateEventsUntil` says until when one can come. Answers 503 with Retry-After while no checkpoint covers the log; asking makes one, at most one a second.',
  input: {
    params: z.object({ id: z.string() }),
    query: z.object({ from: when(), to: when(), format: z.enum(['json', 'note']).optional(), ...byQuery }),
  },
  success: {
    200: {
      description: 'The statement',
      schema: resource(untouchedAnswer),
      mediaType: ['application/json', signedNoteType],
    },
  },
})

/** Serves signed statements about slots. */
export function absenceRoutes(api: Api, absence: Pick<Absence, 'untouched'>): void {
  api.openapi(getUntouched, async (c) => {
    const { from, to, by, format } = c.req.valid('query')
    const asked = { path: c.req.valid('param').id, byLabel: by !== undefined, from, to }
    const { statement, note } = await absence.untouched(asked, c.get('caller'))
    c.header('Vary', 'Accept')
    const form = format ?? (c.req.header('accept')?.toLowerCase().includes(signedNoteType) ? 'note' : 'json')
    if (form === 'json') return sendResource(c, { ...statement, note })
    c.header('Content-Type', `${signedNoteType}; charset=utf-8`)
    c.header('Content-Disposition', `attachment; filename="slot-${statement.slot.id}-untouched.note"`)
    return rawAnswer(c.body(note) as Response)
  })
}
