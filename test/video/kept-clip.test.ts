/** Clips that cannot be made at once: the recording stays, and is tried again. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { Recording } from '../../src/video/clips/clip.ts'
import { ClipRoom } from '../../src/video/clips/clip-room.ts'
import { cutLimitMs } from '../../src/video/ffmpeg/ffmpeg-run.ts'
import { CameraSet, type FromCameras, type ToCameras } from '../../src/video/index.ts'
import { needs } from '../support/needs.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'
import {
  facts,
  from,
  leaveSpool,
  leftoversOf,
  record,
  startMs,
  TapedCamera,
  tools,
  wallOffsetMs,
} from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

// Footage is made at first use, which takes a busy machine a while.
t.setTimeout(180_000)

const ffmpeg = locateFfmpeg().path
const ending = { closedBy: 'longest', peakScore: 0.7 } as const

/** A program in place of ffmpeg, which does something else first. */
function instead(folder: string, lines: string): string {
  const program = join(folder, 'ffmpeg')
  writeFileSync(program, `#!/bin/sh\n${lines}\nexec '${ffmpeg}' "$@"\n`, { mode: 0o755 })
  return program
}

/** The cameras of a gateway that starts. */
class Started {
  readonly clock = new SimulatedClock()
  readonly messages: FromCameras[] = []
  readonly thread: CameraSet

  constructor(folder: string, program: string) {
    this.thread = new CameraSet({
      ...{ clock: this.clock, random: systemRandom, log: silentLogger(), readSecret: () => '' },
      ...{ clipsFolder: folder, historyFolder: join(folder, 'history'), cellsFolder: join(folder, 'scores') },
      freeBytes: () => Infinity,
      ffmpeg: { path: program, dialect: { listOptions: true, setsTimes: true } },
      post: (message: FromCameras) => this.messages.push(message),
    })
  }

  heard<T extends FromCameras['type']>(type: T) {
    return this.messages.filter((one): one is Extract<FromCameras, { type: T }> => one.type === type)
  }

  async until(type: FromCameras['type']): Promise<void> {
    await waitUntil(type, () => this.heard(type).length > 0)
  }

  /** Gives clip 9 up, and waits until that was tried. */
  async giveUp(words: string, isRefused = true): Promise<void> {
    this.thread.receive({ type: 'giveUpClip', facts: facts(9, startMs), words, isRefused })
    const answers = this.heard('snapshotFailed').length
    this.thread.receive({ type: 'snapshot', cameraId: 77, ask: 1 })
    await waitUntil('the order behind it', () => this.heard('snapshotFailed').length > answers)
  }

  async stop(): Promise<void> {
    this.thread.receive({ type: 'stop' })
    await this.until('stopped')
  }
}

const byId = <T extends { readonly detectionId: number }>(all: readonly T[]): T[] =>
  all.toSorted((a, b) => a.detectionId - b.detectionId)

const motion = {
  ...{ sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 2, postRecordSeconds: 1 },
  ...{ masks: [], zones: [] },
}
/** A camera at an address at which nothing answers. */
const camera: ToCameras = {
  type: 'camera',
  settings: {
    ...{ cameraId: 1, url: 'rtsp://127.0.0.1:1/', detectUrl: null, username: null, passwordFile: null },
    ...{ detecting: true, streaming: false, motion, filmSeconds: 0 },
    history: { isOn: false, hours: 0, stream: 'main' },
  },
}

t.test('a clip whose ffmpeg is ended by a signal is made the next time, as if nothing had happened', async (t) => {
  const folder = t.testdir({ clips: {} })
  const ended = join(folder, 'ended')
  const program = instead(
    folder,
    `case "$*" in *1.png.part) if ! [ -e '${ended}' ]; then : >'${ended}'; kill -TERM $$; fi;; esac`,
  )
  const clips = join(folder, 'clips')
  const pauses: number[] = []
  const at = {
    ...tools(clips, program),
    again: async (attempt: number) => {
      pauses.push(attempt)
      t.ok(existsSync(join(clips, '1.ts.part')), 'the video is there')
      return true
    },
  }
  const { recording, endMs } = await record(at, 1)
  t.match(await recording.close(endMs, ending), { type: 'clipClosed', ...ending, preRollSeconds: 2 })
  t.same(pauses, [0])
  t.same(readdirSync(clips).sort(), ['1.json', '1.mp4', '1.png'])
})

