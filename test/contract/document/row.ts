import type { Test } from 'tap'
import type { Person } from '../../support/gateway.ts'
import type { World } from './world.ts'

/** A sentence of the interface document, the request that it is about, and the answer that it promises. */
export type Row = {
  /** The words of the document. */
  readonly says: string
} & (
  | {
      readonly request: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} ${string}`
      readonly body?: unknown
      /** Default: ada, an admin. `null`: no credentials. */
      readonly by?: Person | null
      readonly headers?: Record<string, string>
      readonly status: number
      /** Compared by `t.match`: a constructor stands for any value of its type. */
      readonly answer?: unknown
    }
  /** More than one request. */
  | { readonly holds: (t: Test, world: World) => Promise<void> }
)

export async function play(t: Test, world: World, row: Row): Promise<void> {
  if ('holds' in row) return row.holds(t, world)
  const [method = '', path = ''] = row.request.split(' ')
  const { by, body, headers } = row
  const reply = await world.ask(method, path, {
    ...(by !== undefined && { by }),
    ...(body !== undefined && { body }),
    ...(headers && { headers }),
  })
  t.equal(reply.status, row.status, `${row.request}: ${reply.text.slice(0, 500)}`)
  if (row.answer !== undefined) t.match(reply.body, row.answer)
}
