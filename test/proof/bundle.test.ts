import { createHash } from 'node:crypto'
import t from 'tap'
import { checkBundle } from '../../src/proof/index.ts'
import { forgeries, goodBundle } from '../support/evidence/forge.ts'

const good = goodBundle()
const text = JSON.stringify(good.bundle)

const beside =
  (media: Readonly<Record<string, Buffer>>) =>
  ({ name }: { name: string }) => {
    const bytes = media[name]
    return bytes && { sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length }
  }

const check = (file: string, keys: readonly string[] = [], media = good.media) =>
  checkBundle(crypto.subtle, file, { keys, file: beside(media) })

t.test('each step of a good bundle holds, and nobody has to believe the key inside', async (t) => {
  const verdict = await check(text, good.keys)
  t.match(verdict, { ok: true, keyIsFromBundle: false, vkey: good.keys[0] })
  t.strictSame(
    verdict.findings.map(({ step, state }) => `${step} ${state}`),
    [
      'leaf holds',
      'hash holds',
      'path holds',
      'root holds',
      'signature holds',
      'cosignatures holds',
      'anchors not claimed',
      'openings holds',
      'media holds',
    ],
  )
  t.match(await check(text), { ok: true, keyIsFromBundle: true })
  const alone = await check(text, good.keys, {})
  t.match(
    alone.findings.find(({ step }) => step === 'media'),
    { state: 'not checked', words: 'not there: photo.jpg' },
  )
})

t.test('every kind of forged bundle fails at the step that it forges, in words', async (t) => {
  const forged = forgeries(good)
  t.ok(forged.length > 70, `${forged.length} forgeries`)
  for (const { name, step, file, keys, media } of forged) {
    const verdict = await check(file.toString('utf8'), keys, media)
    const failed = verdict.findings.find(({ state }) => state === 'fails')
    t.strictSame([verdict.ok, failed?.step], [false, step], `${name}: ${failed?.words}`)
    t.match(failed?.words, /^[a-z"'A-Z].{10,}/s, `${name}: ${failed?.words}`)
  }
})

t.test('bundles that are cut, huge, nested or no bundle at all end in a finding', async (t) => {
  for (const file of [
    '',
    'null',
    '[]',
    '{}',
    '"text"',
    text.slice(0, -10),
    `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
    `{"format":"gatehouse-proof/1","leaf":"${'A'.repeat(5_000_000)}"}`,
    JSON.stringify({ ...good.bundle, keys: Array(100_000).fill(good.keys[0]) }),
    JSON.stringify({ ...good.bundle, openings: 7 }),
    JSON.stringify({ ...good.bundle, anchors: [null] }),
  ]) {
    const { ok, findings } = await check(file)
    t.equal(ok, false, file.slice(0, 40))
    t.equal(findings.at(-1)?.state, 'fails')
  }
})
