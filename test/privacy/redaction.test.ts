import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { holdsOn } from '../../src/log/index.ts'
import { assetPath } from '../../src/platform/bundle.ts'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { people } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import {
  clipsOf,
  detection,
  gatewayWithClip,
  picturesOf,
  psnr,
  reading,
  sha256,
  valuesIn,
  variance,
} from '../support/recorded-clip.ts'
import { eventually } from '../support/waiting.ts'

t.setTimeout(240_000)

const box = (left: number, top: number, right: number, bottom: number) => [
  { x: left, y: top },
  { x: right, y: top },
  { x: right, y: bottom },
  { x: left, y: bottom },
]
/** Pixels 80 to 239 by 45 to 134 of 320 x 180. */
const middle = box(0.25, 0.25, 0.75, 0.75)
const inner = { x0: 80, y0: 45, x1: 240, y1: 135 }
/** With the margin of the mask and what the encoder spreads. */
const around = { x0: 64, y0: 32, x1: 256, y1: 148 }
const shownIn = (file: string) =>
  execFileSync(
    locateFfmpeg().path,
    ['-loglevel', 'error', '-copyts', '-i', file, '-map', '0:v:0', '-c', 'copy', '-f', 'framecrc', 'pipe:1'],
    { encoding: 'utf8' },
  )
    .split('\n')
    .filter((line) => /^0,/.test(line))
    .map((line) => Number(line.split(',')[2]))
    .filter((time) => time >= 0)

for (const [name, path, needed] of [
  ['the ffmpeg of this machine', null, needs('ffmpeg')],
  ['the ffmpeg that comes along', assetPath('ffmpeg'), {}],
] as const) {
  t.test(`${name} covers a region so that nothing of it is left, and the original stays`, needed, async (t) => {
    const { gateway, file, clip } = await gatewayWithClip(t, { ffmpeg: { path } }, true)
    const body = { regions: [{ polygon: middle }, { polygon: box(0, 0, 0.1, 0.1), from: 1, to: 2 }] }
    const made = await gateway.ask('POST', `${detection}/redact`, { by: people.sven, body })
    t.match(made, {
      status: 201,
      body: { state: 'done', originalSha256: sha256(clip), requestedBy: 'sven', problem: null },
    })
    t.equal(sha256(readFileSync(file)), sha256(clip), 'the original has its bytes')
    const copy = join(clipsOf(gateway), '1.redacted-1.mp4')
    t.equal(made.body.sha256, sha256(readFileSync(copy)))
    const before = picturesOf(file)
    const after = picturesOf(copy)
    // The ffmpeg of 2018 lets a file end before its last picture.
    t.ok(before.length - after.length <= (path === null ? 0 : 1), `${after.length} of ${before.length} pictures play`)
    const [times, own] = [shownIn(file), shownIn(copy)]
    t.equal(own.length, times.length, 'a picture for each picture that is shown')
    t.ok(
      own.every((at, i) => Math.abs(at - (times[i] ?? 0)) <= 90),
      'at the same times, to the millisecond',
    )
    for (const i of [0, 20, 40]) {
      const [was, is] = [before[i]?.gray ?? Buffer.alloc(0), after[i]?.gray ?? Buffer.alloc(0)]
      t.ok(variance(valuesIn(was, inner, true)) > 100, `there was something: ${variance(valuesIn(was, inner, true))}`)
      t.ok(variance(valuesIn(is, inner, true)) < 1, `nothing is left: ${variance(valuesIn(is, inner, true))}`)
      const outside = [valuesIn(was, around, false), valuesIn(is, around, false)] as const
      if (i !== 20) t.ok(psnr(...outside) > 32, `the rest is as it was: ${psnr(...outside)} dB`)
    }
    const corner = { x0: 0, y0: 0, x1: 30, y1: 16 }
    const isCovered = after.map(({ gray }) => variance(valuesIn(gray, corner, true)) < 1)
    t.ok(
      isCovered.every((covered, i) => covered === (i / 15 >= 0.93 && i / 15 <= 2.001)),
      `from 1 to 2 s only: ${isCovered.indexOf(true)} to ${isCovered.lastIndexOf(true)}`,
    )
    const description = spawnSync(locateFfmpeg().path, ['-hide_banner', '-i', copy], { encoding: 'utf8' }).stderr
    t.notMatch(description, /Audio|creation_time|title|Ada/)
    t.match(description, /h264.* 320x180/)
  })
}

t.test(
  'a region that was drawn around something twice, or crosses itself, covers all that it goes around',
  async (t) => {
    const { gateway, file } = await gatewayWithClip(t, {}, true)
    const star = [0, 2, 4, 1, 3].map((n) => ({
      x: 0.5 + 0.45 * Math.sin((n * 2 * Math.PI) / 5),
      y: 0.5 - 0.45 * Math.cos((n * 2 * Math.PI) / 5),
    }))
    const core = { x0: 140, y0: 75, x1: 180, y1: 105 }
    for (const [nth, { polygon, place }] of [
      { polygon: [...middle, ...middle], place: inner },
      { polygon: star, place: core },
    ].entries()) {
      const made = await gateway.ask('POST', `${detection}/redact`, {
        by: people.sven,
        body: { regions: [{ polygon }] },
      })
      t.match(made, { status: 201, body: { state: 'done' } })
      const [was] = picturesOf(file)
      const [is] = picturesOf(join(clipsOf(gateway), `1.redacted-${nth + 1}.mp4`))
      const seen = (picture: typeof was) => variance(valuesIn(picture?.gray ?? Buffer.alloc(0), place, true))
      t.ok(seen(was) > 1 && seen(is) < 1, `${seen(was)} before, ${seen(is)} after`)
    }
  },
)

