import t from 'tap'
import { capacityWords, limitOf, measureCapacity, nextCount } from '../../src/doctor/capacity.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { systemClock } from '../../src/platform/index.ts'

t.setTimeout(120_000)

const GiB = 1024 ** 3
const easy = { scoredShare: 1, busyShare: 0.4, memoryAvailableBytes: 2 * GiB, memoryTotalBytes: 4 * GiB }

t.test('cameras fit while the processor has room, memory is left and pictures are scored in time', async (t) => {
  t.equal(limitOf(easy), null)
  t.equal(limitOf({ ...easy, busyShare: 0.81 }), 'processor')
  t.equal(limitOf({ ...easy, memoryAvailableBytes: GiB / 4 }), 'memory')
  t.equal(limitOf({ ...easy, scoredShare: 0.94 }), 'late pictures')
})

t.test('the number of cameras is doubled until some do not fit, then narrowed down, in few steps', async (t) => {
  const found = (fitting: number, most: number) => {
    const tried: { cameras: number; limit: 'processor' | null }[] = []
    for (let next = nextCount(tried, most); next !== undefined; next = nextCount(tried, most)) {
      tried.push({ cameras: next, limit: next <= fitting ? null : 'processor' })
    }
    return {
      tried: tried.length,
      fits: Math.max(0, ...tried.filter(({ limit }) => !limit).map(({ cameras }) => cameras)),
    }
  }
  for (let fitting = 0; fitting <= 64; fitting++) {
    const { tried, fits } = found(fitting, 64)
    t.ok(fits <= fitting && fitting - fits <= Math.max(0, Math.floor(fits / 8) - 1), `${fitting} fit, found ${fits}`)
    t.ok(tried <= 12, `${tried} steps`)
  }
  t.strictSame(found(100, 64), { tried: 7, fits: 64 })
})

t.test('streams are really decoded and scored on this box', async (t) => {
  const { path } = locateFfmpeg()
  const signal = new AbortController().signal
  const found = await measureCapacity({ ffmpegPath: path, clock: systemClock, signal, stepSeconds: 2, most: 1 })
  t.equal(found.steps.length, 1)
  const [step] = found.steps
  t.equal(step?.cameras, 1)
  t.ok((step?.scoredShare ?? 0) > 0.2, `${step?.scoredShare}`)
  t.ok((step?.busyShare ?? 0) > 0 && (step?.busyShare ?? 2) <= 1)
  t.match(capacityWords(found), /1 more: processor \d+ % busy, \d+ % of the pictures scored/)
  t.match(capacityWords(found), /[01] more cameras fit on this box .*\nEach as measured: 1280 x 720/)
  await t.rejects(measureCapacity({ ffmpegPath: '/bin/false', clock: systemClock, signal, most: 1 }))
})
