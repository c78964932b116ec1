import { globSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import t from 'tap'

const pages = new URL('../../src/console/page/', import.meta.url)

// A page in another language has loaded all its files anew: here each language's files have their own address.
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const wanted = context.parentURL === undefined ? null : new URL(context.parentURL).searchParams.get('in')
    return wanted && found.url.startsWith(pages.href) ? { ...found, url: `${found.url}?in=${wanted}` } : found
  },
})

type Texts = { readonly [name: string]: unknown }
const files = globSync('**/{*-texts,texts}.ts', { cwd: pages })

/** Loads all texts as a page does on a device that chose the language. */
async function textsIn(language: string): Promise<Texts> {
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value: { getItem: () => language } })
  const loaded = await Promise.all(
    files.map(async (file) => [file, await import(`${pathToFileURL(`${pages.pathname}${file}`).href}?in=${language}`)]),
  )
  return Object.fromEntries(loaded)
}

/** Names of products and standards, signs, and what both languages write alike. */
const alike = new Set(
  'Admin Clip Code Export Filter Format Gateway GTIN Import Info Log Name Online Offline Person PIN Position Region Sensor SSCC Start Status Test Text Uploads Version Webhooks Zone'.split(
    ' ',
  ),
)
const isAlike = (text: string) =>
  alike.has(text) || !/[a-z]{2}/i.test(text.replaceAll(/\b(s|ms|min|kg|cm|h|GiB)\b/g, ''))

/** Lists each text of both languages under its path; a function is called with the same values in both. */
function* pairs(path: string, one: unknown, other: unknown): Generator<readonly [string, unknown, unknown]> {
  yield [path, one, other]
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return
  // Names that the gateway gives: English shows them as they are.
  if (Object.keys(one).length === 0) return
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    yield* pairs(`${path}.${name}`, (one as Texts)[name], (other as Texts)[name])
}

type Sentence = (...values: readonly unknown[]) => unknown

/** Says a sentence in both languages with the same values: numbers, or signs where it takes text; else nothing. */
function samples(one: Sentence, other: Sentence): readonly [unknown, unknown] {
  for (const value of [7, '#']) {
    const values = Array.from({ length: one.length }, () => value)
    try {
      return [one(...values), other(...values)]
    } catch {
      // It takes other values.
    }
  }
  return [undefined, undefined]
}

t.test('every text of the console is in German, with the same names and values', async (t) => {
  const [english, german] = [await textsIn('en'), await textsIn('de')]
  let compared = 0
  for (const [path, one, other] of pairs('', english, german)) {
    if (typeof one !== typeof other) t.fail(`${path} is a ${typeof one} in English, a ${typeof other} in German`)
    if (typeof one === 'function' && one.length !== (other as Sentence).length) t.fail(`${path} takes other values`)
    const [said, saidOther] = typeof one === 'function' ? samples(one as Sentence, other as Sentence) : [one, other]
    if (typeof said !== 'string') continue
    compared += 1
    if (said === saidOther && !isAlike(said)) t.fail(`${path} is English in German: ${said}`)
    if (said.trim() === '' || String(saidOther).trim() === '') t.fail(`${path} is empty`)
  }
  t.ok(compared > 300, `${compared} texts were compared`)
})

t.test('a sentence counts rightly: none, one, two and many', async (t) => {
  const loaded = await textsIn('de')
  const { countOf, numberWords } = await import(`${pages.href}i18n/counting.ts?in=de`)
  t.same(
    [0, 1, 2, 1000, 12_345].map((n) => countOf(n, 'Palette', 'Paletten')),
    ['0 Paletten', '1 Palette', '2 Paletten', '1000 Paletten', '12.345 Paletten'],
  )
  t.equal(numberWords(1840.5), '1840,5')
  const { todoTexts } = loaded['i18n/todo-texts.ts'] as { todoTexts: { count: Sentence; unverified: Sentence } }
  t.same([0, 1, 2].map(todoTexts.count), ['Keine Aufgabe ist offen.', '1 offene Aufgabe.', '2 offene Aufgaben.'])
  t.same(
    [0, 1, 2].map((n) => todoTexts.unverified(n)),
    [
      '0 Einlagerungen sind noch nicht geprüft',
      '1 Einlagerung ist noch nicht geprüft',
      '2 Einlagerungen sind noch nicht geprüft',
    ],
  )
  const { floorTexts } = loaded['floor/floor-texts.ts'] as { floorTexts: { page: Sentence } }
  t.match(
    [0, 1, 2].map((n) => String(floorTexts.page(1, 1, n))),
    [/0 Stellplätze$/, /1 Stellplatz$/, /2 Stellplätze$/],
  )
})

t.test('times are in the language of the page and in the zone of the hall', async (t) => {
  await textsIn('de')
  const { exactTime } = await import(`${pages.href}i18n/words.ts?in=de`)
  t.equal(exactTime('2026-11-22T15:00:00Z', 'Europe/Berlin'), '22. Nov. 2026, 16:00:00')
  t.equal(exactTime('2026-07-04T23:30:00Z', 'America/New_York'), '4. Juli 2026, 19:30:00')
})
