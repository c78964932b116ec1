import t from 'tap'
import { type BundleTrust, type Crypto, checkBundle, hashedBytes } from '../../src/proof/index.ts'
import { forgeries, goodBundle } from '../support/evidence/forge.ts'
import { sha256 } from '../support/evidence/merkle.ts'

const good = goodBundle()
const text = JSON.stringify(good.bundle)

/** WebCrypto of a browser: it knows neither ML-DSA nor the format of its keys. */
const browser: Crypto = {
  digest: crypto.subtle.digest.bind(crypto.subtle),
  verify: crypto.subtle.verify.bind(crypto.subtle),
  importKey: async (format, key, algorithm, extractable, uses) => {
    if (format !== 'raw') throw new TypeError(`The provided value '${format}' is not a valid enum value`)
    return crypto.subtle.importKey(format, key, algorithm, extractable, uses)
  },
}

/** Files by their hash, as the page fetches them: a replaced file comes under the hash that it had. */
const filesOf = (media: Readonly<Record<string, Buffer>>): BundleTrust['file'] => {
  return async ({ name }) => {
    const bytes = media[name]
    return bytes && hashedBytes(crypto.subtle, Uint8Array.from(bytes))
  }
}

const check = (file: string, keys: readonly string[] = [], media = good.media) =>
  checkBundle(browser, file, { keys, file: filesOf(media) })

t.test('the page finds that each step of a good bundle holds, and says what it leaves unchecked', async (t) => {
  const { findings, ok, keyIsFromBundle } = await check(text, good.keys)
  t.same([ok, keyIsFromBundle], [true, false])
  t.strictSame(
    findings.map(({ step, state }) => `${step} ${state}`),
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
  t.match(findings.find(({ step }) => step === 'signature')?.words, /^Ed25519\. ML-DSA-44: not checked here$/)
  t.match(
    findings.find(({ step }) => step === 'cosignatures')?.words,
    'witness.example/w1 at 2026-03-02T08:05:00.000Z, hub.example/w2: not checked here',
  )
  t.equal((await check(text)).keyIsFromBundle, true, 'a key inside the file alone is named as such')
  const [leaf] = good.log.leaves.slice(41, 42)
  const hash = sha256(Buffer.of(0), leaf ?? Buffer.alloc(0)).toString('hex')
  t.equal(findings.find(({ step }) => step === 'hash')?.words, hash, 'the hash of RFC 6962')
})

t.test('the page finds every kind of forged bundle but those that only ML-DSA shows', async (t) => {
  const forged = forgeries(good)
  t.ok(forged.length > 70, `${forged.length} forgeries`)
  for (const { name, step, file, keys, media, needsMlDsa } of forged) {
    const { ok, findings } = await check(file.toString('utf8'), keys, media)
    const failed = findings.find(({ state }) => state === 'fails')
    if (needsMlDsa) {
      const line = findings.find((one) => one.step === step)
      t.match(line, { words: /not checked here/ }, `${name}: ${line?.words}`)
      continue
    }
    t.strictSame([ok, failed?.step], [false, step], `${name}: ${failed?.words}`)
    t.match(failed?.words, /^[a-z"'A-Z].{10,}/s, name)
  }
})

t.test('trees of every size up to nine prove each of their leaves, and no other', async (t) => {
  for (let size = 1; size <= 9; size++)
    for (let index = 0; index < size; index++) {
      const { bundle, keys } = goodBundle({ size, index })
      const { ok, findings } = await check(JSON.stringify(bundle), keys)
      t.ok(ok, `leaf ${index + 1} of ${size}: ${JSON.stringify(findings.at(-1))}`)
    }
})

t.test('a browser without Ed25519 says that the signature is not checked, and never that it holds', async (t) => {
  const old = {
    digest: crypto.subtle.digest.bind(crypto.subtle),
    verify: crypto.subtle.verify.bind(crypto.subtle),
    importKey: () => Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError')),
  }
  const { findings } = await checkBundle(old, text, { keys: good.keys, file: filesOf(good.media) })
  t.match(
    findings.find(({ step }) => step === 'signature'),
    { state: 'not checked', words: 'this browser cannot verify Ed25519, ML-DSA-44' },
  )
  t.match(
    findings.find(({ step }) => step === 'cosignatures'),
    { state: 'not checked' },
  )
})
