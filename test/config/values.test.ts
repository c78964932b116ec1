import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { parse, stringify } from 'yaml'
import {
  checkConfig,
  configExample,
  formatDuration,
  formatSize,
  isLoopback,
  parseDuration,
  parseSize,
} from '../../src/config/index.ts'
import { areWithin, KnownNames, nearestNames, slipsBetween } from '../../src/errors/nearest.ts'

t.test('durations are read with their unit and written in the largest that keeps them whole', async (t) => {
  const read = ['0s', '500ms', '30s', '5m', '12h', '7d', '90s', '036m'].map(parseDuration)
  t.strictSame(read, [0, 500, 30_000, 300_000, 43_200_000, 604_800_000, 90_000, 2_160_000])
  t.strictSame([0, 1, 1500, 90_000, 86_400_000].map(formatDuration), ['0s', '1ms', '1500ms', '90s', '1d'])
  for (const text of [
    '',
    '5',
    '0',
    's',
    '-1s',
    '1.5h',
    '5 m',
    '5M',
    '5min',
    ' 5m',
    '5m\n',
    '1w',
    '1e3s',
    `${'9'.repeat(30)}s`,
  ]) {
    t.equal(parseDuration(text), undefined, JSON.stringify(text))
  }
  fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms))
})

t.test('a duration that is written as gatehouse writes it comes back as it was', async () => {
  const written = fc.maxSafeNat().map(formatDuration)
  fc.assert(fc.property(written, (text) => formatDuration(parseDuration(text) ?? Number.NaN) === text))
})

t.test('sizes are read with their unit and written in the largest that keeps them whole', async (t) => {
  t.strictSame(['0B', '5B', '1KiB', '256MiB', '2GiB'].map(parseSize), [0, 5, 1024, 268_435_456, 2_147_483_648])
  t.strictSame([0, 1500, 1024, 268_435_456].map(formatSize), ['0B', '1500B', '1KiB', '256MiB'])
  for (const text of ['5', '1KB', '1kib', '1.5GiB', '-1B', '1 GiB', '1TiB', `${'9'.repeat(20)}B`]) {
    t.equal(parseSize(text), undefined, text)
  }
  fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(formatSize(bytes)) === bytes))
})

t.test('the nearest name is the one with the fewest slips, and far ones are none', async (t) => {
  t.strictSame(nearestNames('timeuot', ['timeout', 'probe']), ['timeout'])
  t.strictSame(nearestNames('cert_file', ['certFile', 'keyFile', 'caFile']), ['certFile'])
  t.strictSame(nearestNames('hort', ['host', 'port', 'tls']), ['host', 'port'])
  t.strictSame(nearestNames('banana', ['host', 'port']), [])
  t.strictSame(nearestNames('x'.repeat(101), ['x'.repeat(100)]), [])
  const word = fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', 'c') })
  fc.assert(
    fc.property(word, word, (a, b) => {
      const slips = slipsBetween(a, b)
      const longer = Math.max(a.length, b.length)
      return slips === slipsBetween(b, a) && (slips === 0) === (a === b) && slips <= longer
    }),
  )
})

t.test(
  'a name is misspelt when at most two letters and a third of its length are wrong; case and underscores never count',
  (t) => {
    const known = new KnownNames([
      'slot_id',
      'slot_code',
      'at',
      'by',
      'from',
      'limit',
      'offset',
      'action',
      'evidenceReferences',
    ])
    for (const [written, names] of [
      ['slotId', ['slot_id']],
      ['SLOT-ID', ['slot_id']],
      ['slot_ids', ['slot_id']],
      ['evidence_references', ['evidenceReferences']],
      ['evidenceReference', ['evidenceReferences']],
      ['evidenceRefernecs', ['evidenceReferences']],
      ['evidenceRefrncs', []],
      ['form', ['from']],
      ['frm', ['from']],
      ['foo', []],
      ['actoin', ['action']],
      ['atcoin', ['action']],
      ['acton', ['action']],
      ['actor', []],
      ['AT', ['at']],
      ['ay', []],
      ['limit', []],
      ['', []],
      ['_', []],
      ['constructor', []],
    ] as const)
      t.strictSame(known.misspeltBy(written), names, written)
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 9 })
    fc.assert(
      fc.property(letters, letters, fc.integer({ min: 0, max: 3 }), (a, b, slips) => {
        return areWithin(a, b, slips) === slipsBetween(a, b) <= slips
      }),
      { numRuns: 2000 },
    )
    fc.assert(
      fc.property(letters, letters, (written, name) => {
        const allowed = Math.min(2, Math.floor(written.length / 3))
        const isMisspelt = written !== name && slipsBetween(written, name) <= allowed
        return new KnownNames([name]).misspeltBy(written).length === (isMisspelt ? 1 : 0)
      }),
      { numRuns: 2000 },
    )
    t.end()
  },
)

