import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../../src/cli/run.ts'
import { verifyBundle } from '../support/evidence/bundle.ts'
import { parseVkey } from '../support/evidence/note.ts'
import { runRecipe, withRecipe } from '../support/evidence/recipe.ts'
import { mirrorLog } from '../support/evidence/tiles.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'

const by = people.vera

async function withEvents(t: { teardown(work: () => unknown): void }, count: number): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const photo_url = await heldPhoto(gateway)
  for (let n = 1; n <= count; n += 1) {
    const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: `P-${n}`, photo_url }
    await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  }
  return gateway
}

const keysOf = async (gateway: TestGateway): Promise<string[]> => {
  const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  return [logKey, logKeyPostQuantum]
}

t.test(
  'an event that was just recorded is proved at once, to a stranger who knows only the key',
  withRecipe,
  async (t) => {
    const gateway = await withEvents(t, 3)
    const proof = await gateway.ask('GET', '/api/whms/events/2/proof', { by })
    t.equal(proof.status, 200)
    t.match(proof.headers.get('content-disposition'), /filename="event-2\.proof\.json"/)
    const keys = await keysOf(gateway)
    const verdict = verifyBundle(proof.body, { keys, media: { 'photo.png': tinyPng } })
    t.ok(verdict.ok, JSON.stringify(verdict.steps))
    const holding = verdict.steps.filter(({ state }) => state === 'holds').map(({ step }) => step)
    t.strictSame(holding, ['leaf', 'hash', 'path', 'root', 'signature', 'openings', 'media'])
    const leaf = JSON.parse(Buffer.from(proof.body.leaf, 'base64').toString())
    t.match(leaf, { kind: 'placement', id: 2, assetBarcode: 'P-2', slotCode: 'A', seq: 2 })
    t.match(proof.body.openings, [
      { field: 'operator', text: 'olga@http://127.0.0.1:8480' },
      { field: 'actor', text: 'olga@http://127.0.0.1:8480' },
    ])
    const byShell = await runRecipe({ file: proof.text, media: { 'photo.png': tinyPng }, env: { KEY: keys.join(' ') } })
    t.equal(byShell.status, 0, byShell.output)
  },
)

t.test('the proof alone is a tlog-proof, by format or by Accept', async (t) => {
  const gateway = await withEvents(t, 1)
  const whole = await gateway.ask('GET', '/api/whms/events/1/proof', { by })
  for (const [path, headers] of [
    ['/api/whms/events/1/proof?format=tlog-proof', {}],
    ['/api/whms/events/1/proof', { Accept: 'text/x.tlog.proof' }],
  ] as const) {
    const answer = await gateway.ask('GET', path, { by, headers })
    t.match(answer.headers.get('content-type'), /^text\/x\.tlog\.proof/)
    t.equal(answer.text, whole.body.tlogProof)
    t.match(answer.text, /^c2sp\.org\/tlog-proof@v1\nindex 0\n\ngatehouse\/test-site\//)
  }
})

t.test('proofs ask for at most one checkpoint a second', async (t) => {
  const gateway = await withEvents(t, 1)
  t.equal((await gateway.ask('GET', '/api/whms/events/1/proof', { by })).status, 200)
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  const early = await gateway.ask('GET', '/api/whms/events/2/proof', { by })
  t.match(early, { status: 503, body: { error: { code: 'NOT_READY' } } })
  t.equal(early.headers.get('retry-after'), '1')
  gateway.clock.advance(1000)
  t.equal((await gateway.ask('GET', '/api/whms/events/2/proof', { by })).status, 200)
})

t.test(
  'whoever is told to wait finds the proof a second later, by the usual settings and without asking between',
  async (t) => {
    const gateway = await withEvents(t, 1)
    t.equal(gateway.live.config.evidence.checkpoint.every, 300_000, 'no interval of the config makes it')
    gateway.checkpoints.start()
    t.equal((await gateway.ask('GET', '/api/whms/events/1/proof', { by })).status, 200)
    const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
    const posted = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
    t.equal(posted.status, 201)
    t.equal((await gateway.ask('GET', '/api/whms/events/2/proof', { by })).status, 503)
    const signed = new Promise<number>((resolve) => gateway.checkpoints.onCheckpoint(({ size }) => resolve(size)))
    gateway.clock.advance(1000)
    t.equal(await signed, 2)
    t.equal((await gateway.ask('GET', '/api/whms/events/2/proof', { by })).status, 200)
  },
)

t.test('an event that the caller may not see, or that is not there, has no proof', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['sven'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const photo_url = await heldPhoto(gateway)
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url }
  await gateway.ask('POST', '/api/whms/events', { by: people.sven, body })
  const hidden = await gateway.ask('GET', '/api/whms/events/1/proof', { by })
  const absent = await gateway.ask('GET', '/api/whms/events/99/proof', { by })
  t.equal(hidden.status, 404)
  t.strictSame(
    { ...hidden.body, error: { ...hidden.body.error, requestId: '' } },
    {
      ...absent.body,
      error: { ...absent.body.error, requestId: '' },
    },
  )
  t.equal((await gateway.ask('GET', '/api/whms/events/1/proof', { by: people.sven })).status, 200)
})

