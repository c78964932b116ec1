import t from 'tap'
import { disasterTitles } from '../../scripts/demo-parts/disaster.ts'
import { demo, leavesNothing, temporary } from '../e2e/demo-runs.ts'

t.setTimeout(480_000)

t.test('a box burns under load, and the story of its return goes as it must to the last proof', async (t) => {
  const folder = temporary(t)
  const { code, stdout, stderr } = await demo(t, ['--disaster'], folder).ended
  t.equal(stderr, '')
  t.equal(code, 0)
  const table = stdout.slice(stdout.indexOf('what happened'))
  for (const title of Object.values(disasterTitles)) t.ok(table.includes(title), title)
  t.match(stdout, /missing: (PLACED|REMOVED) \d{20} in [A-C]-\d\d at 20/)
  t.match(table, /\d+ leaves were signed, the log has only \d+: its end was cut off/)
  leavesNothing(t, folder)
})

t.test('a box that does not start is the step that failed', async (t) => {
  const { code, stderr } = await demo(t, ['--disaster', '--command', '/bin/false']).ended
  t.equal(code, 1)
  t.match(stderr, `FAILED  ${disasterTitles.start}: `)
})