t.test(
  'a gateway that ends before a clip could be made leaves it to the next start, which knows how it ended',
  async (t) => {
    const folder = t.testdir()
    const { recording, endMs } = await record(tools(folder, join(folder, 'not-there')), 1)
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
    const before = timers()
    t.equal(await recording.close(endMs, ending), undefined)
    t.equal(timers(), before, 'nothing keeps the thread alive')
    t.same(readdirSync(folder).sort(), ['1.json', '1.mp4', '1.ts.part'], 'its picture is missing')
    t.match(await leftoversOf(tools(folder)), [{ type: 'clipClosed', detectionId: 1, ...ending }])
  },
)

t.test(
  'a signal to the gateway and all that it started does not end a cut, and live streams go before it',
  async (t) => {
    const folder = t.testdir({ clips: {} })
    const facts = join(folder, 'facts')
    // It is made so a moment after its start.
    const look = `cat /proc/$$/stat >'${facts}'; [ "$(cut -d' ' -f19 '${facts}')" = 10 ] && break; sleep 0.1`
    const program = instead(folder, `case "$*" in *1.png.part) for i in 1 2 3 4 5 6 7 8 9; do ${look}; done;; esac`)
    const { recording, endMs } = await record(tools(join(folder, 'clips'), program), 1)
    await recording.close(endMs, ending)
    const [pid, ...rest] = readFileSync(facts, 'utf8')
      .replace(/\(.*\)/, '')
      .split(/ +/)
    t.equal(rest[2], pid, 'it is in a process group of its own')
    t.equal(Number(rest[16]), 10, 'at a low priority')
  },
)

t.test(
  'a disk that other writers fill while a clip is cut keeps its video, until there is room',
  onSmallDisk,
  async (t) => {
    const disk = smallDisk(8)
    t.teardown(() => disk.end())
    const at = {
      ...tools(disk.folder),
      again: async () => {
        t.ok(existsSync(join(disk.folder, '1.ts.part')))
        disk.empty()
        return true
      },
    }
    const { recording, endMs } = await record(at, 1)
    disk.fill()
    t.match(await recording.close(endMs, ending), { type: 'clipClosed', ...ending })
    t.same(readdirSync(disk.folder).sort(), ['1.json', '1.mp4', '1.png'])
  },
)

t.test('a clip that cannot be cut keeps no room of the disk from the others, and is not cut without any', async (t) => {
  const folder = t.testdir({ clips: {} })
  const ended = join(folder, 'ended')
  const lines = `case "$*" in *1.png.part) if ! [ -e '${ended}' ]; then : >'${ended}'; kill -TERM $$; fi;; esac`
  const allBytes = 100_000_000
  let freeBytes = allBytes
  const room = new ClipRoom({ freeBytes: () => freeBytes, reserveBytes: () => 0 })
  const hasAll = () => {
    const isFree = room.take(allBytes / 2)
    if (isFree) room.giveBack(allBytes / 2)
    return isFree
  }
  const words: (string | null)[] = []
  const at = {
    ...tools(join(folder, 'clips'), instead(folder, lines)),
    ...{ room, waits: (clip: { words: string | null }) => words.push(clip.words) },
    again: async (attempt: number) => {
      freeBytes = allBytes
      t.ok(hasAll(), 'another clip may have all of it')
      if (attempt === 0) freeBytes = 1000
      return true
    },
  }
  const { recording, endMs } = await record(at, 1)
  t.notOk(hasAll(), 'as long as it is recorded, its room is promised to it')
  t.match(await recording.close(endMs, ending), { type: 'clipClosed' })
  t.match(words, [/ffmpeg could not be run to its end/, /no room/])
  t.ok(hasAll())
})

