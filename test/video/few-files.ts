/**
 * Starts ffmpegs in a process that may open few files (`ulimit -n`), with none of them free, then one, and so on. Writes a line for each
 * that did not end.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { systemClock } from '../../src/platform/index.ts'
import { Ingest } from '../../src/video/stream/ingest.ts'
import { lastPicture } from '../../src/video/stream/snapshot.ts'

const ffmpeg = { path: '/bin/false', dialect: { listOptions: true, setsTimes: true } }
const unit = { ptsMs: 0, key: true, bytes: Buffer.alloc(188), arrivedMs: 0 }
const group = { tables: Buffer.alloc(0), units: [unit], firstPtsMs: 0, startPtsMs: 0, codec: 'h264' } as const

const connection = (video: boolean) =>
  new Promise<void>((resolve) => {
    new Ingest({
      source: { url: 'rtsp://127.0.0.1:1/', username: null, password: null },
      ...{ ffmpeg, outputs: { video, frames: true }, clock: systemClock },
      ...{ onVideo: () => {}, onFrames: () => {}, onEnded: () => resolve() },
    })
  })

const kinds = {
  'a stream with video': () => connection(true),
  'a stream without video': () => connection(false),
  'a live picture': () =>
    lastPicture(ffmpeg.path, group)
      .then(() => {})
      .catch(() => {}),
}

/** Runs something while this process may open so many more files. */
async function withFree(count: number, run: () => Promise<void>): Promise<boolean> {
  const files: number[] = []
  try {
    for (;;) files.push(openSync('/dev/null', 'r'))
  } catch {
    for (let i = 0; i < count; i += 1) closeSync(files.pop() as number)
  }
  const hasEnded = await Promise.race([
    run().then(() => true),
    new Promise<false>((resolve) => systemClock.after(3000, () => resolve(false))),
  ])
  for (const file of files) closeSync(file)
  return hasEnded
}

for (const run of Object.values(kinds)) await run()
for (let free = 0; free < 16; free += 1)
  for (const [what, run] of Object.entries(kinds))
    if (!(await withFree(free, run))) writeSync(1, `${what} did not end with ${free} free files\n`)
process.exit()
