/**
 * Tests the cameras of the tests and the demo with real ffmpeg as their client: the bundled build, and the system's where
 * there is one. GStreamer's server must pass the general tests too.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { footage } from '../support/footage.ts'
import { startGstServer } from '../support/gst/server.ts'
import { needs } from '../support/needs.ts'
import { digestFields, digestResponse } from '../support/rtsp/credentials.ts'
import { RequestReader } from '../support/rtsp/messages.ts'
import { type Clip, type RtspServer, type RtspServerOptions, startRtspServer } from '../support/rtsp/server.ts'
import { waitUntil } from '../support/waiting.ts'

t.jobs = 6

type Build = { readonly name: string; readonly path: string; readonly timeoutOption: string }

/** Since ffmpeg 5 the socket's time-out is `-timeout`, which before meant to listen. */
function build(name: string, path: string): Build {
  const help = execFileSync(path, ['-hide_banner', '-h', 'demuxer=rtsp'], { encoding: 'utf8', stdio: 'pipe' })
  return { name, path, timeoutOption: help.includes('-stimeout') ? '-stimeout' : '-timeout' }
}

const bundled = build('the bundled ffmpeg', locateFfmpeg({ env: { ...process.env, PATH: '' } }).path)
const found = locateFfmpeg()
const builds = found.origin === 'system' ? [bundled, build("the system's ffmpeg", found.path)] : [bundled]

const passer = await footage('passer', bundled.path)
const passerHevc = await footage('passer-hevc', bundled.path)
const crossing = await footage('crossing', bundled.path)

type PlayOptions = {
  readonly build?: Build
  /** Before `-i`. */
  readonly input?: readonly string[]
  /** Default: the packets as they come, listed on stdout. */
  readonly output?: readonly string[]
}

const listPackets = ['-map', '0:v:0', '-c', 'copy', '-f', 'framecrc', 'pipe:1']
const listPictures = ['-map', '0:v:0', '-vsync', '0', '-f', 'framemd5', 'pipe:3']
const decode = ['-map', '0:v:0', '-f', 'null', '-']

/** ffmpeg as the client of a camera; killed with its test. */
class Player {
  readonly packets: string[] = []
  readonly pictures: string[] = []
  readonly ended: Promise<number | null>
  complaint = ''
  readonly #child: ChildProcess
  readonly #watchers = new Set<() => void>()

  constructor(t: Test, url: string, { build = bundled, input = [], output = listPackets }: PlayOptions = {}) {
    const patience = [build.timeoutOption, '2000000', '-analyzeduration', '300000', '-fpsprobesize', '0']
    const source = ['-rtsp_transport', 'tcp', ...patience, '-threads', '1', ...input, '-i', url]
    const child = spawn(build.path, ['-nostdin', '-hide_banner', '-loglevel', 'info', ...source, ...output], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    this.ended = new Promise((resolve) => child.once('close', resolve))
    const stream = (nth: number) => child.stdio[nth] as Readable
    stream(2)
      .setEncoding('utf8')
      .on('data', (text: string) => {
        this.complaint += text
        this.#look()
      })
    this.#list(stream(1), this.packets)
    this.#list(stream(3), this.pictures)
    t.teardown(() => this.stop())
  }

  /** Resolves when the condition holds; rejects with the output of ffmpeg. */
  until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition()) return
        clearTimeout(timer)
        this.#watchers.delete(look)
        resolve()
      }
      const fail = () => reject(new Error(`not so after ${timeoutMs} ms: ${condition}; ffmpeg said: ${this.complaint}`))
      const timer = setTimeout(fail, timeoutMs)
      this.#watchers.add(look)
      look()
    })
  }

  /** Resolves when as many packets came, from now on. */
  more(packets: number): Promise<void> {
    const wanted = this.packets.length + packets
    return this.until(() => this.packets.length >= wanted)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  #list(stream: Readable, into: string[]): void {
    createInterface({ input: stream }).on('line', (line) => {
      if (!line.startsWith('#')) into.push(line)
      this.#look()
    })
  }

  #look(): void {
    for (const look of this.#watchers) look()
  }
}

async function camera(t: Test, options: Partial<RtspServerOptions> = {}): Promise<RtspServer> {
  const server = await startRtspServer({ streams: { door: passer }, ...options })
  t.teardown(() => server.stop())
  return server
}

