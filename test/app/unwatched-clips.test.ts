/** Clips that an earlier run left, on a gateway that has no camera any more. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { leaveSpool } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'
import { start, withConfig } from './daemon-folder.ts'

// Footage is made at first use, which takes a busy machine a while.
t.setTimeout(180_000)

t.test('a clip that an earlier run left is made and recorded, though no camera is configured any more', async (t) => {
  const { cwd, file } = withConfig(t)
  const clips = join(cwd, 'state', 'clips')
  mkdirSync(clips, { recursive: true })
  await leaveSpool(clips, 9)
  const daemon = await start(t, cwd, file)
  const isThere = (name: string) => existsSync(join(clips, name))
  await waitUntil('the database has it', () => !isThere('9.json'))
  t.ok(isThere('9.mp4'))
  t.notOk(isThere('9.ts.part'))
  t.equal(await daemon.end('SIGTERM'), 0)
})

t.test('a gateway whose folder of clips cannot be read starts, and says so', async (t) => {
  const { cwd, file } = withConfig(t)
  mkdirSync(join(cwd, 'state'), { recursive: true })
  writeFileSync(join(cwd, 'state', 'clips'), 'no folder')
  const daemon = await start(t, cwd, file)
  await daemon.logged('the folder of the clips cannot be read')
  t.equal((await fetch(`${daemon.url}/api/health`)).status, 200)
  t.equal(await daemon.end('SIGTERM'), 0)
})