t.test('a clip uses the room that it was promised, also when the disk has become short meanwhile', async (t) => {
  let freeBytes = 100_000_000
  const room = new ClipRoom({ freeBytes: () => freeBytes, reserveBytes: () => 50_000_000 })
  const words: (string | null)[] = []
  const waits = (clip: { words: string | null }) => words.push(clip.words)
  const { recording, endMs } = await record({ ...tools(t.testdir()), room, waits }, 1)
  // Something else has written into the reserve.
  freeBytes = 49_000_000
  t.match(await recording.close(endMs, ending), { type: 'clipClosed', ...ending })
  t.same(words, [])
})

t.test('a disk that fails in the middle leaves a clip of what it took, and the clip says so', async (t) => {
  let left = 1_000_000
  const room = {
    take: (bytes: number) => {
      left -= bytes
      if (left < 0) throw Object.assign(new Error('the disk does not answer'), { code: 'EIO' })
      return true
    },
    takeAgain: () => true,
    giveBack: () => {},
  }
  const { recording, endMs } = await record({ ...tools(t.testdir()), room }, 1)
  left = -1
  t.match(await recording.close(endMs, ending), { type: 'clipClosed' }, 'all was written before')
  left = 1_000_000
  const camera = new TapedCamera()
  camera.play(6000)
  const request = { facts: facts(2, startMs + 5000), ring: camera.ring, ...from(startMs + 5000, 1000), wallOffsetMs }
  const broken = new Recording({ ...tools(t.testdir()), room }, request)
  await broken.drained
  left = 0
  camera.play(9000)
  t.match(await broken.close(startMs + 9000, ending), {
    type: 'clipClosed',
    closedBy: 'disk-failed',
    preRollSeconds: 1,
  })
})

t.test('a clip that is made and not confirmed is reported the same without ffmpeg', async (t) => {
  const folder = t.testdir()
  await leaveSpool(folder, 9)
  const made = await leftoversOf(tools(folder))
  t.match(made, [{ type: 'clipClosed', snapshot: { file: '9.png' } }])
  t.same(await leftoversOf(tools(folder, join(folder, 'not-there'))), made)
})

/** Leaves a finished clip that is not confirmed. Its header is unusual, so the next start runs ffmpeg. */
async function leaveUnusual(folder: string, id: number): Promise<void> {
  await leaveSpool(folder, id)
  await leftoversOf(tools(folder))
  const [clip, copy] = [join(folder, `${id}.mp4`), join(folder, 'copy.mp4')]
  execFileSync(ffmpeg, ['-v', 'error', '-i', clip, '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov', copy])
  renameSync(copy, clip)
}

/** The pauses after the first, the second and the third attempt. */
const pausesMs = [10_000, 30_000, 60_000]

t.test('a finished clip that was damaged before it was recorded is lost in words, and its file stays', async (t) => {
  const folder = t.testdir()
  await leaveSpool(folder, 9)
  await leftoversOf(tools(folder))
  truncateSync(join(folder, '9.mp4'), 5000)
  const gateway = new Started(folder, ffmpeg)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('leftoversDone'), [{ count: 0, kept: [9] }], 'the disk may give something else the next time')
  for (const [i, pauseMs] of pausesMs.slice(0, 2).entries()) {
    await waitUntil('an attempt', () => gateway.heard('clipWaits').length > i)
    t.same(gateway.heard('clipLost'), [])
    gateway.clock.advance(pauseMs)
  }
  await gateway.until('clipLost')
  t.match(gateway.heard('clipLost'), [{ detectionId: 9, reason: 'damaged', words: /damaged on the disk/ }])
  await gateway.stop()
  t.ok(existsSync(join(folder, '9.mp4')), 'somebody may be able to repair it')
})

