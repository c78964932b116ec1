import { readFileSync } from 'node:fs'
import t from 'tap'
import { madePages } from '../../scripts/build/manual/made-pages.ts'
import { writtenPages } from '../../scripts/build/manual/pages.ts'
import { helpTopics } from '../../src/console/help/topics.ts'
import { needs } from '../support/needs.ts'
import { gatehouse, runToEnd } from '../support/process.ts'

t.setTimeout(240_000)

const manual = (...args: readonly string[]) => runToEnd(gatehouse, ['manual', ...args])

t.test('the manual lists its pages, and prints one as it is written', async (t) => {
  const { code, stdout, stderr } = await manual()
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.same(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[0]),
    helpTopics,
  )
  t.match(stdout, /^errors +Error codes$/m)
  t.match(await manual('errors'), { code: 0, stdout: madePages.errors(), stderr: '' })
  const [written] = writtenPages()
  if (written) t.match(await manual(written.topic), { code: 0, stdout: readFileSync(written.file, 'utf8'), stderr: '' })
})

t.test('a part of a page is printed alone, by the anchor that doctor names', async (t) => {
  const page = readFileSync('src/console/help/en/evidence.md', 'utf8')
  const [, part = ''] = /\n(## Check a proof bundle\n.*?\n)(?=## )/s.exec(page) ?? []
  t.match(part, /^### /m, 'smaller headings belong to it')
  t.match(await manual('evidence#check-a-proof-bundle'), { code: 0, stdout: part, stderr: '' })
  const { code, stdout, stderr } = await manual('evidence#chek')
  t.match({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, /'evidence#chek' is invalid: the page has #meaning, #keys, #check-a-proof-bundle, /)
})

t.test('a page that does not exist is an error of usage, which names those that do', async (t) => {
  const { code, stdout, stderr } = await manual('bakup')
  t.match({ code, stdout }, { code: 2, stdout: '' })
  t.match(stderr, /'bakup' is invalid/)
  for (const topic of helpTopics) t.match(stderr, topic)
})

t.test('at a terminal a page is shown by the pager of the person', needs('script'), async (t) => {
  const inTerminal = async (pager: string) => {
    const env = { ...process.env, PAGER: pager }
    const { stdout } = await runToEnd('script', ['-qec', `'${gatehouse}' manual errors`, '/dev/null'], { env })
    return stdout.replaceAll('\r\n', '\n')
  }
  t.equal(await inTerminal("sed 's/^/| /'"), madePages.errors().trimEnd().replaceAll(/^/gm, '| ').concat('\n'))
  t.equal(await inTerminal('no-such-pager'), madePages.errors(), 'without one it is printed')
  t.equal(await inTerminal('head -n 1'), '# Error codes\n', 'a reader may leave before the end')
})
