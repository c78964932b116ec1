import t, { type Test } from 'tap'
import { type Step, verifyBundle } from '../support/evidence/bundle.ts'
import {
  checkpointText,
  type Forgery,
  forgeries,
  type GoodBundle,
  goodBundle,
  makeBundle,
  testLog,
} from '../support/evidence/forge.ts'
import { runRecipe, withRecipe } from '../support/evidence/recipe.ts'
import { stampAuthority } from '../support/evidence/stamps.ts'

const json = (value: unknown) => JSON.stringify(value, null, 2)

/** The steps that the recipe says hold, in its order. */
const held = (output: string) => [...output.matchAll(/^(\w+) +holds/gm)].map(([, step]) => step)
const failed = (output: string) => output.match(/^(\w+) +FAILS because ./m)?.[1]

t.test('a stranger checks a good bundle with five programs and finds that every step holds', withRecipe, async (t) => {
  const { bundle, media, keys } = goodBundle()
  const { status, output } = await runRecipe({ file: json(bundle), media, env: { KEY: keys.join(' ') } })
  t.equal(status, 0, output)
  const all = ['leaf', 'hash', 'path', 'root', 'signature', 'cosignatures', 'openings', 'media']
  t.strictSame(held(output), all)
  t.match(output, /^anchors +not claimed$/m)
  t.notMatch(output, /inside this file|FAILS/)
  const untrusted = await runRecipe({ file: json(bundle), media, folder: 'photos and clips' })
  t.equal(untrusted.status, 0, untrusted.output)
  t.ok(untrusted.output.includes(`compare it with the one you know: ${keys[0]}`), 'says whose word it took')
  t.notOk(
    untrusted.output.includes(`${keys[1]}`) && /ML-DSA needs/.test(untrusted.output),
    'and nothing of an unchecked key',
  )
  const bare = await runRecipe({ file: json(bundle) })
  const everyKey = [...keys, ...bundle.keys.slice(2)].join(' ')
  const known = await runRecipe({ file: json(bundle), media, env: { KEY: everyKey } })
  t.match(known, { status: 0, output: /^cosignatures +holds: witness\.example\/w1 at 2026-03-02T08:05:00Z$/m })
  t.match(bare, { status: 0, output: /^media +not checked, not in .*: photo\.jpg$/m })
})

// Sizes around powers of two and tiles, and the tree of 70,000 that tlog-tiles describes, at its edges.
const places: [number, number[]][] = [
  [1, [0]],
  [2, [0, 1]],
  [3, [1, 2]],
  [7, [0, 6]],
  [8, [4, 7]],
  [257, [0, 255, 256]],
  [70_000, [0, 65_536, 69_888, 69_999]],
]
t.test('the recipe finds its way to the root from the edges of small and large logs', withRecipe, async (t) => {
  for (const [size, indexes] of places) {
    const log = testLog({ size })
    for (const index of indexes) {
      const bundle = makeBundle({ log, index })
      const { status, output } = await runRecipe({ file: json(bundle), env: { KEY: log.signers[0].vkey } })
      t.equal(status, 0, `leaf ${index} of ${size}: ${output}`)
      t.strictSame(held(output), ['leaf', 'hash', 'path', 'root', 'signature'])
      t.ok(verifyBundle(bundle).ok)
    }
  }
})

t.test(
  'the largest leaf that a log can hold goes through the recipe, and the next larger one does not',
  withRecipe,
  async (t) => {
    const sized = (bytes: number) => {
      const bare = testLog({ size: 3, facts: { 1: { assetBarcode: '' } } }).leaves[1]?.length ?? 0
      return testLog({ size: 3, facts: { 1: { assetBarcode: 'P'.repeat(bytes - bare) } } })
    }
    for (const [bytes, status] of [
      [65_535, 0],
      [65_536, 1],
    ] as const) {
      const bundle = makeBundle({ log: sized(bytes), index: 1 })
      t.equal(Buffer.from(bundle.leaf, 'base64').length, bytes)
      const run = await runRecipe({ file: json(bundle) })
      t.equal(run.status, status, run.output)
      t.equal(verifyBundle(bundle).ok, status === 0)
    }
  },
)

/** Runs the recipe on forgeries, a few at once, and expects each to be refused at its step. */
async function refuses(t: Test, good: GoodBundle, forged: readonly Forgery[], opensslVersion?: string) {
  t.ok(forged.length > 0, 'there are forgeries')
  const queue = [...forged]
  const work = async () => {
    for (let forgery = queue.shift(); forgery; forgery = queue.shift()) {
      const { file, keys, media = good.media, name, step } = forgery
      const env: Record<string, string> = keys ? { KEY: keys.join(' ') } : {}
      const run = await runRecipe({ file, media, env, ...(opensslVersion === undefined ? {} : { opensslVersion }) })
      t.strictSame([run.status, failed(run.output)], [1, step], `${name}: ${run.output.slice(-300)}`)
    }
  }
  await Promise.all([work(), work(), work()])
}

