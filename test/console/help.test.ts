import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { alertKinds } from '../../scripts/build/manual/alerts.ts'
import { writtenPages } from '../../scripts/build/manual/pages.ts'
import { render } from '../../scripts/build/manual/render.ts'
import { configSections } from '../../src/config/index.ts'
import { helpTopics } from '../../src/console/help/topics.ts'
import { helpAddress, helpPlaces } from '../../src/console/page/help/help-places.ts'
import { findParts, type SearchedPart } from '../../src/console/page/help/search.ts'
import { anchorOf } from '../../src/console/page/kit/help-anchor.ts'
import { manualParts } from '../../src/doctor/findings/manual-parts.ts'
import { paintFor } from '../../src/doctor/index.ts'
import { reportWords } from '../../src/doctor/report-words.ts'
import { catalogue } from '../../src/errors/index.ts'
import { recipeFile, statementFile } from '../support/evidence/recipe.ts'
import { testGateway } from '../support/gateway.ts'

t.setTimeout(240_000)

async function box(t: Test) {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const get = (path: string, headers: Record<string, string> = {}) => gateway.ask('GET', path, { headers })
  return { get }
}

/** Topics that have a page now. */
const written = writtenPages()
const topics = helpTopics.filter((topic) => written.some((page) => page.topic === topic) || !isWritten(topic))

function isWritten(topic: string): boolean {
  return !['commands', 'config', 'errors', 'alerts'].includes(topic)
}

const parts = (text: string): SearchedPart[] => JSON.parse(text)

