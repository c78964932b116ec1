import { join } from 'node:path'
import t from 'tap'
import { hubTitles } from '../../scripts/demo-parts/hub/story.ts'
import { demo, leavesNothing, root, temporary } from '../e2e/demo-runs.ts'
import { needs } from '../support/needs.ts'

t.setTimeout(480_000)

t.test(
  'the story of the head office goes as it must: a transfer, a recall, a fork that is caught',
  needs('postgresql'),
  async (t) => {
    const folder = temporary(t)
    const { code, stdout, stderr } = await demo(t, ['--hub', '--once'], folder).ended
    t.equal(stderr, '')
    t.equal(code, 0)
    const table = stdout.slice(stdout.indexOf('what happened'))
    for (const title of Object.values(hubTitles)) t.ok(table.includes(title), title)
    t.match(table, /lot L-7731: 6 pallets at 3 sites/)
    t.match(table, /in_transit from hamburg with LKW-7/)
    t.match(table, /PLACED at hamburg, REMOVED at hamburg, PLACED at bremen/)
    t.match(table, /kassel says: .*another history/)
    t.match(table, /alert log\.forked: kassel, at leaf or root \d+/)
    leavesNothing(t, folder)
  },
)

t.test('without PostgreSQL the demo names the package that is missing', async (t) => {
  const folder = temporary(t)
  const { code, stdout, stderr } = await demo(t, ['--hub', '--once', '--postgres', join(root, 'test')], folder).ended
  t.equal(code, 2)
  t.equal(stdout, '')
  t.match(stderr, /^demo: this demo needs PostgreSQL .* apt-get install postgresql\n$/)
  leavesNothing(t, folder)
})

t.test('the stories of the demo take free ports by themselves, and one is played at a time', async (t) => {
  for (const args of [
    ['--hub', '--port', '9000'],
    ['--disaster', '--port', '9000'],
    ['--hub', '--disaster'],
    ['--once', '--disaster'],
    ['--once', '--postgres', '/usr'],
  ]) {
    const { code, stderr } = await demo(t, args).ended
    t.equal(code, 2, args.join(' '))
    t.match(stderr, /^demo: .+\n$/)
  }
})
