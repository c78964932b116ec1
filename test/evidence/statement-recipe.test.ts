import t from 'tap'
import { newSigner } from '../support/evidence/forge.ts'
import { runRecipe, statementFile, withRecipe } from '../support/evidence/recipe.ts'
import { furnish, heldPhoto, people, testGateway } from '../support/gateway.ts'

const by = people.vera

/** A hall whose slot A was touched once, and a statement about the 100 s after that and about the 100 s with it. */
async function statements() {
  const gateway = await testGateway()
  await furnish(gateway, ['A'])
  const startMs = gateway.clock.now()
  const at = (seconds: number) => new Date(startMs + seconds * 1000).toISOString()
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url: await heldPhoto(gateway) }
  await gateway.ask('POST', '/api/whms/events', { by: people.sven, body })
  gateway.clock.advance(200_000)
  const about = async (from: number, to: number) =>
    (await gateway.ask('GET', `/api/whms/slots/A/untouched?from=${at(from)}&to=${at(to)}&format=note`, { by })).text
  const [quiet, touched] = [await about(50, 150), await about(0, 100)]
  const { logKey } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  gateway.end()
  return { quiet, touched, logKey, at }
}

const check = (file: string, key?: string) => runRecipe({ script: statementFile, file, env: key ? { KEY: key } : {} })

t.test(
  'a stranger checks a statement about a slot with openssl and jq, and reads what it says',
  withRecipe,
  async (t) => {
    const { quiet, touched, logKey, at } = await statements()
    const trusted = await check(quiet, logKey)
    t.equal(trusted.status, 0, trusted.output)
    t.match(trusted.output, /^signature +holds: Ed25519 of gatehouse\/test-site\//m)
    t.match(trusted.output, /^checkpoint +holds$/m)
    t.match(trusted.output, `slot "A" from ${at(50)} to ${at(150)}: untouched`)
    t.notMatch(trusted.output, 'inside this file')
    t.match(await check(touched, logKey), { status: 0, output: /: 1 events/ })
    const own = await check(quiet)
    t.match(own, {
      status: 0,
      output: /signed by the key inside this file; compare it with the one you know: gatehouse/,
    })
  },
)

t.test('every kind of forged statement fails with a reason', withRecipe, async (t) => {
  const { quiet, touched, logKey } = await statements()
  const name = logKey.slice(0, logKey.indexOf('+'))
  const stranger = newSigner(name, 1)
  const [text = '', signature = ''] = quiet.split('\n\n')
  const resigned = (json: (said: Record<string, never>) => unknown) => {
    const [first = '', body = ''] = text.split('\n')
    const lines = `${first}\n${JSON.stringify(json(JSON.parse(body)))}\n`
    return `${lines}\n${stranger.line(lines, 0n)}`
  }
  const head = (note: string) => JSON.parse(note.split('\n')[1] ?? '').checkpoint.note as string
  const forged: Record<string, [string, string | undefined, RegExp]> = {
    'touched is called untouched': [
      touched.replace('"untouched":false', '"untouched":true'),
      logKey,
      /signature +FAILS because it does not verify/,
    ],
    'another slot': [quiet.replace('"slot_id":"A"', '"slot_id":"B"'), undefined, /does not verify/],
    'another time': [
      quiet.replace(/"to":"2026-03-02T08:02:30/, '"to":"2026-03-02T09:02:30'),
      logKey,
      /does not verify/,
    ],
    'signed by a stranger, whose key is not known': [
      resigned((said) => ({ ...said, key: stranger.vkey })),
      logKey,
      /no key of .* that is known here signed it/,
    ],
    'signed by a stranger, who names the own key': [
      resigned((said) => ({ ...said, key: stranger.vkey })),
      undefined,
      /checkpoint +FAILS because this key did not sign/,
    ],
    'the checkpoint of another size': [
      quiet.replace(/"size":1/, '"size":2'),
      logKey,
      /its checkpoint is of another log, size or root/,
    ],
    'a key of another log': [quiet, newSigner('gatehouse/test-site/other', 1).vkey, /no key of .* is known here/],
    'a checkpoint instead of a statement': [head(quiet), logKey, /FAILS because/],
    'a signature that is cut': [`${text}\n\n${signature.slice(0, -20)}\n`, logKey, /FAILS because/],
    'two texts': [`${quiet}${quiet}`, logKey, /it is not a signed note/],
    nothing: ['', logKey, /FAILS because/],
  }
  for (const [what, [file, key, words]] of Object.entries(forged)) {
    const { status, output } = await check(file, key)
    t.match([status, output], [1, words], what)
  }
})
