import { readFileSync } from 'node:fs'
import t from 'tap'
import { inGerman } from '../../src/console/page/proof/proof-words.ts'

const source = (name: string) => readFileSync(new URL(`../../src/${name}`, import.meta.url), 'utf8')
const page = (name: string) => source(`console/page/proof/${name}`)

/** Every sentence that a source file hands out by one of these, with 7 for each value. */
function sentencesOf(source: string, handedOut: RegExp): string[] {
  return [...source.matchAll(handedOut)].map(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}+/g, '7'))
}

t.test('every reason why a proof or a receipt fails is there in German', (t) => {
  const room = ['reading', 'bundle']
    .map((name) => source(`proof/${name}.ts`))
    .join('')
    .replaceAll(/\$\{bundleFormat\}/g, 'gatehouse-proof/1')
    .replaceAll(/\$\{tlogProofFirstLine\}/g, 'c2sp.org/tlog-proof@v1')
  const faults = sentencesOf(room, /BadStep\(\s*(?:'\w+'|step),\s*(['`])(.+?)\1\)/g)
  const handOvers = sentencesOf(source('proof/hand-overs.ts'), /fails\(\s*(['`])(.+?)\1\)/g)
  const alarms = sentencesOf(page('checkpoint-keeper.ts'), /(?:alarm\(|words: )\s*(['`])(.+?)\1/g)
  const receipts = sentencesOf(page('receipt-check.ts'), /(?:faults|uncompared)\.push\((['`])(.+?)\1\)/g)
  t.ok(
    faults.length >= 30 && alarms.length >= 5 && receipts.length >= 6 && handOvers.length >= 4,
    'the sentences were found',
  )
  const named = ['The carrier that is shown is not the one of the proofs.', 'the vehicle', 'SSCC']
  const composed = receipts.flatMap((one) => (/^[Tt]he 7\b/.test(one) ? named.slice(0, 2) : [one]))
  for (const found of [...faults, ...handOvers, ...alarms, ...composed]) {
    const filled = found
      .replace('fails: 7', 'fails: it is not JSON')
      .replace('of the log. 7', 'of the log. The checkpoint is not signed by the key of the log.')
    const words = inGerman(filled)
    t.ok(words !== undefined && words !== filled, filled)
    t.notMatch(words, /\$\d/, 'every value has its place')
  }
  t.equal(
    inGerman('The proof of entry 12 fails: the Ed25519 signature of gatehouse/a/b does not verify.'),
    'Der Beweis von Eintrag 12 stimmt nicht: die Signatur von gatehouse/a/b (Ed25519) stimmt nicht.',
  )
  t.equal(inGerman('photo.jpg has 12 bytes, not 13'), 'photo.jpg hat 12 Bytes, nicht 13')
  t.equal(inGerman('something that nobody translated'), undefined)
  t.end()
})
