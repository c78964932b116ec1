import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../../src/cli/run.ts'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { withRecipe } from '../support/evidence/recipe.ts'
import { furnish, heldPhoto, type Person, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { waitUntil } from '../support/waiting.ts'

const camera = {
  id: 7,
  name: 'Dock',
  url: 'rtsp://192.0.2.7/main',
  owner: 'vera',
  viewers: ['sven', 'olga'],
  slots: ['A'],
}
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

/**
 * A hall where a pallet fell, with an incident about it. The incident names a placement with photo in slot B, a clip of camera 7,
 * and a truck with a photo. No camera watches slot B.
 */
async function fallenPallet(
  t: Test,
  config: Record<string, unknown> = {},
  { clip = Buffer.from('a clip'), reporter = people.sven }: { clip?: Buffer; reporter?: Person } = {},
) {
  const gateway = await testGateway({ config: { cameras: [camera], ...config } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  gateway.cameras.threadStarted()
  await recordClip(gateway, clip)
  const photo_url = await heldPhoto(gateway)
  const body = { event_type: 'PLACED', slot_code: 'B', asset_barcode: 'P-1', photo_url }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  const truck = await gateway.ask('POST', '/api/whms/transport-units', {
    by: people.olga,
    body: { direction: 'inbound', reference: 'truck 9', warehouseId: 1 },
  })
  const unit = truck.body.id
  const more = { photo_urls: [await heldPhoto(gateway, 2)] }
  await gateway.ask('POST', `/api/whms/transport-units/${unit}/evidence`, { by: people.olga, body: more })
  const lone = (await heldPhoto(gateway, 3)).split('/').at(-1)
  const evidenceReferences = [
    'event:1',
    'detection_event:1',
    `transport_unit:${unit}`,
    lone,
    'asset:P-1',
    'a note of paper',
  ]
  await gateway.ask('POST', '/api/governance/incidents', {
    by: reporter,
    body: { severity: 'high', category: 'damage', title: 'Fallen <pallet>', evidenceReferences },
  })
  return { gateway, unit, lone }
}

async function recordClip(gateway: TestGateway, clip: Buffer, detectionId = 1): Promise<void> {
  const { dataDir } = gateway.live.config
  mkdirSync(`${dataDir}/clips`, { recursive: true })
  writeFileSync(`${dataDir}/clips/${detectionId}.mp4`, clip)
  const motionAt = gateway.clock.now()
  gateway.cameras.heard({
    ...{
      type: 'clipClosed',
      detectionId,
      cameraId: 7,
      motionAt,
      score: 0.4,
      sceneChange: false,
      file: `${detectionId}.mp4`,
    },
    ...{ sha256: sha256(clip), sizeBytes: clip.length, startedAt: motionAt - 2000, endedAt: motionAt + 1000 },
    ...{ preRollSeconds: 2, durationSeconds: 3, width: 640, height: 360, peakScore: 0.5, snapshot: null },
    ...{ closedBy: 'post-roll', askedPreRollSeconds: 2, pictures: 45, longestGapSeconds: 0.07, original: true },
  })
  await gateway.audit('test.settled', {})
}

const path = '/api/governance/incidents/1/package'

const python = needs('python3')

async function unpacked(t: Test, gateway: TestGateway, by: (typeof people)['sven' | 'ada'] = people.sven, at = path) {
  const answer = await gateway.ask('GET', at, { by })
  t.equal(answer.status, 200, answer.text.slice(0, 300))
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-package-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const zip = join(folder, 'package.zip')
  writeFileSync(zip, answer.bytes)
  const out = join(folder, 'out')
  mkdirSync(out)
  execFileSync('python3', ['-m', 'zipfile', '-e', zip, out])
  const names = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(out.length + 1))
    .sort()
  const read = (name: string) => readFileSync(join(out, name))
  return { answer, zip, out, names, read, manifest: JSON.parse(read('manifest.json').toString()) }
}

t.test(
  'an incident is one zip in which a stranger checks every proof and every file',
  { ...withRecipe, ...python },
  async (t) => {
    const { gateway, unit, lone } = await fallenPallet(t)
    const { answer, zip, out, names, read, manifest } = await unpacked(t, gateway)
    t.equal(answer.headers.get('content-type'), 'application/zip')
    t.match(answer.headers.get('content-disposition'), /filename="incident-1\.zip"/)
    const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
    const proofs = names.filter((name) => name.endsWith('.proof.json'))
    t.strictSame(proofs, [
      'detections/1/detection-1.proof.json',
      'events/1/event-1.proof.json',
      'incident/change-1.proof.json',
      `units/${unit}/step-1/step-1.proof.json`,
      `units/${unit}/step-2/step-2.proof.json`,
    ])
    for (const name of proofs) {
      const folder = join(out, name, '..')
      const media = Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]))
      const verdict = verifyBundle(read(name), { keys: [logKey], media })
      t.ok(
        verdict.ok && verdict.steps.every(({ state }) => state !== 'not checked'),
        `${name} ${JSON.stringify(verdict.steps)}`,
      )
    }
    t.equal(read('detections/1/clip.mp4').toString(), 'a clip')
    t.ok(names.includes(`photos/${lone}.png`))
    const listed = manifest.files.map(({ path, sha256: hash, sizeBytes }: Record<string, unknown>) => [
      path,
      hash,
      sizeBytes,
    ])
    const there = names
      .filter((name) => name !== 'manifest.json')
      .map((name) => [name, sha256(read(name)), read(name).length])
    t.strictSame(listed.toSorted(), there, 'the manifest has every file with its hash')
    t.strictSame(manifest.missing, [])
    t.match(
      manifest.references.filter(({ included }: { included: boolean }) => !included),
      [{ type: 'asset' }, { type: 'external' }],
    )
    t.equal(await run(['ledger', 'verify', zip, '--key', logKey]), 0)
    t.match(execFileSync('sh', ['recipe.sh', 'events/1/event-1.proof.json'], { cwd: out }).toString(), /holds/)
  },
)