const titles: Record<Exclude<Step, 'hash'>, string> = {
  leaf: 'the recipe refuses a bundle whose leaf or file is forged',
  path: 'the recipe refuses a bundle whose path is forged',
  root: 'the recipe refuses a bundle whose root or checkpoint is forged',
  signature: 'the recipe refuses a bundle whose signature or key is forged',
  cosignatures: 'the recipe refuses a bundle whose cosignature is forged',
  anchors: 'the recipe refuses a bundle whose time stamp is forged',
  openings: 'the recipe refuses a bundle whose opening is forged',
  media: 'the recipe refuses a bundle whose photo is forged',
}
const good = goodBundle()
const forged = forgeries(good)
for (const [step, title] of Object.entries(titles))
  t.test(title, withRecipe, (t) =>
    refuses(
      t,
      good,
      forged.filter((forgery) => forgery.step === step && !forgery.needsMlDsa),
    ),
  )

t.test('in the smallest logs, too, the recipe refuses forged paths and roots', withRecipe, async (t) => {
  for (const [size, index] of [
    [1, 0],
    [2, 1],
    [3, 2],
  ] as const) {
    const small = goodBundle({ size, index })
    const ofTheTree = forgeries(small).filter(({ name }) => /path|index|root|leaf names another pallet/.test(name))
    await refuses(t, small, ofTheTree)
  }
})

t.test('with OpenSSL 3.5 the recipe checks ML-DSA, and before that it says that it did not', withRecipe, async (t) => {
  const { bundle, media } = good
  const today = await runRecipe({ file: json(bundle), media, opensslVersion: '3.5.0' })
  t.match(today, { status: 0, output: /^signature +holds: Ed25519 ML-DSA-44$/m })
  t.match(
    today.output,
    /^cosignatures +holds: witness\.example\/w1 at .*, hub\.example\/w2 at 2026-03-02T08:05:00Z \(its key is from this file\)$/m,
  )
  t.notMatch(today.output, /not checked/)
  const seen = forged.filter(({ needsMlDsa }) => needsMlDsa)
  await refuses(t, good, seen, '3.6.2')
  for (const { file, name } of seen) {
    const before = await runRecipe({ file, media, opensslVersion: '3.4.9' })
    t.match(before, { status: 0, output: /not checked:.* \(ML-DSA needs OpenSSL 3\.5\)/ }, name)
  }
  t.match(await runRecipe({ file: json(bundle), media, opensslVersion: '1.1.1w' }), {
    status: 1,
    output: /OpenSSL 3\.0/,
  })
})

t.test('time stamps hold under the certificate of their authority, and under no other', withRecipe, async (t) => {
  const [authority, other] = [stampAuthority(t), stampAuthority(t)]
  const { bundle, log, media } = good
  const text = checkpointText(log.origin, log.tree.size, log.tree.root())
  const anchor = (data: string) => ({
    kind: 'rfc3161' as const,
    size: log.tree.size,
    rootHash: log.tree.root().toString('base64'),
    token: authority.stamp(data).toString('base64'),
  })
  const stamped = { ...bundle, anchors: [anchor(text)] }
  const ask = (anchors: unknown, CA?: string) =>
    runRecipe({ file: json({ ...bundle, anchors }), media, env: CA === undefined ? {} : { CA } })
  t.match(await ask(stamped.anchors, authority.file), {
    status: 0,
    output: /^anchors +holds: stamped at 20..-..-..T..:..:..Z$/m,
  })
  t.match(await ask(stamped.anchors), { status: 0, output: /^anchors +not checked: stamped at 20/m })
  t.match(await ask(stamped.anchors, other.file), { status: 1, output: /^anchors +FAILS because .* does not verify$/m })
  t.match(await ask([anchor('else')]), { status: 1, output: /^anchors +FAILS because .* something else$/m })
  const misstated = { ...anchor(text), size: log.tree.size + 1 }
  t.match(await ask([misstated], authority.file), { status: 1, output: /^anchors +FAILS because .* this checkpoint$/m })
  const webhook = { kind: 'webhook', deliveryId: 'd', host: 'erp.example', statusCode: 200, at: '2026-03-02T08:05:00Z' }
  t.match(await ask([webhook]), { status: 0, output: /^anchors +not checked: ask the receivers erp\.example$/m })
  const stampsOf = (stampAuthority: string) =>
    verifyBundle(stamped, { stampAuthority }).steps.find(({ step }) => step === 'anchors')?.state
  t.equal(stampsOf(authority.certificate), 'holds')
  t.equal(stampsOf(other.certificate), 'fails')
})
