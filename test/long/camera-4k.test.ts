/** A camera of 3840x2160 and 25 Mb/s, in which motion is looked for as well: its clips, and the memory that it takes. */
import t from 'tap'
import { footage } from '../support/footage.ts'
import { compare, firstClip, timesSeen, watch } from '../video/numbered-hall.ts'

// It takes a minute or two to make, once.
t.setTimeout(600_000)
await footage('counted-4k')
/** Two seconds of pre-roll, what is kept beside it, and a group of pictures: 6.5 s of 25 Mb/s. */
const enough = 24 * 1024 * 1024
const tooLittle = 6 * 1024 * 1024

t.test(
  'a 4K camera: motion is found in its own stream, and its clip is whole within the memory that is given',
  async (t) => {
    const hall = await watch(t, 'counted-4k')
    const { b, cam, clip } = hall
    b.memory(enough)
    const closed = await firstClip(hall)
    const shown = await compare(t, hall, closed)
    t.match(closed, { width: 3840, height: 2160, askedPreRollSeconds: 2, closedBy: 'post-roll', original: true })
    t.ok(closed.preRollSeconds >= 2 && closed.preRollSeconds <= 2.1, `${closed.preRollSeconds} s`)
    const appearsMs = clip.motion[0]?.fromMs ?? 0
    const firstMs = timesSeen(clip)[shown[0] ?? 0] ?? 0
    t.ok(appearsMs - firstMs >= 1000, `the person appears ${appearsMs - firstMs} ms after the beginning`)
    const took = b.of('status', 1).map(({ ringBytes }) => ringBytes)
    t.ok(Math.max(...took) > tooLittle && Math.max(...took) <= enough, `${Math.max(...took)} bytes`)
    t.match(b.of('state', 1).at(-1), { state: 'live', problem: null })

    const before = b.of('status', 1).length
    b.memory(tooLittle)
    const since = () => b.of('status', 1).slice(before + 1)
    await b.until(() => since().some(({ preRollProblem }) => preRollProblem === 'memory'), 'its pre-roll falls short')
    t.ok(since().every(({ ringBytes }) => ringBytes <= tooLittle))
    t.match(cam.clients('hall'), { mostAtOnce: 1, total: 1 }, 'it stays connected')
  },
)
