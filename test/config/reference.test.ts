import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import t, { type Test } from 'tap'
import { configCommand } from '../../src/cli/config.ts'
import { checkConfig, configExample, configReference, loadConfig } from '../../src/config/index.ts'

/** Runs `gatehouse config …` and returns its output and exit code. */
async function run(t: Test, ...args: string[]): Promise<{ out: string; exitCode: number; message: string }> {
  const printed = t.capture(process.stdout, 'write', () => true)
  const program = new Command('gatehouse').addCommand(configCommand())
  const failure = await program.parseAsync(['config', ...args], { from: 'user' }).then(
    () => ({ exitCode: 0, message: '' }),
    (error) => error,
  )
  const out = printed()
    .map(({ args: [text] }) => String(text))
    .join('')
  printed.restore()
  return { out, exitCode: failure.exitCode, message: failure.message }
}

t.test('the example loads without a word, and is the default config of its site', async (t) => {
  const folder = t.testdir({ 'example.yaml': configExample(), 'short.yaml': 'site: {id: dc-7}' })
  const { config, warnings } = loadConfig(join(folder, 'example.yaml'))
  t.match(warnings, [/no one can sign in/], 'but that it has no account yet')
  t.equal(warnings.length, 1)
  t.strictSame(config, loadConfig(join(folder, 'short.yaml')).config)
})

t.test('the example also loads with everything in it switched on', async (t) => {
  const file = join(t.testdir({}), 'gatehouse.yaml')
  writeFileSync(file, configExample().replaceAll(/^( *)#(?! )/gm, '$1'))
  const { config, problems, faults } = checkConfig(file, { env: {} })
  t.strictSame(problems, [])
  t.ok(faults.every(({ message }) => /there is no such file|can never sign in/.test(message)))
  t.match(config, {
    cameras: [{ name: 'Dock door 1' }],
    metrics: { listen: { port: 9480 } },
    ledger: { maxAge: 604_800_000 },
  })
})

t.test('the reference says of every key what it is, its default, unit, and whether a reload applies it', async (t) => {
  const reference = configReference()
  const rows = reference.split('\n').filter((line) => line.startsWith('| `'))
  t.ok(rows.length > 80)
  for (const row of rows) {
    const [, key = '', type, standard, , applies, sentence] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    t.match(applies, /^(live|restart)$/, key)
    t.match(sentence, /^[A-Z].*\.$/, key)
    t.ok(type, key)
    // Sections have no default themselves. A required key is only in a list or in an optional block.
    if (standard === '*required*') t.match(key, /site\.id|\[\]|tls|upload|sscc|smtp|backup\.(file|segments)\.to/)
  }
  for (const row of [
    '| `auth.freshFor` | duration | `5m` | ms, s, m, h, d | live | How long a verified answer is believed without asking the storage server again. |',
    '| `cameras[].motion.cooldownSeconds` | 0 to 3600 | `5` | seconds | live | Shortest time from the end of a clip to the start of the next, in seconds. |',
    '| `dataDir` | path | `/var/lib/gatehouse` |  | restart | Folder of the ledger, clips, photos and keys. |',
    '| `retention.minFreeBytes` | size | `2GiB` | B, KiB, MiB, GiB | live | Free disk space below which the oldest clips that nothing holds are removed. |',
    '| `metrics.listen` | map or null | `null` |  | restart | A separate listener for a collector that cannot send the X-Storage headers; null: none. |',
  ]) {
    t.ok(rows.includes(row), row)
  }
  const known = rows.map((row) => row.split('`')[1]).filter((key) => key && !/[[\]]/.test(key))
  for (const key of ['webhooks.probe.initial', 'rateLimit.users', 'uplink.probes', 'ffmpeg.path'])
    t.ok(known.includes(key), key)
})

t.test('gatehouse config reference and example print what the schema says', async (t) => {
  t.equal((await run(t, 'reference')).out, configReference())
  t.equal((await run(t, 'example')).out, configExample())
})