const column = (nth: number) => (line: string) => line.split(',')[nth]?.trim() ?? ''
const hash = column(5)
const presentedAt = (line: string) => Number(column(2)(line))

/** Returns the decoded pictures of a file, as hashes. */
function picturesIn(clip: Clip): string[] {
  const args = ['-v', 'error', '-i', clip.file, '-vsync', '0', '-f', 'framemd5', '-']
  const lines = execFileSync(bundled.path, args, { encoding: 'utf8' }).trim().split('\n')
  return lines.filter((line) => !line.startsWith('#')).map(hash)
}

/** Fails unless these are consecutive pictures of the file, repeated from its end to its beginning at least once. */
function goesRound(t: Test, shown: readonly string[], file: readonly string[], who: string): void {
  const first = file.indexOf(shown[0] ?? '')
  t.not(first, -1, `${who}: the first picture is one of the file`)
  const expected = shown.map((_, i) => file[(first + i) % file.length])
  t.equal(
    shown.findIndex((picture, i) => picture !== expected[i]),
    -1,
    `${who}: all ${shown.length} are in order`,
  )
  t.ok(first + shown.length > file.length, `${who}: over the seam`)
}

/** Fails unless every packet is a picture's time after the one before. */
function isEven(t: Test, packets: readonly string[], fps: number, who: string): void {
  const steps = packets.slice(1).map((line, i) => presentedAt(line) - presentedAt(packets[i] ?? ''))
  const uneven = steps.filter((step) => Math.abs(step - 90_000 / fps) > 1)
  t.same(uneven, [], `${who}: ${steps.length} steps of ${90_000 / fps} ticks`)
}

const awkward = { username: 'gate 7', password: "p@ss:w/rd?#%&'*é" } as const

type AnyServer = Pick<RtspServer, 'url' | 'stop'> & {
  clients(name: string): { connected: number; mostAtOnce: number }
  fault(fault: 'freeze' | 'refuse' | undefined): void
  drop(): void
}

/** Behavior of every camera, ours and others'. `leadIn`: pictures at the start that may lack their reference. */
const servers: {
  readonly name: string
  readonly leadIn: number
  readonly needed: { skip?: string }
  start(options: Pick<RtspServerOptions, 'streams' | 'auth'>): Promise<AnyServer>
}[] = [
  { name: 'our camera', leadIn: 0, needed: {}, start: startRtspServer },
  {
    name: "GStreamer's camera",
    leadIn: passer.fps,
    needed: needs("GStreamer's RTSP server"),
    start: startGstServer,
  },
]

for (const { name, leadIn, needed, start } of servers) {
  const open = async (t: Test, options: Partial<RtspServerOptions> = {}) => {
    const server = await start({ streams: { door: passer }, ...options })
    t.teardown(() => server.stop())
    return server
  }

  t.test(`${name} delivers every picture as it is in the file, evenly timed, over the seam`, needed, async (t) => {
    const clips = { door: passer, dock: passerHevc }
    const server = await open(t, { streams: clips })
    const output = [['-t', '5.3'], listPackets, ['-t', '5.3'], listPictures].flat()
    const viewers = Object.entries(clips).flatMap(([path, clip]) => builds.map((build) => ({ path, clip, build })))
    const watch = async ({ path, clip, build }: (typeof viewers)[number]) => {
      const player = new Player(t, server.url(path), { build, input: ['-fflags', '+genpts'], output })
      const who = `${build.name}, ${clip.codec}`
      t.equal(await player.ended, 0, who)
      goesRound(t, player.pictures.slice(leadIn).map(hash), picturesIn(clip), who)
      // The old build guesses at the first times of H.264 until it knows that nothing is reordered.
      isEven(t, player.packets.slice(clip.fps), clip.fps, who)
    }
    await Promise.all(viewers.map(watch))
    t.equal(server.clients('door').mostAtOnce, name === 'our camera' ? builds.length : viewers.length)
  })

  for (const scheme of ['digest', 'basic'] as const)
    t.test(`${name} lets in who signs in by ${scheme}, and nobody else`, needed, async (t) => {
      const server = await open(t, { auth: { ...awkward, scheme } })
      const right = server.url('door', true)
      const wrong = right.replace(/:[^:@]*@/, ':guess@')
      const attempt = async (build: Build, url: string) => {
        const player = new Player(t, url, { build, output: ['-frames:v', '3', ...listPackets] })
        return { code: await player.ended, complaint: player.complaint, packets: player.packets.length }
      }
      await Promise.all(
        builds.map(async (build) => {
          t.match(await attempt(build, right), { code: 0, packets: 3 }, `${build.name}, right password`)
          for (const url of [wrong, server.url('door')])
            t.match(await attempt(build, url), { code: 1, packets: 0, complaint: /401 Unauthorized/ }, build.name)
        }),
      )
    })

  t.test(`${name} freezes, goes on, disconnects and refuses on command`, needed, async (t) => {
    const server = await open(t, { auth: awkward })
    const player = new Player(t, server.url('door', true))
    await player.more(10)
    server.fault('freeze')
    // Time is the subject: packets under way arrive, and then nothing comes.
    await pause(300)
    const before = player.packets.length
    await pause(900)
    t.equal(player.packets.length, before, 'nothing comes')
    t.equal(server.clients('door').connected, 1, 'the connection stays')
    server.fault(undefined)
    await player.more(5)
    server.fault('refuse')
    server.drop()
    t.equal(await player.ended, 0, 'a camera that closes looks like the end of a film')
    const next = new Player(t, server.url('door', true))
    t.equal(await next.ended, 1)
    t.match(next.complaint, /401 Unauthorized/)
  })
}

