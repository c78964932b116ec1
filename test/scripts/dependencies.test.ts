import t from 'tap'
import { dependencyProblems } from '../../scripts/checks/dependencies.ts'

const page = (first: string, second: string) =>
  `# Dependencies\n\n## In the product\n\n${first}\n\n## For work\n\n${second}\n`
const row = (name: string, license = 'MIT') => `| \`${name}\` | a purpose | ${license} | somebody | another |`
const problems = (markdown: string) => dependencyProblems(markdown, ['hono'], ['tap'], () => 'MIT')

t.test('a package without a row, a row too many and a wrong license are named', async (t) => {
  t.strictSame(problems(page(row('hono'), row('tap'))), [])
  t.strictSame(problems(page('', row('tap'))), ['hono has no row'])
  t.strictSame(problems(page(row('hono'), `${row('tap')}\n${row('left-pad')}`)), ['left-pad is not used'])
  t.strictSame(problems(page(row('hono', 'ISC'), row('tap'))), ['hono has the license MIT'])
  t.strictSame(problems(page(row('tap'), row('hono'))), [
    'hono has no row',
    'tap is not used',
    'tap has no row',
    'hono is not used',
  ])
  t.strictSame(problems(page('| `hono` | | MIT | somebody | another |', row('tap'))), ['hono has an empty cell'])
})
