import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Argument, Command } from 'commander'
import t from 'tap'
import { manualPages } from '../../scripts/build/manual/pages.ts'
import { bashCompletion } from '../../scripts/package/completion.ts'
import { filesOf } from '../../scripts/package/deb.ts'
import { manOfCommand, manOfConfig } from '../../scripts/package/man.ts'
import { control, copyright, debianChangelog, maintainer } from '../../scripts/package/texts.ts'
import { gatehouseCommand } from '../../src/cli/run.ts'
import { configReference } from '../../src/config/index.ts'
import { needs } from '../support/needs.ts'

const edition = { version: '1.2.3', dateMs: Date.UTC(2026, 9, 1) }
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-package-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

const man = needs('man')

/** Returns the page as a reader sees it, without line breaks, and the complaints of man. */
function read(name: string, page: string): { text: string; complaints: string } {
  const file = join(folder, name)
  writeFileSync(file, page)
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', MANWIDTH: '200', MANROFFSEQ: '' }
  const run = (script: string) => execFileSync('sh', ['-c', script, 'sh', file], { encoding: 'utf8', env })
  const text = run('man -l "$1" | col -bx').replace(/\s+/g, ' ')
  return { text, complaints: run('man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 >/dev/null') }
}

const nameInMan = (argument: Argument) => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? name : `[${name}]`
}

function* everyCommand(command: Command, above = ''): Generator<{ path: string; command: Command }> {
  const path = `${above}${command.name()}`
  yield { path, command }
  for (const below of command.commands) yield* everyCommand(below, `${path} `)
}

t.test('gatehouse(1) has every command and option of the help', man, async (t) => {
  const { text, complaints } = read('gatehouse.1', manOfCommand(edition))
  t.equal(complaints, '', 'as lintian asks man')
  t.match(text, 'gatehouse 1.2.3')
  for (const { path, command } of everyCommand(gatehouseCommand())) {
    // One that takes an argument does something, also when there are commands below it.
    if (command.commands.length > 0 && command.registeredArguments.length === 0) continue
    t.match(text, [path, ...command.registeredArguments.map(nameInMan)].join(' '))
    for (const { flags } of command.options) t.match(text, flags, path)
  }
})

t.test('gatehouse.yaml(5) has every key of the config reference with its meaning', man, async (t) => {
  const { text, complaints } = read('gatehouse.yaml.5', manOfConfig(edition))
  t.equal(complaints, '')
  const rows = configReference().matchAll(/^\| `([^`]+)` \|.*\| ([^|]*[^|\s]) \|$/gm)
  let keys = 0
  for (const [, key = '', sentence = ''] of rows) {
    keys += 1
    t.ok(text.includes(key), key)
    t.ok(text.includes(sentence.replaceAll(/\\\|/g, '|').replace(/\s+/g, ' ')), sentence)
  }
  t.ok(keys > 80)
})

/** Returns bash's completions of the last word. */
function offered(...words: string[]): string[] {
  const file = join(folder, 'completion.bash')
  writeFileSync(file, bashCompletion())
  // bash-completion's own two functions, as far as they are used.
  const script = `_init_completion() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}; }
_filedir() { COMPREPLY+=(A-FILE); }
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script, 'bash', file, ...words], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

const bash = needs('bash')

t.test('bash completes commands, options, choices and files', bash, async (t) => {
  t.same(offered('gatehouse', 'led'), ['ledger'])
  t.same(offered('gatehouse', 'config', 'e'), ['example'])
  t.same(offered('gatehouse', 'serve', '--log-f'), ['--log-format'])
  t.same(offered('gatehouse', 'serve', '--log-format', 'j'), ['json', 'journal'])
  t.same(offered('gatehouse', 'serve', '--config', ''), ['A-FILE'])
  t.same(offered('gatehouse', 'credential', '--username', ''), [''], 'only the person knows a name')
  t.same(offered('gatehouse', 'manual', 'err'), ['errors'])
  t.notOk(offered('gatehouse', 'manual', '').includes('A-FILE'), 'a topic is no file')
  for (const { path, command } of everyCommand(gatehouseCommand())) {
    const names = command.commands.map((below) => below.name())
    const words = offered(...path.split(' '), '')
    t.same(
      names.filter((name) => !words.includes(name)),
      [],
      path,
    )
  }
})

t.test('the package has the manual as it is written, and the scripts of the auditor', async (t) => {
  const doc = 'usr/share/doc/gatehouse'
  const files = filesOf(edition, 'x64')
  const inManual = Object.keys(files).filter((path) => path.startsWith(`${doc}/manual/`))
  const pages = manualPages()
  t.equal(inManual.length, pages.length)
  for (const { topic, language, markdown } of pages) {
    const path = language === 'en' ? `${topic}.md` : `${language}/${topic}.md`
    t.same(files[`${doc}/manual/${path}`], { mode: 0o644, content: markdown }, path)
  }
  for (const name of ['recipe.sh', 'statement.sh'])
    t.same(files[`${doc}/${name}`], { mode: 0o755, content: readFileSync(`src/evidence/${name}`) }, name)
})

t.test('dpkg is told what the binary and the scripts need', async (t) => {
  const text = control({ edition, arch: 'arm64', installedKib: 7 })
  t.match(text, /^Package: gatehouse\nVersion: 1\.2\.3\nArchitecture: arm64\n/)
  t.match(text, /^Depends: .*\blibc6 \(>= 2\.28\).*\bffmpeg\b.*\bsystemd\b/m)
  t.match(text, /^Installed-Size: 7$/m)
  t.ok(text.endsWith('\n'))
})

t.test('changelog and copyright have the forms that Debian reads', async (t) => {
  t.match(debianChangelog(edition), /^gatehouse \(1\.2\.3\) stable; urgency=medium\n\n {2}\* \S/)
  t.match(debianChangelog(edition), /\n\n -- .+ <.+@.+> {2}Thu, 01 Oct 2026 00:00:00 \+0000\n$/)
  const lines = debianChangelog(edition).split('\n')
  t.same(
    lines.filter((line) => line.length > 80 && /^ {2}[* ] \S+ /.test(line)),
    [],
    'lines are broken where they can be',
  )
  t.match(copyright(), /^Format: https:\/\/www\.debian\.org\/doc\/packaging-manuals\/copyright-format\/1\.0\/\n/)
  for (const work of ['Node.js 24', 'ffmpeg', 'SQLite', 'koffi', 'hono']) t.match(copyright(), work)
})

t.test('the package names somebody to whom a weakness can be reported', (t) => {
  const author = () => 'Ada Lovelace <ada@warehouse.example>'
  t.equal(maintainer({}, author), 'Ada Lovelace <ada@warehouse.example>', 'the author of the commit')
  const env = { DEBEMAIL: 'packages@warehouse.example', DEBFULLNAME: 'Packages' }
  t.equal(maintainer(env, author), 'Packages <packages@warehouse.example>', 'whoever builds it')
  t.throws(() => maintainer({}, () => undefined), /Set DEBEMAIL/)
  t.notMatch(control({ edition, arch: 'amd64', installedKib: 1 }), /gatehouse\.example/)
  t.end()
})