t.test('a finished clip that ffmpeg refused once is not damaged', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  await leaveUnusual(clips, 9)
  const refused = join(folder, 'refused')
  const program = instead(folder, `if ! [ -e '${refused}' ]; then : >'${refused}'; exit 1; fi`)
  const gateway = new Started(clips, program)
  // It says that it waits a moment after nothing waits for it any longer.
  await gateway.until('clipWaits')
  t.match(gateway.heard('clipWaits'), [{ detectionId: 9 }])
  gateway.clock.advance(pausesMs[0] as number)
  await gateway.until('clipClosed')
  t.same(gateway.heard('clipLost'), [])
  await gateway.stop()
})

for (const lines of [
  'exit 126',
  'exit 127',
  'kill -KILL $$',
  "echo 'Cannot allocate memory' >&2; exit 1",
  "echo 'fork: Resource temporarily unavailable' >&2; exit 1",
]) {
  t.test(`an ffmpeg that cannot run (${lines}) says nothing of a finished clip, however often`, async (t) => {
    const folder = t.testdir({ clips: {} })
    const clips = join(folder, 'clips')
    await leaveUnusual(clips, 9)
    const gateway = new Started(clips, instead(folder, lines))
    await gateway.until('leftoversDone')
    for (const [i, pauseMs] of pausesMs.entries()) {
      await waitUntil('an attempt', () => gateway.heard('clipWaits').length > i)
      gateway.clock.advance(pauseMs)
    }
    await waitUntil('the last attempt', () => gateway.heard('clipWaits').length > pausesMs.length)
    t.same(gateway.heard('clipLost'), [])
    t.match(gateway.heard('clipWaits').at(-1), { words: /Check that it is installed/ })
    await gateway.stop()
  })
}

t.test('a clip whose picture cannot be taken is tried three times, and then goes without one', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  const attempts: number[] = []
  const again = async (attempt: number) => attempts.push(attempt) > 0
  const at = { ...tools(clips, join(folder, 'not-there')), again }
  const { recording, endMs } = await record(at, 1)
  t.match(await recording.close(endMs, ending), { type: 'clipClosed', snapshot: null, preRollSeconds: 2 })
  t.same(attempts, [0, 1])
  t.same(readdirSync(clips).sort(), ['1.json', '1.mp4'])
})

t.test('without ffmpeg at the start nothing is lost: clips are made once it is back', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  await leaveSpool(clips, 9)
  const program = join(folder, 'ffmpeg')
  const gateway = new Started(clips, program)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('leftoversDone'), [{ count: 0, kept: [9] }])
  t.same(gateway.heard('clipLost'), [])
  await gateway.until('clipWaits')
  t.match(gateway.heard('clipWaits'), [
    { detectionId: 9, words: /Check that it is installed/, facts: { detectionId: 9, cameraId: 1, score: 0.5 } },
  ])
  gateway.thread.receive({ type: 'film', detectionId: 9, cameraId: 1, momentAt: 2000, fromAt: 1000, toAt: 3000 })
  await waitUntil('the order', () => gateway.heard('clipWaits').length > 1)
  t.match(gateway.heard('clipWaits').at(-1), { detectionId: 9, words: null }, 'its film is there already')
  symlinkSync(ffmpeg, program)
  gateway.clock.advance(10_000)
  await gateway.until('clipClosed')
  t.match(gateway.heard('clipClosed'), [{ detectionId: 9, closedBy: 'restart', preRollSeconds: 2 }])
  await gateway.stop()
  t.same(readdirSync(clips).sort(), ['9.json', '9.mp4', '9.png'])
})

t.test('a gateway without ffmpeg that is stopped keeps what it could not make', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  await leaveSpool(clips, 9)
  const gateway = new Started(clips, join(folder, 'not-there'))
  await gateway.until('leftoversDone')
  await gateway.stop()
  t.match(await leftoversOf(tools(clips)), [{ type: 'clipClosed', detectionId: 9, closedBy: 'restart' }])
})

