/** A camera with history alone. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { retimed } from '../../src/video/format/transport-stream.ts'
import { waitUntil } from '../support/waiting.ts'
import { hallFolder, passer, rounds, ScriptedHall, units } from './scripted-hall.ts'

t.test('a camera that is only recorded does not say every second that nothing has changed', async (t) => {
  const folder = hallFolder(t, { 'video.ts': rounds(0, 1) })
  // Some seconds of video at once, and then nothing.
  const hall = new ScriptedHall(t, folder, 'cat video.ts')
  await waitUntil('it is live', () => hall.states.includes('live'))
  await waitUntil('its key frames are known', () => hall.thread.camera(1)?.ring.groupMs !== undefined)
  for (let second = 0; second < 4; second += 1) hall.clock.advance(1000)
  t.equal(hall.of('status').length, 1, 'that it is live')
  hall.clock.advance(3000)
  t.ok(hall.states.includes('frozen'), 'and what changes is told at once')
  t.ok(hall.of('status').length > 1)
})

/** Twelve seconds of the camera were read, so that the rest may wait, and four more have come. */
async function waiting(t: Test): Promise<ScriptedHall> {
  const folder = hallFolder(t, { 'first.ts': rounds(0, 3), 'second.ts': rounds(3, 4) })
  const lines = 'cat first.ts; until test -e go; do sleep 0.02; done; cat second.ts; touch written'
  const hall = new ScriptedHall(t, folder, lines)
  await waitUntil('what came first is read', () => {
    // New settings make a camera read its pending data.
    hall.set({})
    return hall.seconds >= 11
  })
  // How fast it comes is known with the next reading.
  hall.clock.advance(10)
  writeFileSync(join(folder, 'go'), '')
  await waitUntil('more has come', () => existsSync(join(folder, 'written')))
  t.equal(hall.seconds, 11, 'it waits')
  return hall
}

t.test('its video is read once a second, with its status', async (t) => {
  const hall = await waiting(t)
  hall.clock.advance(989)
  t.equal(hall.seconds, 11)
  hall.clock.advance(1)
  t.equal(hall.seconds, 15)
})

t.test('who begins to watch it sees at once what waited to be read', async (t) => {
  const hall = await waiting(t)
  hall.set({ streaming: true })
  hall.thread.receive({ type: 'live', cameraId: 1, format: 'mpegts', feed: 1 })
  await waitUntil('a live picture', () => hall.of('livePicture').length > 0)
  t.equal(hall.seconds, 15)
  t.match(hall.of('livePicture')[0], { key: true })
})

/** Ends of the recording of a camera. */
const ends: readonly [string, (hall: ScriptedHall) => void][] = [
  ['the stop of the gateway', ({ thread }) => thread.receive({ type: 'stop' })],
  ['the end of its recording hours', (hall) => hall.set({ history: { isOn: false, hours: 1, stream: 'main' } })],
  ['another address', (hall) => hall.set({ url: 'rtsp://127.0.0.1:2/' })],
]
for (const [what, end] of ends) {
  t.test(`${what} comes after what waited to be read`, async (t) => {
    const hall = await waiting(t)
    end(hall)
    await hall.stop()
    t.equal(hall.keptSeconds, 15)
  })
}

t.test('a camera that somebody watches and that sends a picture in three seconds is not frozen', async (t) => {
  const rare = units
    .slice(0, 8)
    .map((unit, i) => retimed(unit, (units[0]?.ptsMs ?? 0) + passer.durationMs + i * 3000).bytes)
  const files = Object.fromEntries(rare.map((bytes, i) => [`${i}.ts`, bytes]))
  const folder = hallFolder(t, { 'first.ts': rounds(0, 1), ...files })
  const each = 'until test -e $i.go; do sleep 0.02; done; cat $i.ts; i=$((i+1))'
  const hall = new ScriptedHall(t, folder, `cat first.ts; i=0; while test -e $i.ts; do ${each}; done`)
  hall.set({ streaming: true })
  await waitUntil('it is live', () => hall.states.includes('live') && hall.seconds === 3)
  const newest = () => hall.thread.camera(1)?.ring.newest?.ptsMs
  for (const i of rare.keys()) {
    const before = newest()
    hall.clock.advance(3000)
    writeFileSync(join(folder, `${i}.go`), '')
    await waitUntil(`picture ${i} is read`, () => newest() !== before)
    t.same(
      hall.states.filter((state) => state !== 'few-pictures'),
      ['connecting', 'live'],
    )
  }
})
