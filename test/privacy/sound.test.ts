import { execFile } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../support/footage.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { CameraBench } from '../video/camera-bench.ts'

t.test('of a camera with a microphone no sound gets into a clip', async (t) => {
  const camera = await startRtspServer({ streams: { hall: await footage('passer') }, sound: true })
  t.teardown(() => camera.stop())
  const bench = await CameraBench.open({})
  t.teardown(() => bench.close())
  // Not in this turn: the camera has to answer meanwhile.
  const tracks = (input: string[]) =>
    new Promise<string>((resolve) => {
      execFile(locateFfmpeg().path, ['-hide_banner', ...input], { timeout: 30_000 }, (_, __, said) => resolve(said))
    })
  t.match(
    await tracks(['-rtsp_transport', 'tcp', '-i', camera.url('hall')]),
    /Audio: pcm_mulaw/,
    'the camera sends sound',
  )
  bench.camera(1, camera.url('hall'))
  await bench.until(() => bench.of('clipClosed').length > 0, 'a clip is closed')
  const description = await tracks(['-i', join(bench.folder, 'clips', bench.of('clipClosed')[0]?.file ?? '')])
  t.match(description, /Video: h264/)
  t.notMatch(description, /Audio/)
})
