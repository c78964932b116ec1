import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'
import { checks } from '../../scripts/check.ts'

const root = resolve(import.meta.dirname, '../..')

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

t.test('a check that does not exist is refused with the names of those that do, and none is run', async (t) => {
  const { status, said } = run('scripts/check.ts', 'types', 'wrds')
  t.equal(status, 1)
  t.match(said, /^No check is called "wrds"\. There are "types", /)
  for (const { name } of checks) t.ok(said.includes(JSON.stringify(name)), name)
  t.notMatch(said, 'ok     check')
})

t.test('a test file that does not exist is named in one line', async (t) => {
  const { status, said } = run('scripts/test.ts', 'test/scripts/names.test.ts', 'test/nothing.test.ts')
  t.equal(status, 1)
  t.equal(said, 'there is no test/nothing.test.ts\n')
})
