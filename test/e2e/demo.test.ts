import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { defaultPort } from '../../scripts/demo-parts/showing.ts'
import { titles } from '../../scripts/demo-parts/story.ts'
import { demo, processesWith, root, temporary } from './demo-runs.ts'

t.setTimeout(600_000)

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

t.test('a demo that is asked for nonsense explains itself', async (t) => {
  for (const args of [['--once', '--port', '9000'], ['--once', '--disaster'], ['--port', 'x'], ['--nonsense']]) {
    const { code, stderr } = await demo(t, args).ended
    t.equal(code, 2)
    t.match(stderr, /^demo: .+\n$/)
  }
})
