import t from 'tap'
import { PictureRate } from '../../src/video/decoding/picture-rate.ts'
import { frameSize } from '../../src/video/index.ts'

/** Whether pictures that come so are ever a flood: how many, so much apart. */
function floods(...bursts: readonly { pictures: number; everyMs: number }[]): boolean {
  const rate = new PictureRate()
  let atMs = 0
  let flood = false
  for (const { pictures, everyMs } of bursts) {
    for (let i = 0; i < pictures; i += 1) {
      flood ||= rate.isFlood(frameSize.bytes, atMs)
      atMs += everyMs
    }
  }
  return flood
}

t.test('five pictures a second are no flood, nor is what a camera or a network had held back', async (t) => {
  t.notOk(floods({ pictures: 10_000, everyMs: 200 }))
  t.notOk(floods({ pictures: 50, everyMs: 0 }, { pictures: 500, everyMs: 200 }), 'ten seconds at once, at the start')
  t.notOk(floods({ pictures: 500, everyMs: 200 }, { pictures: 75, everyMs: 2 }, { pictures: 100, everyMs: 200 }))
})

t.test('half a minute of a slow camera that comes at once is no flood, when the connection is as old', async (t) => {
  const atOnce = (beganMs: number) => {
    const rate = new PictureRate(beganMs)
    return Array.from({ length: 125 }, () => rate.isFlood(frameSize.bytes, 60_000)).includes(true)
  }
  t.notOk(atOnce(35_000))
  t.ok(atOnce(55_000), 'so many cannot have been taken')
})

t.test('what a busy gateway was behind by is no flood when it catches up', async (t) => {
  const slow = { pictures: 300, everyMs: 400 }
  t.notOk(floods({ pictures: 300, everyMs: 200 }, slow, { pictures: 300, everyMs: 2 }, { pictures: 500, everyMs: 200 }))
  t.ok(floods(slow, { pictures: 400, everyMs: 2 }), 'but not more than that')
  t.ok(
    floods({ pictures: 300, everyMs: 200 }, slow, { pictures: 300, everyMs: 2 }, { pictures: 100, everyMs: 2 }),
    'once',
  )
})

t.test('a gap of an hour that ffmpeg fills with copies is a flood within a second', async (t) => {
  t.ok(floods({ pictures: 500, everyMs: 200 }, { pictures: 300, everyMs: 3 }))
  t.ok(floods({ pictures: 500, everyMs: 40 }), 'also when it is slow')
})
