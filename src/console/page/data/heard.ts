import type { Shape } from './api.ts'

type Message = Shape<'StreamMessage'>

/** A message of the gateway's stream. `lost`: from now on the page has to poll. */
export type Heard =
  | {
      readonly [Kind in Message['event']]: {
        readonly kind: Kind
        readonly data: Extract<Message, { event: Kind }>['data']
      }
    }[Message['event']]
  | { readonly kind: 'lost' }
