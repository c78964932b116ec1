import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort, portIsFree } from '../../scripts/demo-parts/ports.ts'
import { titles } from '../../scripts/demo-parts/story.ts'
import { demo, leavesNothing, processesWith, root, temporary } from '../e2e/demo-runs.ts'

t.setTimeout(480_000)

t.test('the story of the demo goes as it must from the first start to the last proof', async (t) => {
  const folder = temporary(t)
  const { code, stdout, stderr } = await demo(t, ['--once'], folder, true).ended
  t.equal(stderr, '')
  t.equal(code, 0)
  const table = stdout.slice(stdout.indexOf('what happened'))
  for (const title of Object.values(titles)) t.ok(table.includes(title), title)
  t.match(table, /webhook \d+\.\d ms (after|before) the answer to the POST/)
  t.match(table, /\d\.\d s, \d\.\d of them before the motion; \d+ pictures, \d+ kB/)
  t.match(table, /none as it must: [1-9]\d+ pictures of camera 2, none with motion/)
  leavesNothing(t, folder)
})

t.test('a running demo shows how to sign in, prints notifications, and stops when told to', async (t) => {
  const port = await freePort()
  const folder = join(root, `var/demo-${port}`)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const { child, ended, said } = demo(t, ['--port', String(port)])
  await said('kB')
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  t.equal(stderr, '')
  t.equal(code, 0)
  t.match(stdout, `http://127.0.0.1:${port}`)
  for (const name of ['admin', 'supervisor', 'viewer', 'X-Storage-Username: admin', 'gatehouse.db', 'Ctrl-C'])
    t.match(stdout, name)
  t.match(stdout, /scanner-\d {2,}PLACED/)
  t.match(stdout, /receiver {2,}whms\.placement .* signature right/)
  t.match(stdout, 'cameras   1 Dock door, 2 Aisle C')
  t.match(stdout, /receiver {2,}motion\.detected {2,}cam 1 .* signature right, score \d/)
  t.match(stdout, /receiver {2,}event\.created {2,}cam 1 .* clip of \d+\.\d s \(\d\.\d s before the motion\), \d+ kB/)
  t.notMatch(stdout, /cam 2/, 'nothing happens at the other camera')
  t.ok(await portIsFree(port))
  t.strictSame(processesWith(folder), [], 'no process is left behind')
})