t.test(
  'a clip that is not to be kept any longer is given up in words, while it waits and without its facts',
  async (t) => {
    const folder = t.testdir({ clips: { '3.json': '{"facts"', '3.ts.part': 'video' } })
    const clips = join(folder, 'clips')
    await leaveSpool(clips, 9)
    const gateway = new Started(clips, join(folder, 'not-there'))
    await gateway.until('leftoversDone')
    t.match(gateway.heard('leftoversDone'), [{ count: 0, kept: [3, 9] }])
    t.match(
      gateway.heard('clipWaits').sort((a, b) => a.detectionId - b.detectionId),
      [
        { detectionId: 3, words: /ID.json is damaged/, sizeBytes: 5 },
        { detectionId: 9, words: /Check that it is installed/ },
      ],
    )
    for (const id of [3, 9, 77])
      gateway.thread.receive({
        type: 'giveUpClip',
        facts: facts(id, startMs),
        words: `Too old: ${id}.`,
        isRefused: false,
      })
    await waitUntil('both', () => gateway.heard('clipLost').length === 2)
    t.match(
      gateway.heard('clipLost').map(({ reason, words }) => ({ reason, words })),
      [
        { reason: 'given-up', words: 'Too old: 3.' },
        { reason: 'given-up', words: 'Too old: 9.' },
      ],
    )
    t.same(readdirSync(clips).sort(), ['3.json', '9.json'], 'until the loss is recorded')
    await gateway.stop()
    const next = new Started(clips, ffmpeg)
    await next.until('leftoversDone')
    t.same(byId(next.heard('clipLost')), byId(gateway.heard('clipLost')), 'the next start says the same')
    for (const detectionId of [3, 9]) next.thread.receive({ type: 'recorded', detectionId })
    await next.stop()
    t.same(readdirSync(clips), [])
  },
)

t.test('a note of a clip without its times is damaged, because no leaf can be made of them', async (t) => {
  const note = { facts: facts(3, startMs), leadMs: 0, codec: 'h264' }
  const clips = t.testdir({ '3.json': JSON.stringify(note), '3.ts.part': 'video' })
  const gateway = new Started(clips, ffmpeg)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('clipWaits'), [{ detectionId: 3, words: /ID.json is damaged/ }])
  t.strictSame(gateway.heard('clipClosed'), [])
  await gateway.stop()
})

t.test('a clip of which not even the age of its file can be read is not taken for an old one', async (t) => {
  const clips = t.testdir({ '3.json': '' })
  symlinkSync('3.ts.part', join(clips, '3.ts.part'))
  const gateway = new Started(clips, ffmpeg)
  await gateway.until('leftoversDone')
  t.same(
    gateway.heard('clipWaits').map(({ detectionId, writtenAt }) => ({ detectionId, writtenAt })),
    [{ detectionId: 3, writtenAt: undefined }],
  )
  await gateway.stop()
})

t.test(
  'a clip of which nothing is known but its video says how old it is, and is removed when it is not to be kept',
  async (t) => {
    const clips = t.testdir({
      '3.json': '{"facts"',
      '3.ts.part': 'video',
      '3.png': 'x',
      '4.json': '',
      '4.ts.part': 'other',
    })
    const gateway = new Started(clips, ffmpeg)
    await gateway.until('leftoversDone')
    const { writtenAt = 0 } = gateway.heard('clipWaits').find(({ detectionId }) => detectionId === 3) ?? {}
    t.equal(writtenAt, Math.round(statSync(join(clips, '3.ts.part')).mtimeMs))
    for (const detectionId of [3, 77]) gateway.thread.receive({ type: 'removeClip', detectionId, words: 'Too old.' })
    await gateway.until('clipRemoved')
    t.same(gateway.heard('clipRemoved'), [{ type: 'clipRemoved', detectionId: 3, words: 'Too old.' }])
    t.same(readdirSync(clips).sort(), ['4.json', '4.ts.part'])
    // This one the database has.
    gateway.thread.receive({ type: 'recorded', detectionId: 4 })
    await gateway.stop()
    t.same(readdirSync(clips), [])
  },
)

