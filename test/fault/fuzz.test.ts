import t from 'tap'
import { seedOfCommit } from '../../scripts/soak/power.ts'
import { fuzz } from '../support/fuzz.ts'
import { fuzzedParsers } from '../support/fuzzed-parsers.ts'
import { hostileRequests } from '../support/hostile-requests.ts'

const seed = seedOfCommit()

for (const parser of fuzzedParsers) {
  t.test(`changed input for ${parser.name} ends as documented`, async (t) => {
    for (const good of parser.corpus) await t.resolves(Promise.resolve(parser.parse(good)), 'the corpus is good')
    t.strictSame(await fuzz(parser, 500, seed), [], `seed ${seed}`)
  })
}

t.test('hostile requests get no 500', async (t) => {
  const { faults, statuses } = await hostileRequests(1000, seed)
  t.strictSame(faults, [])
  t.ok((statuses['400'] ?? 0) > 100, `answers by status: ${JSON.stringify(statuses)}`)
  t.ok((statuses['200'] ?? 0) + (statuses['201'] ?? 0) > 20, 'some pass')
})

t.test('a parser that fails on a changed byte is found', async (t) => {
  const broken = { name: 'broken', corpus: [Buffer.from('[1,2,3]')], parse: (bytes: Buffer) => JSON.parse(`${bytes}`) }
  t.match(await fuzz(broken, 500, seed), [{ error: /SyntaxError/ }])
})
