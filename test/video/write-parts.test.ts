import fc from 'fast-check'
import t from 'tap'
import { writeParts } from '../../src/video/format/write-parts.ts'

t.test('a disk that takes a part of each write gets everything once and in order', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), async (lengths, takes) => {
      let next = 0
      const parts = lengths.map((length) => Buffer.from(Array.from({ length }, () => next++ % 256)))
      const taken: Buffer[] = []
      const file = {
        writev: async (rest: readonly NodeJS.ArrayBufferView[]) => {
          const bytes = Buffer.concat(rest as Buffer[]).subarray(0, takes[taken.length % takes.length])
          taken.push(bytes)
          return { bytesWritten: bytes.length, buffers: [] }
        },
      }
      let noted = 0
      await writeParts(file as never, parts, (bytes) => {
        noted += bytes
      })
      return Buffer.concat(taken).equals(Buffer.concat(parts)) && noted === next
    }),
  )
})