t.test('a copy is downloaded in ranges, has its snapshot, is made once, and the ledger verifies with it', async (t) => {
  const { gateway } = await gatewayWithClip(t, {}, true)
  const body = { regions: [{ polygon: middle }] }
  const ask = (path: string, headers = {}) => gateway.ask('GET', path, { by: people.olga, headers })
  const { body: made } = await gateway.ask('POST', `${detection}/redact`, { by: people.vera, body })
  t.match(made, { state: 'done', url: /\/api\/iot\/redactions\/1\/clip$/ }, 'the owner may')
  t.match(
    await gateway.ask('POST', `${detection}/redact`, { by: people.sven, body }),
    { body: { id: 1 } },
    'it is there already',
  )
  t.match(await ask('/api/iot/redactions/1/clip', { Range: 'bytes=0-9' }), { status: 206 })
  t.match(await ask('/api/iot/redactions/1/snapshot'), { status: 200 })
  t.match(await ask(`${detection}/redactions`), { body: { data: [{ id: 1, sha256: made.sha256 }] } })
  const { ok, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.strictSame([ok, mismatches.filter(({ where }) => /redact/.test(where))], [ok, []])
  writeFileSync(join(clipsOf(gateway), '1.redacted-1.mp4'), 'something else')
  t.match(verifyLedger(gateway.live.config.dataDir).mismatches, [{ where: 'clip of redacted copy 1' }])
})

t.test('who may not hand out cannot redact, and a camera of others has no clips', async (t) => {
  const { gateway } = await gatewayWithClip(t)
  const body = { regions: [{ polygon: middle }] }
  const post = (by: (typeof people)[keyof typeof people], sent: object = body) =>
    gateway.ask('POST', `${detection}/redact`, { by, body: sent })
  t.match(await post(people.olga), { status: 403, body: { error: { code: 'PERMISSION_DENIED' } } })
  for (const regions of [
    [],
    [{ polygon: middle.slice(2) }],
    [{ polygon: middle, from: 9 }],
    [{ polygon: middle, from: 2, to: 1 }],
    [{ polygon: box(0, 0, 1, 1.1) }],
    [{ polygon: box(0.5, 0.5, 0.5, 0.5) }],
    [{ polygon: middle }, { polygon: box(0.2, 0.5, 0.8, 0.5) }],
  ]) {
    t.match(await post(people.sven, { regions }), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  }
  t.match(await post(people.sven), { status: 201, body: { state: 'pending', sha256: null, url: null } })
  const file = await gateway.ask('GET', '/api/iot/redactions/1/clip', { by: people.sven })
  t.match(file, { status: 503, body: { error: { code: 'CLIP_PENDING' } } })
  for (let n = 2; n <= 10; n += 1) await post(people.sven, { regions: [{ polygon: box(0, 0, n / 20, 1) }] })
  const full = await post(people.sven, { regions: [{ polygon: box(0, 0, 0.9, 1) }] })
  t.match(full, { status: 503, body: { error: { code: 'REDACTIONS_WAITING' } } })
})

t.test(
  'a copy that was not finished is made after a restart, and an incident holds it as it holds the clip',
  async (t) => {
    const { gateway, clip } = await gatewayWithClip(t)
    const evidenceReferences = [{ type: 'detection_event', id: '1' }]
    const incident = { severity: 'high', category: 'theft', evidenceReferences }
    t.equal((await gateway.ask('POST', '/api/governance/incidents', { by: people.ada, body: incident })).status, 201)
    const body = { regions: [{ polygon: middle }] }
    t.match(await gateway.ask('POST', `${detection}/redact`, { by: people.sven, body }), { body: { state: 'pending' } })
    writeFileSync(join(clipsOf(gateway), '1.redacted-1.mp4.part'), 'half of it')
    gateway.camerasThread.start()
    const one = () => gateway.ask('GET', '/api/iot/redactions/1', { by: people.sven })
    const done = await eventually(one, ({ body: row }) => row.state === 'done')
    t.notOk(readdirSync(clipsOf(gateway)).some((name) => name.endsWith('.part')))
    const reasons = (hash: string) => reading(gateway, (tx) => holdsOn(tx, hash).map(({ reason }) => reason))
    t.strictSame([reasons(done.body.sha256), reasons(sha256(clip))], [['incident'], ['incident']])
  },
)

t.test('a clip whose bytes are not those of the ledger, and an ffmpeg without the encoder, end in words', async (t) => {
  const { gateway, file } = await gatewayWithClip(t, {}, true)
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('x')]))
  const body = { regions: [{ polygon: middle }] }
  const made = await gateway.ask('POST', `${detection}/redact`, { by: people.sven, body })
  t.match(made.body, { state: 'failed', sha256: null, problem: /other bytes than the ledger names/ })
  const none = await gateway.ask('GET', '/api/iot/redactions/1/clip', { by: people.sven })
  t.match(none, { status: 404, body: { error: { details: /other bytes/ } } })
  const wrapper = join(gateway.folder, 'ffmpeg')
  writeFileSync(
    wrapper,
    `#!/bin/sh\ncase "$*" in *libx264*) echo "Unknown encoder 'libx264'" >&2; exit 1;; esac\nexec ${locateFfmpeg().path} "$@"\n`,
    { mode: 0o755 },
  )
  const other = await gatewayWithClip(t, { ffmpeg: { path: wrapper } }, true)
  const failed = await other.gateway.ask('POST', `${detection}/redact`, { by: people.sven, body })
  t.match(failed.body, { state: 'failed', problem: /no H\.264 encoder \(libx264\)\. Install/ })
  t.notOk(existsSync(join(clipsOf(other.gateway), '1.redacted-1.mp4')))
})