t.test('the name of an erased person is in no proof any more, and the proof still holds', async (t) => {
  const gateway = await withEvents(t, 1)
  await gateway.erasePerson({ name: 'olga', texts: false }, 'root')
  const { body, text } = await gateway.ask('GET', '/api/whms/events/1/proof', { by })
  t.strictSame(body.openings, [])
  t.notMatch(text, /olga/)
  t.ok(verifyBundle(body, { keys: await keysOf(gateway) }).ok)
})

t.test('a stranger mirrors the whole log by its tiles, and every leaf leads to the signed root', async (t) => {
  const gateway = await withEvents(t, 300)
  await gateway.checkpoints.make()
  const fetch = async (path: string) => {
    const { status, bytes } = await gateway.ask('GET', `/api/log/${path}`, { by: people.sven })
    return status === 200 ? bytes : undefined
  }
  const keys = (await keysOf(gateway)).map((vkey) => parseVkey(vkey))
  const mirror = await mirrorLog({ fetch, keys })
  t.match(mirror, { size: 300, origin: `gatehouse/test-site/${gateway.logIdentity.logId}` })
  t.equal(JSON.parse(mirror.leaves[299]?.toString() ?? '').assetBarcode, 'P-300')
  t.ok(mirror.fetched.includes('tile/0/000') && mirror.fetched.includes('tile/1/000.p/1'))
})

t.test(
  'at the box: a zip with photo and recipe, which checks itself by the shell and by the command',
  { ...withRecipe, ...needs('python3') },
  async (t) => {
    const gateway = await withEvents(t, 2)
    gateway.close()
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-proof-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const zip = join(folder, 'event-2.zip')
    const config = join(gateway.folder, 'gatehouse.yaml')
    t.equal(await run(['ledger', 'proof', '2', '--media', '--out', zip, '--config', config]), 0)
    t.equal(await run(['ledger', 'verify', zip]), 0, 'the command checks the zip')
    const out = join(folder, 'unpacked')
    mkdirSync(out)
    execFileSync('python3', ['-m', 'zipfile', '-e', zip, out])
    t.equal(execFileSync('sh', ['recipe.sh', 'event-2.proof.json'], { cwd: out }).toString().match(/holds/g)?.length, 7)
    t.match(readFileSync(join(out, 'README.txt'), 'utf8'), readFileSync('src/evidence/recipe.sh', 'utf8'))
    const photo = join(out, 'photo.png')
    writeFileSync(photo, Buffer.concat([readFileSync(photo), Buffer.from('x')]))
    t.equal(await run(['ledger', 'verify', join(out, 'event-2.proof.json')]), 1, 'another photo')
    t.equal(await run(['ledger', 'proof', '--media', '2', '--config', config]), 2, 'a zip is not for the terminal')
    t.equal(await run(['ledger', 'proof', '99', '--config', config]), 1)
  },
)

t.test('a kept checkpoint shows a tail that was cut off together with its rows', async (t) => {
  const gateway = await withEvents(t, 3)
  await gateway.checkpoints.make()
  const { text } = await gateway.ask('GET', '/api/log/checkpoint', { by })
  const kept = join(gateway.folder, 'kept.txt')
  const forged = join(gateway.folder, 'forged.txt')
  writeFileSync(kept, text)
  writeFileSync(forged, text.replace(/^3$/m, '2'))
  gateway.close()
  const config = join(gateway.folder, 'gatehouse.yaml')
  const verify = (...more: string[]) => run(['ledger', 'verify', '--config', config, ...more])
  t.equal(await verify('--checkpoint', kept), 0)
  t.equal(await verify('--checkpoint', forged), 1, 'a forged one')
  t.equal(await verify('--checkpoint', join(gateway.folder, 'gatehouse.yaml')), 1, 'no checkpoint at all')
  const [key = ''] = await import('../../src/evidence/index.ts').then(({ logKeysOf }) =>
    logKeysOf(gateway.live.config.dataDir),
  )
  t.equal(await verify('--checkpoint', kept, '--key', key), 0)
  t.equal(await verify('--checkpoint', kept, '--key', 'nonsense'), 2)
})
