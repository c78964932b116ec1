/** Tests when the gateway reads the video of a camera with motion detection. */
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { frameSize } from '../../src/video/decoding/frames.ts'
import { waitUntil } from '../support/waiting.ts'
import { hallFolder, rounds, ScriptedHall } from './scripted-hall.ts'

const detecting = { detecting: true, history: { isOn: false, hours: 0, stream: 'main' } } as const

/** A gray wall, and before it a third of the height of something red; without a place, nothing. Neither is of one tone. */
function picture(place?: number): Buffer {
  const pixels = Buffer.alloc(frameSize.bytes, 255)
  const side = frameSize.height / 3
  for (let i = 0; i < frameSize.width * frameSize.height; i += 1) {
    const [x, y] = [i % frameSize.width, Math.floor(i / frameSize.width)]
    const isThere = place !== undefined && x >= place && x < place + side && y >= side && y < 2 * side
    const tone = (7 * x + 13 * y) % 50
    pixels.set(isThere ? [255 - tone, 2 * tone, 30] : [90 + tone, 90 + tone, 90 + tone], 4 * i)
  }
  return pixels
}

const everyMs = 200
/** Small pictures in their order: nothing moves, and then something does. */
const small = Array.from({ length: 12 }, (_, i) => picture(i < 4 ? undefined : 8 * i))

/** Video whose codec the ring cannot name, so that ffmpeg decodes it as it comes. */
function unusual(video: Buffer): Buffer {
  const [bytes, packetBytes, tablePid, mpeg2] = [Buffer.from(video), 188, 0x1000, 0x02]
  for (let at = 0; at < bytes.length; at += packetBytes) {
    // The stream type follows the header of the packet, a pointer, and that of the table.
    if ((bytes.readUInt16BE(at + 1) & 0x1fff) === tablePid) bytes.writeUInt8(mpeg2, at + 4 + 1 + 12)
  }
  return bytes
}

/** A hall before a camera. Eleven seconds of its video were read, and four more have come. */
async function waiting(t: Test) {
  const video = Object.fromEntries([3, 4, 5, 6].map((to, i) => [`${i}.ts`, unusual(rounds(i && to - 1, to))]))
  const frames = Object.fromEntries(small.map((pixels, i) => [`small-${i}`, pixels]))
  const folder = hallFolder(t, { ...video, ...frames, two: Buffer.concat([small[0] as Buffer, small[0] as Buffer]) })
  // The file named in `do` is passed on. Only the ffmpeg of the camera does that: clips get no picture. At first it does not decode.
  const lines = [
    'case "$*" in *concat*pipe:3*) ;; *concat*) cat 0.ts; exec tail -f /dev/null ;; *) exit 1 ;; esac',
    'touch decodes; cat 0.ts',
    'while :; do until test -e do; do sleep 0.01; done; name=$(cat do); rm do',
    'case $name in *.ts) cat $name;; *) cat $name >&3;; esac; touch $name.done; done',
  ]
  const hall = new ScriptedHall(t, folder, lines.join('\n'), detecting)
  /** Resolves when the camera has sent it, and the thread had a turn in which it could read it. */
  const send = async (name: string) => {
    writeFileSync(join(folder, 'next'), name)
    renameSync(join(folder, 'next'), join(folder, 'do'))
    await waitUntil(name, () => existsSync(join(folder, `${name}.done`)))
    for (let i = 0; i < 5; i += 1) await turn()
  }
  await waitUntil('what came first is read', () => {
    // New settings make a camera read its pending data.
    hall.set(detecting)
    return existsSync(join(folder, 'decodes')) && hall.seconds >= 11
  })
  // How fast it comes is known with the next reading.
  hall.clock.advance(10)
  await send('1.ts')
  t.equal(hall.seconds, 11, 'it waits')
  return { hall, send }
}

t.test('while nothing moves, video is read once a second, with the status', async (t) => {
  const { hall, send } = await waiting(t)
  for (let i = 0; i < 4; i += 1) {
    hall.clock.advance(everyMs)
    await send(`small-${i}`)
  }
  t.equal(hall.seconds, 11, 'pictures in which nothing moves are no reason to read it')
  hall.clock.advance(990 - 4 * everyMs)
  t.equal(hall.seconds, 15)
  t.match(hall.of('status').at(-1), { frameCount: 4, droppedFrames: 0, streamFps: Number })
})

t.test('motion finds the video of its moment in memory, and an open clip gets it with each picture', async (t) => {
  const { hall, send } = await waiting(t)
  hall.thread.receive({ type: 'ids', ids: [7, 8] })
  let [next, soFarMs] = [0, 10]
  const see = async (afterMs: number) => {
    hall.clock.advance(afterMs)
    soFarMs += afterMs
    await send(`small-${next}`)
    next += 1
  }
  while (soFarMs < 1000) await see(everyMs)
  t.equal(hall.seconds, 15, 'read with the status')
  await send('2.ts')
  while (hall.of('motionFired').length === 0 && next < small.length) await see(everyMs)
  t.equal(hall.seconds, 19)
  await send('3.ts')
  t.equal(hall.seconds, 19)
  await see(2000 - soFarMs - 10)
  t.equal(hall.seconds, 23, 'before the next status')
})

t.test('when pictures come at once the camera is late, or its clock has jumped: nothing waits', async (t) => {
  const { hall, send } = await waiting(t)
  await send('two')
  t.equal(hall.seconds, 15)
})

t.test('video whose pictures are decoded from memory is read as often as they are judged', async (t) => {
  const folder = hallFolder(t, { '0.ts': rounds(0, 3), '1.ts': rounds(3, 4) })
  const lines = [
    'case "$*" in *concat*) ;; *) cat > /dev/null; exit ;; esac',
    'cat 0.ts',
    'until test -e do; do sleep 0.01; done; cat 1.ts; touch done',
  ]
  const hall = new ScriptedHall(t, folder, lines.join('\n'), detecting)
  await waitUntil('what came first is read', () => {
    hall.set(detecting)
    return hall.seconds >= 11
  })
  hall.clock.advance(10)
  writeFileSync(join(folder, 'do'), '')
  await waitUntil('the camera has sent it', () => existsSync(join(folder, 'done')))
  for (let i = 0; i < 5; i += 1) await turn()
  t.equal(hall.seconds, 11, 'it waits')
  hall.clock.advance(everyMs)
  t.equal(hall.seconds, 15)
})

t.test('the film of an event begins with what has come until its order', async (t) => {
  const { hall } = await waiting(t)
  const [momentAt, cameraId] = [hall.clock.now(), 1]
  const order = { cameraId, momentAt, fromAt: momentAt - 1000, toAt: momentAt + 1000 }
  hall.thread.receive({ type: 'film', detectionId: 7, ...order })
  await waitUntil('the video is read, though no time has passed', () => hall.seconds === 15)
})
