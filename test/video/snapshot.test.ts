import { spawnSync } from 'node:child_process'
import { PNG } from 'pngjs'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { lastPicture, lastPng } from '../../src/video/stream/snapshot.ts'
import { startMs, TapedCamera } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

/** Pictures of one color each, as ffmpeg writes them one behind the other. */
function pictures(...colors: readonly string[]): Buffer {
  return Buffer.concat(
    colors.map((color) => {
      const input = ['-f', 'lavfi', '-i', `color=${color}:size=32x16:rate=1:duration=1`]
      const output = ['-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', '-pix_fmt', 'rgb24', 'pipe:1']
      return spawnSync(locateFfmpeg().path, ['-nostdin', '-loglevel', 'error', ...input, ...output]).stdout
    }),
  )
}

t.test('of the pictures that a decoder wrote, the snapshot is the last whole one', async (t) => {
  const three = pictures('red', 'white', 'blue')
  const read = PNG.sync.read(Buffer.from(lastPng(three) ?? []))
  t.same([read.width, read.height], [32, 16])
  t.ok((read.data[2] ?? 0) > 200 && (read.data[0] ?? 0) < 60, 'blue')
  const cut = PNG.sync.read(Buffer.from(lastPng(three.subarray(0, -1)) ?? []))
  t.ok((cut.data[0] ?? 0) > 200 && (cut.data[2] ?? 0) > 200, 'white')
  t.equal(lastPng(Buffer.alloc(0)), undefined)
  t.equal(lastPng(pictures('red').subarray(0, -1)), undefined)
})

t.test('a snapshot without ffmpeg fails at once, and nothing keeps the thread alive', async (t) => {
  const camera = new TapedCamera()
  camera.play(1000)
  t.ok(camera.newestMs > startMs)
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const group = camera.ring.newestGroup()
  if (!group) return t.fail('no pictures')
  await t.rejects(lastPicture('no ffmpeg at all', group), { code: 'ENOENT' })
  await waitUntil('its pipes are closed', () => timers() === before, { withinMs: 5000 })
  return undefined
})