t.test('pictures that a camera cuts into slices, many small ones or a few big ones, arrive whole', async (t) => {
  const hevc = 'bframes=0:keyint=6:open-gop=0:repeat-headers=1'
  const encoders: [Clip['codec'], string[]][] = [
    ['h264', ['-c:v', 'libx264', '-qp', '40', '-x264-params', 'bframes=0:keyint=6:aud=1:slice-max-size=300']],
    ['h264', ['-c:v', 'libx264', '-qp', '10', '-x264-params', 'bframes=0:keyint=6:slices=3']],
    ['hevc', ['-c:v', 'libx265', '-x265-params', `${hevc}:slices=3:aud=1:log-level=none`]],
  ]
  const folder = t.testdir()
  const clips = encoders.map(([codec, encoder], nth): Clip => {
    const source = ['-f', 'lavfi', '-i', 'testsrc2=s=320x192:r=12', '-t', '1', '-pix_fmt', 'yuv420p']
    const file = `${folder}/${nth}.${codec}`
    const made = ['-preset', 'ultrafast', '-f', codec, file]
    execFileSync(bundled.path, ['-v', 'error', '-threads', '1', ...source, ...encoder, ...made])
    return { file, codec, fps: 12 }
  })
  const server = await camera(t, { streams: Object.fromEntries(clips.entries()) })
  await Promise.all(
    clips.map(async (clip, nth) => {
      const player = new Player(t, server.url(String(nth)), { output: ['-t', '1.5', ...listPictures] })
      t.equal(await player.ended, 0)
      goesRound(t, player.pictures.map(hash), picturesIn(clip), clip.file)
    }),
  )
})

t.test('noise on the line and wrong bits reach the client, and pass', async (t) => {
  const server = await camera(t, { streams: { door: passer, gate: passer } })
  const noisy = new Player(t, server.url('door'))
  const wrong = new Player(t, server.url('gate'), { output: decode })
  await noisy.more(10)
  await wrong.until(() => wrong.complaint.includes('frame='))
  server.fault('garbage', 'door')
  server.fault('corrupt', 'gate')
  await wrong.until(() => /error|corrupt|illegal|out of range|Invalid/i.test(wrong.complaint))
  const before = noisy.packets.length
  // Time is the subject: for the length of many pictures none comes.
  await pause(700)
  t.ok(noisy.packets.length - before < 3, 'noise is no picture')
  t.equal(server.clients('gate').playing, 1, 'who gets wrong bits stays')
  server.fault(undefined)
  const again = new Player(t, server.url('door'))
  await again.more(10)
})

