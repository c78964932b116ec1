/** `bin/apply` of the examples: the drop-ins of many boxes from one repository, on a box in a folder. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const apply = join(import.meta.dirname, '../../systemd/examples/bin/apply')

/** A box whose gateway takes every config, with drop-ins, and the new ones for it. */
function box(t: Test, before: Record<string, string>, after: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-apply-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const at = (name: string) => join(root, name)
  for (const folder of ['etc/conf.d', 'new', 'tools']) mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('etc/gatehouse.yaml'), 'site: { id: dc-7 }\n')
  writeFileSync(at('loads'), '')
  const fill = (folder: string, files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(at(`${folder}/${name}`), text)
  }
  fill('etc/conf.d', before)
  fill('new', after)
  const program = (name: string, lines: string) =>
    writeFileSync(at(`tools/${name}`), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  program('gatehouse', `[ "$1" != status ] || echo "{\\"loadedAt\\":\\"$(wc -l < ${at('loads')})\\"}"`)
  program('reload', `echo >> ${at('loads')}`)
  const run = () => {
    const path = `${at('tools')}:${process.env['PATH']}`
    const env = { PATH: path, GATEHOUSE_ETC: at('etc'), GATEHOUSE_RELOAD: at('tools/reload') }
    return spawnSync('sh', [apply, at('new')], { env, encoding: 'utf8' })
  }
  const dropIns = () =>
    Object.fromEntries(
      readdirSync(at('etc/conf.d'))
        .filter((name) => !name.startsWith('.'))
        .map((name) => [name, readFileSync(at(`etc/conf.d/${name}`), 'utf8')]),
    )
  return { run, dropIns, program, at }
}

const before = { 'fleet-limits.yaml': 'old', 'fleet-gone.yaml': 'gone', '50-setup.yaml': 'own' }
const after = { 'fleet-limits.yaml': 'new', 'fleet-more.yaml': 'more' }

t.test('the drop-ins of the fleet are replaced, and those of the box stay', async (t) => {
  const { run, dropIns } = box(t, before, after)
  const ran = run()
  t.equal(ran.status, 0, ran.stdout + ran.stderr)
  t.strictSame(dropIns(), { ...after, '50-setup.yaml': 'own' })
})

t.test('a power cut while drop-ins are replaced leaves the box with drop-ins', async (t) => {
  const { run, dropIns, program, at } = box(t, before, after)
  // Moves before that are in the copy that is checked.
  program('mv', `if [ -e ${at('check-is-over')} ]; then kill -KILL $PPID; exit; fi; exec /bin/mv "$@"`)
  program(
    'gatehouse',
    `[ "$1" != config ] || touch ${at('check-is-over')}; [ "$1" != status ] || echo '{"loadedAt":"1"}'`,
  )
  t.equal(run().signal, 'SIGKILL')
  t.ok(existsSync(at('check-is-over')))
  t.strictSame(dropIns(), before, 'the first new one was about to come')
})
