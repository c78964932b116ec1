/** Problems of a camera, in the language of the page. */
import t from 'tap'
import { noThread } from '../../src/cameras/camera-health.ts'
import { plainWords, problems } from '../../src/video/problems.ts'

Object.assign(globalThis, { localStorage: { getItem: () => 'de' } })
const { problemTexts } = await import('../../src/console/page/i18n/problem-texts.ts')
const { problemWords } = await import('../../src/console/page/i18n/problem-words.ts')

t.test('every problem of a camera has German words, and names the same things of the config', async (t) => {
  t.same(Object.keys(problemTexts).toSorted(), [...problems, noThread.code].toSorted())
  for (const code of problems) {
    const { what, hint } = plainWords(code)
    const german = problemWords({ problem: `${what} ${hint}`, problemCode: code })
    t.notMatch(german, /\b(the|camera|picture|stream)\b/i, code)
    const named = `${what} ${hint}`.match(/\b(url|username|passwordFile|detectUrl|ffmpeg\.path|H\.264|RTSP)\b/g) ?? []
    for (const name of named) t.ok(german.includes(name), `${code} names ${name}`)
  }
})

t.test(
  'a problem of a later version is said as the gateway wrote it, and a camera without one says nothing',
  async (t) => {
    const marked = '\u2066Something new.\u2069'
    t.equal(problemWords({ problem: 'Something new.', problemCode: 'toString' }), marked)
    t.equal(problemWords({ problem: 'Something new.', problemCode: null }), marked)
    t.equal(problemWords({ problem: null, problemCode: null }), '')
  },
)