t.test('only addresses of this machine count as loopback', async (t) => {
  for (const host of ['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    t.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example', 'box7', 'mylocalhost'])
    t.notOk(isLoopback(host), host)
})

type Values = { [key: string]: unknown }

/** Every key of the schema, with a value that fits. */
const complete = parse(configExample().replaceAll(/^( *)#(?! )/gm, '$1')) as Values

/** The way to every key with a fixed name; the names in these maps are free. */
const freeNames = [
  ...['auth.groupRoles', 'auth.secondFactor', 'auth.oidc.groupRoles', 'rateLimit.users', 'rateLimit.roles'],
  ...['alerts.channels.http.headers', 'alerts.channels.http.headerFiles', 'cameras.analytics.rules'],
]
function waysToKeys(value: unknown, way: string[] = []): string[][] {
  if (
    typeof value !== 'object' ||
    value === null ||
    freeNames.includes(way.filter((name) => !/^\d+$/.test(name)).join('.'))
  )
    return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...way, key]
    return [...(Array.isArray(value) ? [] : [here]), ...waysToKeys(inner, here)]
  })
}

/** The same letters with one slip of the keyboard. */
const slip = (name: string) =>
  fc
    .tuple(fc.nat(name.length - 1), fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz_'), fc.nat(3))
    .map(([at, letter, how]) => {
      const [before, here, after] = [name.slice(0, at), name.charAt(at), name.slice(at + 1)]
      if (how === 0) return before + after
      if (how === 1) return before + letter + after
      if (how === 2) return before + letter + here + after
      return before + after.charAt(0) + here + after.slice(1)
    })

t.test('one misspelt key anywhere is refused where it stands, and the right name is suggested', async (t) => {
  const file = join(t.testdir({}), 'gatehouse.yaml')
  const ways = waysToKeys(complete)
  t.ok(ways.length > 80)
  const mistake = fc.constantFrom(...ways).chain((way) => slip(way.at(-1) ?? '').map((written) => ({ way, written })))
  fc.assert(
    fc.property(mistake, ({ way, written }) => {
      const broken = structuredClone(complete)
      const parent = way.slice(0, -1).reduce((inner, key) => inner[key] as Values, broken)
      const name = way.at(-1) ?? ''
      fc.pre(written !== '' && !(written in parent))
      const entries = Object.entries(parent).map(([key, value]) => [key === name ? written : key, value] as const)
      for (const key of Object.keys(parent)) delete parent[key]
      Object.assign(parent, Object.fromEntries(entries))
      writeFileSync(file, stringify(broken))
      const unknown = checkConfig(file, { env: {} }).problems.find(({ message }) => message.startsWith('unknown key'))
      const suggested = unknown?.message.match(/did you mean (.*)\?$/)?.[1]?.split(' or ') ?? []
      return unknown !== undefined && unknown.place.line > 0 && suggested.includes(name)
    }),
    { numRuns: 300 },
  )
})

/** The way to every text, also in lists. */
function waysToTexts(value: unknown, way: (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'string') return [way]
  if (typeof value !== 'object' || value === null) return []
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, inner]) => waysToTexts(inner, [...way, key]))
}

t.test(
  'a text without quotes that YAML reads as a number or as true is refused where it stands, at every key',
  async (t) => {
    const file = join(t.testdir({}), 'gatehouse.yaml')
    const ways = waysToTexts(complete)
    t.ok(ways.length > 50, `${ways.length} texts`)
    for (const way of ways) {
      for (const written of ['0815', '0x1f', '1e3', '1234', '.5', 'true']) {
        // `auto`, true or false.
        if (way.join('.') === 'backup.file.media' && written === 'true') continue
        const config = structuredClone(complete)
        const parent = way.slice(0, -1).reduce((inner, key) => inner[key] as Values, config)
        parent[way.at(-1) ?? ''] = 'HERE'
        const lines = stringify(config).replace('HERE', written).split('\n')
        writeFileSync(file, lines.join('\n'))
        const { problems } = checkConfig(file, { env: {} })
        const isFound = problems.some(({ place: { line, column } }) => {
          return (lines[line - 1] ?? '').slice(column - 1).startsWith(written)
        })
        if (!isFound)
          t.fail(`${way.join('.')}: ${written}`, { found: problems.map(({ place, message }) => ({ place, message })) })
      }
    }
    const named = (text: string) => {
      writeFileSync(file, `site: { id: ${text} }\n`)
      return checkConfig(file, { env: {} }).problems.map(({ message }) => message.replace(/^.*, not /, ''))
    }
    t.strictSame(named('1e3'), ['the number 1000; write "1e3" in quotes'])
    t.strictSame(named('1234'), ['the number 1234; write "1234" in quotes'])
    t.strictSame(named('true'), ['the truth value true; write "true" in quotes'])
    t.strictSame(named('no'), [], 'which YAML 1.2 reads as the text')
  },
)