t.test('a finished clip that the database refuses is given up in words, with its picture', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  await leaveSpool(clips, 9)
  const gateway = new Started(clips, ffmpeg)
  await gateway.until('clipClosed')
  t.same(readdirSync(clips).sort(), ['9.json', '9.mp4', '9.png'])
  const [{ endedAt } = { endedAt: 0 }] = gateway.heard('clipClosed')
  await gateway.giveUp('It could not be made.', false)
  t.same(gateway.heard('clipLost'), [], 'it was made meanwhile, and is being recorded')
  for (let i = 0; i < 2; i += 1) await gateway.giveUp('Too old.')
  t.match(gateway.heard('clipLost'), [{ detectionId: 9, reason: 'given-up', words: 'Too old.', endedAt }])
  t.same(readdirSync(clips), ['9.json'], 'until the loss is recorded')
  await gateway.stop()
  const next = new Started(clips, ffmpeg)
  await next.until('leftoversDone')
  t.same(next.heard('clipLost'), gateway.heard('clipLost'), 'the next start says the same')
  next.thread.receive({ type: 'recorded', detectionId: 9 })
  await next.stop()
  t.same(readdirSync(clips), [])
})

for (const kept of ['9.mp4', '9.png']) {
  t.test(`a clip of which ${kept} cannot be removed is given up later, with the first words`, async (t) => {
    const clips = t.testdir({})
    await leaveSpool(clips, 9)
    const gateway = new Started(clips, ffmpeg)
    await gateway.until('leftoversDone')
    const [{ endedAt } = { endedAt: 0 }] = gateway.heard('clipClosed')
    rmSync(join(clips, kept))
    mkdirSync(join(clips, kept, 'in the way'), { recursive: true })
    await gateway.giveUp('Too old.')
    t.same(gateway.heard('clipLost'), [], 'a file is still there')
    await gateway.stop()

    const next = new Started(clips, ffmpeg)
    await next.until('leftoversDone')
    t.match(next.heard('leftoversDone'), [{ kept: [9] }])
    t.match(next.heard('clipWaits'), [{ detectionId: 9, words: /refused to remove/ }])
    await next.giveUp('The disk was nearly full.')
    t.same(next.heard('clipLost'), [])
    rmSync(join(clips, kept), { recursive: true })
    await next.giveUp('The disk was nearly full.')
    t.match(next.heard('clipLost'), [{ detectionId: 9, reason: 'given-up', words: 'Too old.', endedAt }])
    t.same(readdirSync(clips), ['9.json'])
    await next.stop()
  })
}

t.test('a clip that waits and cannot be removed is given up later, and not made', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  const ended = join(folder, 'ended')
  const obstacle = join(clips, '1.png')
  const words = 'Too old.'
  const again = async (attempt: number) => {
    if (attempt === 0) mkdirSync(join(obstacle, 'in the way'), { recursive: true })
    else rmSync(obstacle, { recursive: true })
    return attempt < 2
  }
  const program = instead(folder, `if ! [ -e '${ended}' ]; then : >'${ended}'; kill -TERM $$; fi`)
  const { recording, endMs } = await record({ ...tools(clips, program), again, givenUp: () => words }, 1)
  const loss = await recording.close(endMs, ending)
  t.match(loss, { type: 'clipLost', reason: 'given-up', words, endedAt: endMs + wallOffsetMs })
  t.notOk(existsSync(obstacle), 'it was tried again')
  t.same(readdirSync(clips), ['1.json'])
})

/** Leaves a spool without a whole picture: the camera's video, cut off in its first picture. */
async function endsInAPicture(clips: string): Promise<void> {
  await leaveSpool(clips, 9)
  truncateSync(join(clips, '9.ts.part'), 188 * 5)
}

