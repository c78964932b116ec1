import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { hubTitles } from '../../scripts/demo-parts/hub/story.ts'

t.setTimeout(300_000)

const root = resolve(import.meta.dirname, '../..')

/** scripts/demo to its end, with a folder for everything temporary. */
async function demo(t: Test, args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'hub-demo-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder }
  const child = spawn(join(root, 'scripts/demo'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGTERM'))
  const heard = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (part: Buffer) => {
      heard[name] += part.toString('utf8')
    })
  }
  const code = await new Promise<number | null>((done) => child.once('close', done))
  return { code, folder, ...heard }
}

t.test('the story of the head office goes as it must: a transfer, a recall, a fork that is caught', async (t) => {
  const { code, stdout, stderr, folder } = await demo(t, ['--hub', '--once'])
  t.equal(stderr, '')
  t.equal(code, 0)
  const table = stdout.slice(stdout.indexOf('what happened'))
  for (const title of Object.values(hubTitles)) t.ok(table.includes(title), title)
  t.match(table, /lot L-7731: 6 pallets at 3 sites/)
  t.match(table, /in_transit from hamburg with LKW-7/)
  t.match(table, /PLACED at hamburg, REMOVED at hamburg, PLACED at bremen/)
  t.match(table, /kassel says: .*another history/)
  t.match(table, /alert log\.forked: kassel, at leaf or root \d+/)
  t.strictSame(readdirSync(folder), [], 'no file is left behind')
})

t.test('without PostgreSQL the demo names the package that is missing', async (t) => {
  const { code, stdout, stderr, folder } = await demo(t, ['--hub', '--once', '--postgres', join(root, 'test')])
  t.equal(code, 2)
  t.equal(stdout, '')
  t.match(stderr, /^demo: this demo needs PostgreSQL .* apt-get install postgresql\n$/)
  t.strictSame(readdirSync(folder), [])
  t.equal((await demo(t, ['--hub', '--port', '9000'])).code, 2, 'it takes free ports by itself')
})
