import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { terminalText } from '../../src/platform/index.ts'
import { gatehouse, runToEnd } from '../support/process.ts'

t.setTimeout(120_000)

/** Clears the screen, sets the title, turns the text around, and rings; also by the codes of one byte. */
const hostile = 'a\u001b[2J\u001b]0;b\u0007\u009b31mc\u007fd\u202ee\u2028f\rg'
const controls = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const shown = /\\u001b\[2J/

function folder(t: Test): string {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-terminal-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  return cwd
}

/** A program that answers at the control socket in place of the daemon. */
async function servesAt(t: Test, runtimeDir: string, status: number, answer: object): Promise<void> {
  mkdirSync(runtimeDir, { recursive: true })
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  server.listen(join(runtimeDir, 'control.sock'))
  await once(server, 'listening')
  t.teardown(() => server.close())
}

t.test('no text from outside controls the terminal of a command', async (t) => {
  const cwd = folder(t)
  const dataDir = join(cwd, 'var')
  const runtimeDir = join(cwd, 'run')
  writeFileSync(join(cwd, 'g.yaml'), JSON.stringify({ site: { id: 'dc-7' }, dataDir, runtimeDir }))
  writeFileSync(join(cwd, 'bad.yaml'), JSON.stringify({ site: { id: hostile }, [hostile]: 1 }))
  writeFileSync(join(cwd, 'proof.note'), `${hostile}\n1\nAAAA\n\n— ${hostile} AAAA\n`)
  await servesAt(t, runtimeDir, 500, { error: hostile, dataDir: hostile })
  const printers = {
    'an answer of the control socket': ['status', '--config', 'g.yaml'],
    'a config': ['config', 'check', 'bad.yaml'],
    'a word of the command line': ['camera', hostile],
    'an option of the command line': ['status', `--${hostile}`],
    'a name of a file': ['ledger', 'verify', `${hostile}.note`],
    'an address': ['hub', 'join', hostile, '--code', 'x'],
  }
  for (const [what, args] of Object.entries(printers)) {
    const { stdout, stderr, code } = await runToEnd(gatehouse, args, { cwd })
    t.not(code, 0, what)
    // The message has none of the text: line separators in it would end its line of TAP, and the assertion with it.
    t.notOk(controls.test(stdout + stderr), `${what}: no control character`)
    t.ok(shown.test(stdout + stderr), `${what} is shown escaped`)
  }
})

t.test('no result of a command controls the terminal', async (t) => {
  const cwd = folder(t)
  const [dataDir, runtimeDir] = [join(cwd, 'var'), join(cwd, 'run')]
  writeFileSync(join(cwd, 'g.yaml'), JSON.stringify({ site: { id: 'dc-7' }, dataDir, runtimeDir }))
  const account = { username: hostile, role: hostile, source: hostile, groups: [hostile], status: hostile }
  await servesAt(t, runtimeDir, 200, { dataDir, accounts: [account], instance: hostile })
  const { stdout, stderr } = await runToEnd(gatehouse, ['user', 'list', '--config', 'g.yaml'], { cwd })
  t.equal(stderr, '')
  t.notOk(controls.test(stdout), 'no control character')
  t.ok(shown.test(stdout), 'shown escaped')
})

t.test('an object for programs keeps its meaning, and its lines', async (t) => {
  const value = { name: hostile, list: ['1\n2', '\t'] }
  t.notMatch(terminalText(JSON.stringify(value)), controls)
  t.strictSame(JSON.parse(terminalText(JSON.stringify(value))), value)
  t.equal(terminalText('a\tb\nü 箱\n'), 'a\tb\nü 箱\n')
  t.equal(terminalText('\u001b[32mwell\u001b[0m'), '\u001b[32mwell\u001b[0m', 'our own color')
  t.equal(terminalText('\u001b[8mhidden'), '\\u001b[8mhidden', 'no other one')
})
