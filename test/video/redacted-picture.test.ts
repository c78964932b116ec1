/** The picture of a redacted copy, beside that of its clip. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger } from '../../src/platform/index.ts'
import { remux, takePicture } from '../../src/video/clips/cutting.ts'
import type { Moment } from '../../src/video/decoding/clip-picture.ts'
import type { FromCameras } from '../../src/video/index.ts'
import { Redactor } from '../../src/video/redaction/redaction.ts'
import { footage } from '../support/footage.ts'
import { picturesOf, psnr, sha256 } from '../support/recorded-clip.ts'
import { tapeOf } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(180_000)

const ffmpeg = locateFfmpeg().path
/** Key frames at 0 and 2 s. */
const { tables, units, codec } = tapeOf(await footage('passer'), ['-c:v', 'libx264', '-g', '30', '-bf', '0'])
const stripe = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: 1, y: 0.1 },
  { x: 0, y: 0.1 },
]

/** Seconds in the copy at which its picture was taken, beside a clip whose own was taken by this rule. */
async function takenAt(t: Test, moment: Moment): Promise<number> {
  const folder = t.testdir({ 'spool.ts': Buffer.concat([tables, ...units.map(({ bytes }) => bytes)]) })
  const clip = join(folder, '1.mp4')
  await remux(ffmpeg, join(folder, 'spool.ts'), clip, { hiddenMs: 0, codec })
  await takePicture(ffmpeg, clip, moment, join(folder, '1.png'))
  const posted: FromCameras[] = []
  const tools = {
    ffmpeg,
    folder,
    log: silentLogger(),
    room: { take: () => true, takeAgain: () => true, giveBack: () => {} },
  }
  const redactor = new Redactor({ tools, post: (message) => posted.push(message) })
  const job = { redactionId: 1, detectionId: 1, originalSha256: sha256(readFileSync(clip)) }
  redactor.take({ ...job, regions: [{ polygon: stripe, from: null, to: null }], snapshotMs: moment.atMs })
  await waitUntil('it is made', () => posted.length > 0)
  t.match(posted, [{ type: 'redacted' }])
  const [taken] = picturesOf(join(folder, '1.redacted-1.png'))
  const likeness = picturesOf(join(folder, '1.redacted-1.mp4')).map(({ gray }) =>
    psnr([...gray], [...(taken?.gray ?? [])]),
  )
  return likeness.indexOf(Math.max(...likeness)) / 15
}

t.test('the picture of a redacted copy is taken when that of its clip was', async (t) => {
  t.equal(await takenAt(t, { atMs: 1000 }), 2, 'at the key frame a second later, which the copy has not')
  t.equal(await takenAt(t, { atMs: 400 }), 0.4, 'nothing moved until the next key frame')
  t.equal(await takenAt(t, { atMs: 400, movesUntilMs: 2500 }), 2, 'something moved until then')
  t.equal(await takenAt(t, { atMs: 2100 }), 2)
})