t.test('the package can be read without us: index, gaps, custody, and no markup of strangers', python, async (t) => {
  const { gateway } = await fallenPallet(t)
  await gateway.ask('GET', '/api/iot/detection-events/1/clip', { by: people.sven })
  const { read } = await unpacked(t, gateway)
  const page = read('index.html').toString()
  t.match(page, /Fallen &#60;pallet&#62;/)
  t.notMatch(page, /<script|https?:/)
  t.match(JSON.parse(read('gaps.json').toString()), { cameras: [{ cctvId: 7 }] })
  const { custody } = JSON.parse(read('custody.json').toString())
  const actions = custody.flatMap(({ entries }: { entries: { action: string }[] }) =>
    entries.map(({ action }) => action),
  )
  t.ok(actions.includes('incident.created') && actions.includes('incident.packaged'))
  t.match(read('README.txt').toString(), /sh recipe\.sh/)
})

t.test('a clip that retention removed is named with its removal and the proof of it', python, async (t) => {
  const { gateway } = await fallenPallet(t, {
    retention: { clips: { maxAgeDays: 1 }, minFreeBytes: '1B', ledgerReserveBytes: '1B' },
  })
  await gateway.ask('POST', '/api/governance/incidents/1/resolve', {
    by: people.sven,
    body: { resolution: 'repaired' },
  })
  gateway.clock.advance(2 * 86_400_000)
  await gateway.retention.look()
  const { manifest, names, read, zip } = await unpacked(t, gateway)
  t.match(manifest.missing, [
    {
      path: 'detections/1/clip.mp4',
      sha256: sha256('a clip'),
      why: /^removed from this box/,
      removal: 'removed/removal-1.proof.json',
    },
  ])
  t.notOk(names.includes('detections/1/clip.mp4'))
  const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  t.ok(verifyBundle(read('removed/removal-1.proof.json'), { keys: [logKey] }).ok)
  t.equal(await run(['ledger', 'verify', zip]), 0)
  t.match(read('index.html').toString(), /removed from this box/)
})

t.test('what the caller may not see is not in the package, and a hidden incident is not there', python, async (t) => {
  const hidden = await fallenPallet(t, { cameras: [{ ...camera, viewers: [] }] })
  const { names, manifest } = await unpacked(t, hidden.gateway)
  t.notMatch(names.join(), /detections/)
  t.match(manifest.references[1], { type: 'external', included: false })
  const { gateway } = await fallenPallet(
    t,
    { warehouses: [{ id: 1, viewers: ['olga', 'ada'] }] },
    { reporter: people.ada },
  )
  t.equal((await gateway.ask('GET', path, { by: people.sven })).status, 404)
  t.equal((await gateway.ask('GET', path, { by: people.olga })).status, 403, 'an operator takes no evidence out')
})

t.test('where exports need two people, clips stay and are named as withheld', python, async (t) => {
  const { gateway } = await fallenPallet(t, { privacy: { fourEyesForExport: true } })
  const { names, manifest } = await unpacked(t, gateway)
  t.notOk(names.includes('detections/1/clip.mp4'))
  t.match(manifest.missing, [{ path: 'detections/1/clip.mp4', why: /^withheld/ }])
})

t.test('a client that goes away ends the package, and its file is closed', async (t) => {
  const { gateway } = await fallenPallet(t, {}, { clip: Buffer.alloc(32 * 1024 * 1024, 7) })
  const clip = join(gateway.live.config.dataDir, 'clips', '1.mp4')
  const isOpen = () => readdirSync('/proc/self/fd').some((fd) => linkOf(fd) === clip)
  const headers = {
    Authorization: 'Bearer sven-secret',
    'X-Storage-Instance': 'http://127.0.0.1:8480',
    'X-Storage-Username': 'sven',
  }
  const response = await gateway.api.request(path, { headers })
  const reader = response.body?.getReader()
  let taken = 0
  while (!isOpen()) taken += (await reader?.read())?.value?.length ?? 0
  t.ok(taken < 4 * 1024 * 1024, `only what was asked for is read: ${taken} bytes`)
  await reader?.cancel()
  await waitUntil('the clip is closed', () => !isOpen())
  t.notOk(isOpen())
})

t.test('two packages are made at a time, and a third is told when to come again', python, async (t) => {
  const { gateway } = await fallenPallet(t, {}, { clip: Buffer.alloc(32 * 1024 * 1024, 7) })
  const ask = () => gateway.api.request(path, { headers: signedIn(people.sven) })
  const readers = [await ask(), await ask()].map(({ status, body }) => {
    t.equal(status, 200)
    return body?.getReader()
  })
  const refused = await ask()
  t.match([refused.status, refused.headers.get('retry-after')], [503, '30'])
  t.match(await refused.json(), { error: { code: 'PACKAGES_WAITING' } })
  await readers[0]?.cancel()
  let third = await ask()
  await waitUntil('a place is free', async () => {
    if (third.status === 503) third = await ask()
    return third.status === 200
  })
  await Promise.all([third.body?.cancel(), readers[1]?.cancel()])
  const isFree = async () =>
    (await gateway.api.request(path, { method: 'HEAD', headers: signedIn(people.sven) })).status
  await waitUntil('the places are free', async () => (await isFree()) === 200)
  t.equal((await unpacked(t, gateway)).manifest.incident, 1, 'all places are given back')
})

t.test('films that do not fit into a package are named, and what the incident names comes first', python, async (t) => {
  const { gateway } = await fallenPallet(t)
  let detectionId = 1
  const events: string[] = []
  for (let round = 0; round < 27; round += 1) {
    gateway.clock.advance(600_000)
    const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
    events.push(`event:${(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })).body.id}`)
    for (let n = 0; n < 20; n += 1) await recordClip(gateway, Buffer.from('a clip'), ++detectionId)
  }
  const evidenceReferences = [...events, 'detection_event:541']
  const incident = { severity: 'low', category: 'theft', evidenceReferences }
  t.equal((await gateway.ask('POST', '/api/governance/incidents', { by: people.sven, body: incident })).status, 201)
  const { names, manifest } = await unpacked(t, gateway, people.sven, path.replace('/1/', '/2/'))
  const clips = names.filter((name) => name.endsWith('clip.mp4'))
  const left = manifest.missing.filter(({ why }: { why: string }) => why.startsWith('left out'))
  t.equal(clips.length, 500)
  t.ok(clips.includes('detections/541/clip.mp4'), 'the incident names it')
  const films = new Set([
    ...clips.map((name) => name.split('/')[1]),
    ...left.map(({ path }: { path: string }) => path.split('/')[1]),
  ])
  t.equal(films.size, 500 + left.length)
  t.equal(left.length, 40)
  t.match(left[0], { why: /at most 500 detections/ })
})

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
