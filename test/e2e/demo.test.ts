import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { freePort, portIsFree } from '../../scripts/demo-parts/ports.ts'
import { defaultPort } from '../../scripts/demo-parts/showing.ts'
import { titles } from '../../scripts/demo-parts/story.ts'
import { demo, leavesNothing, processesWith, root, temporary } from './demo-runs.ts'

t.setTimeout(600_000)

t.test('the story of the demo goes as it must from the first start to the last proof', async (t) => {
  const folder = temporary(t)
  const { code, stdout, stderr } = await demo(t, ['--once'], folder).ended
  t.equal(stderr, '')
  t.equal(code, 0)
  const table = stdout.slice(stdout.indexOf('what happened'))
  for (const title of Object.values(titles)) t.ok(table.includes(title), title)
  t.match(table, /webhook \d+\.\d ms (after|before) the answer to the POST/)
  t.match(table, /\d\.\d s, \d\.\d of them before the motion; \d+ pictures, \d+ kB/)
  t.match(table, /none as it must: [1-9]\d+ pictures of camera 2, none with motion/)
  leavesNothing(t, folder)
})

t.test('a gateway that does not start is the step that failed, and its folder is kept', async (t) => {
  const folder = temporary(t)
  const { code, stderr } = await demo(t, ['--once', '--command', '/bin/false'], folder).ended
  t.equal(code, 1)
  t.match(stderr, `FAILED  ${titles.start}: `)
  const [kept = ''] = readdirSync(folder)
  t.match(stderr, join(folder, kept), 'it says where to look')
  t.strictSame(processesWith(folder), [], 'no process is left behind')
})

t.test('a demo whose port is taken says so in one sentence', async (t) => {
  t.equal(defaultPort, 8480)
  const taken = createServer()
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const { code, stdout, stderr } = await demo(t, ['--port', String(port)]).ended
  t.equal(code, 1)
  t.equal(stdout, '')
  t.equal(
    stderr,
    `demo: port ${port} of 127.0.0.1 is taken by another program; end it, or choose another port with --port.\n`,
  )
  t.notOk(existsSync(join(root, `var/demo-${port}`)), 'the state of an earlier demo is not touched')
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

t.test('a demo that is asked for nonsense explains itself', async (t) => {
  for (const args of [['--once', '--port', '9000'], ['--once', '--disaster'], ['--port', 'x'], ['--nonsense']]) {
    const { code, stderr } = await demo(t, args).ended
    t.equal(code, 2)
    t.match(stderr, /^demo: .+\n$/)
  }
})