// The bundled ffmpeg makes a picture of the half that is there.
t.test('a clip without a picture is lost when its files are removed, and not before', needs('ffmpeg'), async (t) => {
  const clips = t.testdir({})
  await endsInAPicture(clips)
  mkdirSync(join(clips, '9.png', 'in the way'), { recursive: true })
  const gateway = new Started(clips, ffmpeg)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('leftoversDone'), [{ kept: [9] }], 'no other clip waits for it')
  t.match(gateway.heard('clipWaits'), [{ detectionId: 9, words: /refused to remove/ }])
  t.same(gateway.heard('clipLost'), [], 'a file is still there that no row names')
  rmSync(join(clips, '9.png'), { recursive: true })
  gateway.clock.advance(10_000)
  await gateway.until('clipLost')
  t.match(gateway.heard('clipLost'), [{ detectionId: 9, reason: 'unreadable' }])
  t.same(readdirSync(clips), ['9.json'])
  await gateway.stop()
})

t.test('facts that cannot be read keep their video, and are no reason to lose another clip', async (t) => {
  const folder = t.testdir({ '3.json': '{"facts"', '3.ts.part': 'video', '4.json': '' })
  await leaveSpool(folder, 9)
  const gateway = new Started(folder, ffmpeg)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('leftoversDone'), [{ count: 2, kept: [3] }], 'of the last one there is nothing')
  t.match(gateway.heard('clipClosed'), [{ detectionId: 9 }])
  t.same(gateway.heard('clipLost'), [])
  await gateway.stop()
  t.ok(existsSync(join(folder, '3.ts.part')))
  t.notOk(existsSync(join(folder, '4.json')), 'which the next start does not find again')
})

t.test('a film is made again only when nothing of it is left and it is not recorded', async (t) => {
  const folder = t.testdir({ '4.json': '' })
  await leaveSpool(folder, 9)
  const gateway = new Started(folder, ffmpeg)
  const order = { type: 'film', cameraId: 5, momentAt: 2000, fromAt: 1000, toAt: 3000 } as const
  gateway.thread.receive({ ...order, detectionId: 4 })
  await gateway.until('leftoversDone')
  t.match(gateway.heard('clipLost'), [{ detectionId: 4, reason: 'nothing-kept' }], 'it was ordered, and tried')
  // The removal takes its time. Meanwhile comes the order, and then the word that it is recorded.
  for (const message of [camera, { type: 'remove', cameraId: 1 }] as const) gateway.thread.receive(message)
  gateway.thread.receive({ ...order, detectionId: 9 })
  gateway.thread.receive({ type: 'recorded', detectionId: 9 })
  await gateway.stop()
  t.match(gateway.heard('clipWaits'), [{ detectionId: 9, words: null }])
  t.equal(gateway.heard('clipLost').length, 1)
  t.notOk(existsSync(join(folder, '9.json')))
})

t.test('a folder of clips that cannot be read is not taken for an empty one', async (t) => {
  const gateway = new Started(join(t.testdir({ file: '' }), 'file'), ffmpeg)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('leftoversDone'), [{ count: 0, kept: null }])
  await gateway.stop()
})

t.test('cameras start at once, also while a clip of an earlier run is still being cut', async (t) => {
  const folder = t.testdir({ clips: {} })
  const clips = join(folder, 'clips')
  await leaveSpool(clips, 9)
  const waits = join(folder, 'waits')
  writeFileSync(waits, '')
  const program = instead(
    folder,
    `case "$*" in *9.png.part) while [ -e '${waits}' ] && kill -0 $PPID; do sleep 0.05; done;; *rtsp*|*pipe:3*) exec tail -f /dev/null;; esac`,
  )
  const gateway = new Started(clips, program)
  gateway.thread.receive(camera)
  await gateway.until('state')
  t.match(gateway.heard('state'), [{ cameraId: 1, state: 'connecting' }])
  t.same(gateway.heard('leftoversDone'), [])
  rmSync(waits)
  await gateway.until('leftoversDone')
  t.match(gateway.heard('clipClosed'), [{ detectionId: 9 }])
  await gateway.stop()
})

t.test('a large clip may take longer to cut than a small one', async (t) => {
  t.equal(cutLimitMs(0), 120_000)
  t.equal(cutLimitMs(750_000_000), 120_000 + 3_000_000, 'five minutes of 4K on a card with 0.25 MB/s left')
})
