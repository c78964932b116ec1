import { ownTurn } from '../platform/index.ts'

const encoder = new TextEncoder()

/**
 * Returns a stream that makes the next piece when the client has taken the last one. A slow client delays only itself,
 * and a client that disconnects ends the export.
 */
export function streamOf(pieces: AsyncIterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        // Other requests get a turn between two pieces.
        await ownTurn()
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