t.test('everybody reads the manual without sign-in, under the policy of the console', async (t) => {
  const { get } = await box(t)
  const console = await get('/sign-in', { Accept: 'text/html' })
  const policyOf = (page: typeof console) => page.headers.get('content-security-policy') ?? ''
  const list = await get('/help')
  t.equal(list.status, 200)
  for (const topic of topics) {
    t.match(list.text, `<a href="/help/${topic}">`)
    const page = await get(`/help/${topic}`)
    t.equal(page.status, 200, topic)
    t.match(page.headers.get('content-type'), /^text\/html/)
    t.equal(policyOf(page), policyOf(console).replace('trusted-types own-workers', "trusted-types 'none'"))
    t.notMatch(page.text, /<script(?! type="module" src="\/assets\/help-)|\son\w+=|style=/, 'no inline script or style')
    for (const [, id = ''] of page.text.matchAll(/href="#([^"]+)"/g))
      t.equal(page.text.split(`id="${id}"`).length, 2, `${topic}#${id} is there once`)
    for (const [, path = '', id] of page.text.matchAll(/href="(\/help\/[\w-]+)#([^"]+)"/g))
      t.match((await get(path)).text, `id="${id}"`, `${topic} links to ${path}#${id}`)
  }
  t.match(await get('/help/nothing'), { status: 404 })
  t.match(await get('/help/nothing.json'), { status: 404 })
})

t.test('commands, config keys, error codes and alerts are in the manual, each with its own address', async (t) => {
  const { get } = await box(t)
  const [commands, config, errors, alerts] = await Promise.all(
    ['commands', 'config', 'errors', 'alerts'].map(async (topic) => (await get(`/help/${topic}`)).text),
  )
  for (const path of ['gatehouse backup', 'gatehouse backup key', 'gatehouse manual', 'gatehouse hub enrol'])
    t.match(commands, `id="${anchorOf(path)}"`)
  t.match(commands, '--accept-fork')
  for (const { name, keys } of configSections()) {
    t.match(config, `id="${anchorOf(name)}"`)
    for (const { path } of keys) t.match(config, `<code>${path}</code>`)
  }
  for (const [code, { status }] of Object.entries(catalogue))
    t.match(errors, new RegExp(`id="${anchorOf(code)}"[\\s\\S]*?HTTP ${status}\\.`), code)
  for (const kind of alertKinds()) t.match(alerts, `id="${anchorOf(kind)}"`)
  t.match(alerts, 'id="gatehousedown"', 'an alert of Prometheus')
  t.match(alerts, /id="disklow"[\s\S]*?href="#gatehousedisknearlyfull"/, 'leads to the alert of Prometheus about it')
})

t.test('every link of the console into the manual arrives at a heading, in both languages', async (t) => {
  const { get } = await box(t)
  const alerts = alertKinds().map((kind) => ['alerts', kind] as const)
  const codes = Object.keys(catalogue).map((code) => ['errors', code] as const)
  for (const place of [...Object.values(helpPlaces), ...alerts, ...codes])
    for (const language of ['en', 'de']) {
      const [path = '', anchor = ''] = helpAddress(place, language).split('#')
      const { status, text } = await get(path)
      t.equal(status, 200, path)
      t.ok(text.includes(`id="${anchor}"`), `${path}#${anchor}`)
    }
})

t.test(
  'a finding of doctor leads to a heading that is there, and the envelope to the heading of its code',
  async (t) => {
    const { get } = await box(t)
    for (const topic of Object.keys(manualParts) as (keyof typeof manualParts)[]) {
      const finding = { topic, subject: null, verdict: 'bad', what: 'It is bad.', next: null } as const
      const report = { ok: false, running: false, version: '0.1.0', findings: [finding] }
      const words = reportWords(report, false, paintFor({ isTTY: false }))
      const [, page = '', anchor = ''] = /^More: gatehouse manual ([\w-]+)#([\w-]+)$/m.exec(words) ?? []
      const { status, text } = await get(`/help/${page}`)
      t.equal(status, 200, page)
      t.ok(text.includes(`<h2 id="${anchor}"`), `${topic}: ${page}#${anchor}`)
    }
    for (const code of Object.keys(catalogue)) t.equal(anchorOf(code), code.toLowerCase(), 'as the envelope says')
  },
)

t.test('an auditor gets both scripts from the gateway, as they are tested', async (t) => {
  const { get } = await box(t)
  for (const [name, file] of [
    ['recipe.sh', recipeFile],
    ['statement.sh', statementFile],
  ] as const) {
    const script = await get(`/help/${name}`)
    t.equal(script.status, 200)
    t.match(script.headers.get('content-type'), /^text\/plain/)
    t.equal(script.text, readFileSync(file, 'utf8'))
    t.match((await get('/help')).text, `<a href="/help/${name}">`)
  }
})

t.test('a German reader gets German where a German page exists, and English marked as such elsewhere', async (t) => {
  const { get } = await box(t)
  const german = { 'Accept-Language': 'de-AT,de;q=0.9,en;q=0.8' }
  const list = await get('/help', german)
  t.equal(list.headers.get('content-language'), 'de')
  t.match(list.headers.get('vary'), /Accept-Language/)
  t.match(list.text, /<html lang="de">[\s\S]*<h1>Handbuch<\/h1>/)
  t.match((await get('/help/errors', german)).text, /<article lang="en">\s*<h1>Error codes<\/h1>/)
  for (const { topic, markdown } of written.filter(({ language }) => language === 'de')) {
    const { page } = render(topic, markdown)
    t.match((await get(`/help/${topic}`, german)).text, `<h1>${page.title}</h1>`)
    t.notMatch((await get(`/help/${topic}`)).text, `<h1>${page.title}</h1>`)
    t.match(parts((await get('/help/search.json', german)).text), [{ page: page.title }])
  }
  const chosen = await get('/help/errors?language=de')
  t.match(chosen.text, '<a href="/help?language=de">')
  t.match(chosen.text, '<a href="/help/alerts?language=de"')
  t.match(chosen.text, 'data-index="/help/search.json?language=de"')
  t.match((await get('/help?language=de')).text, '<a href="/help/recipe.sh">', 'a script has no language')
})

t.test('the index of the search is small, and has every part of every page', async (t) => {
  const { get } = await box(t)
  const index = await get('/help/search.json')
  t.match(index.headers.get('content-type'), /^application\/json/)
  t.ok(gzipSync(index.text).length < 128 * 1024, `${gzipSync(index.text).length} bytes`)
  const all = parts(index.text)
  t.same(new Set(all.map(({ topic }) => topic)), new Set(topics))
  const best = (query: string) => findParts(all, query)[0]
  t.match(best('rate_limited'), { topic: 'errors', anchor: 'rate_limited', part: 'RATE_LIMITED' })
  t.match(best('backup key'), { topic: 'commands', part: 'gatehouse backup key' })
  t.match(best('DISK.HELD'), { topic: 'alerts', anchor: 'diskheld' })
  t.same(findParts(all, 'rate_limited nosuchword'), [], 'every word must be there')
  t.same(findParts(all, ' '), [])
  t.ok(findParts(all, 'the').length <= 20)
})

t.test('a page is text: markup in it is shown, and a link to another page leads to its address', async (t) => {
  const { page, parts } = render(
    'floor',
    '# On the *floor*\n\nHow to `scan`.\n\n<b>bold</b> <script>x</script>\n\n## Scan & `find`\n\n[Part](../en/backup.md#restore-a-box), [page](backup.md), [there](https://example.org/a.md?b&c)\n\n| a | b |\n|---|---|\n| `x|` | <i> |\n',
  )
  t.equal(page.title, 'On the floor')
  t.equal(page.purpose, 'How to scan.')
  t.same(page.parts, [{ anchor: 'scan--find', title: 'Scan & find' }])
  t.notMatch(page.html, /<(b|i|script)>/)
  t.match(page.html, '<h2 id="scan--find">')
  t.match(page.html, '<a href="/help/backup#restore-a-box">Part</a>, <a href="/help/backup">page</a>')
  t.match(page.html, '<a href="https://example.org/a.md?b&amp;c">')
  t.match(parts[1], { part: 'Scan & find', anchor: 'scan--find' })
  t.throws(() => render('floor', 'No heading.'), /must begin with its one heading/)
  t.throws(() => render('floor', '# One\n\n# Two'), /must begin with its one heading/)
})
