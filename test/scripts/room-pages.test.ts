import t from 'tap'
import { lengthProblems } from '../../scripts/checks/room-pages.ts'

const page = (path: string, words: number) => lengthProblems({ path, text: `# room\n\n${'word '.repeat(words - 2)}` })

t.test('a page of a room that grows over its length is named with its words', async (t) => {
  t.strictSame(page('src/units/README.md', 1200), [])
  t.strictSame(page('src/units/README.md', 1201), ['src/units/README.md: it has 1201 words; at most 1200'])
  t.strictSame(page('src/video/README.md', 2000), [])
  t.strictSame(page('src/console/README.md', 2001), ['src/console/README.md: it has 2001 words; at most 2000'])
  t.strictSame(page('src/README.md', 1201), ['src/README.md: it has 1201 words; at most 1200'])
})
