const encoder = new TextEncoder()

/**
 * The pieces as a stream that makes the next one when the client has taken what is there: a slow client holds up
 * itself, and a client that has gone ends it.
 */
export function streamOf(pieces: AsyncIterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        // Between two pieces everybody else has a turn.
        await new Promise((resolve) => setImmediate(resolve))
        const { value, done } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 1 },
  )
}