t.test('a camera that accepts and says nothing is given up by ffmpeg after its time-out', async (t) => {
  const server = await camera(t)
  server.fault('silent')
  const started = performance.now()
  await Promise.all(
    builds.map(async (build) => {
      const player = new Player(t, server.url('door'), { build })
      t.equal(await player.ended, 1, build.name)
      t.equal(player.packets.length, 0)
    }),
  )
  t.ok(performance.now() - started > 1900, 'not before')
  t.match(server.clients('door'), { connected: 0, playing: 0, total: builds.length })
})

t.test('a camera without a picture, one that is full, one that is busy and one that is off say so', async (t) => {
  const server = await camera(t)
  const complaintOf = async (build: Build) => {
    const player = new Player(t, server.url('door'), { build })
    t.not(await player.ended, 0)
    return player.complaint
  }
  for (const build of builds) {
    server.fault('no-video')
    t.match(await complaintOf(build), /Audio: pcm_mulaw.*matches no streams/s)
    server.fault('full')
    t.match(await complaintOf(build), / 453 |453 Not Enough Bandwidth/)
    server.fault('unavailable')
    t.match(await complaintOf(build), /503 Service Unavailable/)
    server.fault(undefined)
    await server.unplug()
    t.match(await complaintOf(build), /Connection refused/)
    await server.plugIn()
  }
  await new Player(t, server.url('door')).more(3)
})

t.test('more clients than the camera takes are turned away while the others stay', async (t) => {
  const server = await camera(t, { mostClients: 2 })
  const players = [new Player(t, server.url('door')), new Player(t, server.url('door'))]
  await Promise.all(players.map((player) => player.more(3)))
  const third = new Player(t, server.url('door'))
  t.equal(await third.ended, 1)
  t.match(third.complaint, /453/)
  t.match(server.clients('door'), { connected: 2, playing: 2, mostAtOnce: 3, total: 3, refused: 0 })
  await players[0]?.stop()
  await server.waitFor(() => server.clients('door').connected === 1)
  await new Player(t, server.url('door')).more(3)
})

t.test('another size goes on in the same session, another codec in a new one', async (t) => {
  const server = await camera(t)
  const player = new Player(t, server.url('door'), { output: ['-vf', 'showinfo', ...decode] })
  await player.until(() => / s:320x180 /.test(player.complaint))
  server.switchTo('door', crossing)
  await player.until(() => / s:640x360 /.test(player.complaint))
  t.equal(server.clients('door').total, 1)
  server.switchTo('door', passerHevc)
  t.equal(await player.ended, 0)
  const next = new Player(t, server.url('door'))
  await next.more(3)
  t.match(next.complaint, /Video: hevc/)
})

t.test('who comes in the middle of a long group of pictures waits for its end, or starts without one', async (t) => {
  const long = await footage('crossing-long-gop', bundled.path)
  const polite = await camera(t, { streams: { door: long } })
  const rude = await camera(t, { streams: { door: long }, join: 'anywhere' })
  polite.seek('door', 0)
  rude.seek('door', 0)
  await waitUntil('both are past their first keyframe', () =>
    [polite, rude].every((server) => server.positionMs('door') > 200),
  )
  const waiting = new Player(t, polite.url('door'))
  const started = new Player(t, rude.url('door'), { output: ['-map', '0:v:0', '-copyinkf', ...listPackets.slice(2)] })
  await started.more(5)
  t.match(started.packets[0], 'F=0x0', 'it begins without a keyframe')
  t.ok(polite.positionMs('door') > 200 && polite.positionMs('door') < 9000)
  t.same(waiting.packets, [])
  t.equal(polite.clients('door').playing, 1, 'it has asked')
  polite.seek('door', 10_100)
  await waiting.more(5)
  t.notMatch(waiting.packets[0], 'F=0x0', 'it begins with a keyframe')
})

t.test('a client that asks for UDP is brought to TCP, and a microphone is a second track', async (t) => {
  const server = await camera(t, { sound: true })
  await Promise.all(
    builds.map(async (build) => {
      const player = new Player(t, server.url('door'), {
        build,
        // Long enough for a keyframe: until then it hears the microphone alone.
        input: ['-rtsp_transport', 'udp+tcp', '-analyzeduration', '1500000'],
        output: ['-map', '0:v:0', '-map', '0:a:0', '-t', '1', '-c', 'copy', '-f', 'framecrc', 'pipe:1'],
      })
      t.equal(await player.ended, 0, player.complaint)
      const tracks = player.packets.map(column(0))
      t.ok(tracks.includes('0') && tracks.includes('1'), build.name)
    }),
  )
})

