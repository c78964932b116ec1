import { acceptSigned, type Received, type Receiver, startReceiver } from '../../test/support/receiver.ts'

/** A webhook endpoint on loopback that remembers when each event first came. */
export type Inbox = {
  readonly receiver: Receiver
  /** What it believes the shared secret to be. */
  readonly secret: string
  /** performance.now() of the first arrival, by the id of the envelope. */
  readonly arrivedMs: ReadonlyMap<string, number>
}

/** Starts it; `each` is told of every request. Wrongly signed ones are answered with 401. */
export async function openInbox(secret: string, each: (request: Received) => void = () => {}): Promise<Inbox> {
  const arrivedMs = new Map<string, number>()
  const receiver = await startReceiver({
    secret,
    behave: (request, nth) => {
      if (!arrivedMs.has(request.event.id)) arrivedMs.set(request.event.id, performance.now())
      each(request)
      return acceptSigned(request, nth)
    },
  })
  return { receiver, secret, arrivedMs }
}