t.test('pictures come at the pace of the clock: the last second is not later than the first', async (t) => {
  const server = await camera(t)
  const player = new Player(t, server.url('door'), { input: ['-fflags', '+genpts'] })
  await player.more(passer.fps)
  const delays: number[] = []
  for (let i = 0; i < 5 * passer.fps; i += 1) {
    await player.more(1)
    delays.push(performance.now() - presentedAt(player.packets.at(-1) ?? '') / 90)
  }
  const drift = Math.min(...delays.slice(-passer.fps)) - Math.min(...delays.slice(0, passer.fps))
  t.ok(Math.abs(drift) < 60, `${drift} ms in four seconds`)
})

t.test('in the footage something moves when it is said to, and only then', async (t) => {
  const [wide, high] = [160, 90]
  const args = ['-v', 'error', '-r', String(crossing.fps), '-i', crossing.file]
  const scaled = ['-vf', `scale=${wide}:${high}:flags=area`, '-pix_fmt', 'gray', '-f', 'rawvideo', '-']
  const film = execFileSync(bundled.path, [...args, ...scaled], { maxBuffer: 64 << 20 })
  const size = wide * high
  t.equal(film.length / size, (crossing.durationMs * crossing.fps) / 1000, 'as long as it is said to be')
  const changed = (nth: number) => {
    let count = 0
    for (let at = 0; at < size; at += 1) if (Math.abs((film[nth * size + at] ?? 0) - (film[at] ?? 0)) > 20) count += 1
    return count / size
  }
  const wrong: string[] = []
  for (let nth = 0; nth < film.length / size; nth += 1) {
    const ms = (nth * 1000) / crossing.fps
    const act = crossing.motion.find(({ fromMs, toMs }) => ms >= fromMs && ms < toMs)
    // At the edges of an act there is too little of it in the picture to be sure.
    if (act && (ms < act.fromMs + 300 || ms > act.toMs - 300)) continue
    const share = changed(nth)
    if (act ? share < 0.01 : share > 0) wrong.push(`${share} at ${ms} ms`)
  }
  t.same(wrong, [])
  t.ok(changed(10 * crossing.fps) > 0.03 && changed(10 * crossing.fps) < 0.09, 'a person in the middle')
  t.ok(changed(16.7 * crossing.fps) > 0.1, 'a forklift in the middle')
})

t.test('requests are found among packets, in whatever pieces they come', async (t) => {
  const options = 'OPTIONS rtsp://h/a RTSP/1.0\r\nCSeq: 1\r\n\r\n'
  const parameter = 'SET_PARAMETER rtsp://h/a RTSP/1.0\r\nCSeq: 2\r\nContent-Length: 6\r\n\r\n\r\n\r\n$$'
  const packet = Buffer.from([0x24, 1, 0, 4, 13, 10, 13, 10])
  const bytes = Buffer.concat([Buffer.from(options), packet, Buffer.from(parameter), packet, Buffer.from(options)])
  for (const piece of [1, 3, 7, bytes.length]) {
    const reader = new RequestReader()
    const requests = []
    for (let at = 0; at < bytes.length; at += piece) requests.push(...reader.take(bytes.subarray(at, at + piece)))
    t.same(
      requests.map((request) => request.headers['cseq']),
      ['1', '2', '1'],
      `in pieces of ${piece}`,
    )
  }
  t.throws(() => new RequestReader().take(Buffer.from('GET / HTTP/1.1\r\n\r\n')), /no RTSP request/)
})

t.test('a digest is what the standard says it is', async (t) => {
  const header =
    'Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", ' +
    'uri="/dir/index.html", qop=auth, nc=00000001, cnonce="0a4f113b", response="6629fae49393a05397450978507c4ef1"'
  const fields = digestFields(header)
  t.equal(digestResponse(fields, 'GET', 'Circle Of Life'), fields['response'])
  t.not(digestResponse(fields, 'GET', 'Circle of Life'), fields['response'])
})
