/**
 * `scripts/test-appliance [NAME…]`: the package on real systems. Prints a line for each trial and `N passed, N failed, N skipped`
 * at the end; exits with 1 when one failed. A trial that this machine cannot make says why. GATEHOUSE_APPLIANCE_FOLDER: where it makes
 * what it tries, kept for the next run; else a folder that is removed. GATEHOUSE_POWER_CUTS: how many power cuts, 20 without it.
 * GATEHOUSE_APPLIANCE_SUITE: the Debian that the package is installed on, bookworm without it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arm64Trials } from './appliance/arm64.ts'
import { firstInstallTrials } from './appliance/first-install.ts'
import { fleetTrials } from './appliance/fleet.ts'
import { imageTrials } from './appliance/image.ts'
import { installedTrials } from './appliance/installed.ts'
import { packageTrials } from './appliance/package.ts'
import { piTrials } from './appliance/pi.ts'
import { powerTrials } from './appliance/power.ts'
import { switchOff } from './appliance/the-box.ts'
import { Skipped, type Trial } from './appliance/trial.ts'

const wanted = process.argv.slice(2)
const trials: Trial[] = [
  ...packageTrials,
  ...firstInstallTrials,
  ...arm64Trials,
  ...installedTrials,
  ...fleetTrials,
  ...imageTrials,
  ...powerTrials,
  ...piTrials,
].filter(({ name }) => wanted.length === 0 || wanted.some((words) => name.includes(words)))
const kept = process.env['GATEHOUSE_APPLIANCE_FOLDER']
const folder = kept ?? mkdtempSync(join(tmpdir(), 'gatehouse-appliance-'))
const count = { passed: 0, failed: 0, skipped: 0 }
const say = (line: string) => void process.stdout.write(`${line}\n`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void switchOff().finally(() => process.exit(1))
  })
}
for (const { name, play } of trials) {
  const startedMs = performance.now()
  const took = () => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
  try {
    await play({ folder, say: (line) => say(`          ${line}`) })
    count.passed += 1
    say(`ok      ${name} (${took()})`)
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    if (error instanceof Skipped) count.skipped += 1
    else count.failed += 1
    say(`${error instanceof Skipped ? 'skipped' : 'FAILED '} ${name} (${took()}): ${words}`)
  }
}
if (kept === undefined) rmSync(folder, { recursive: true, force: true })
say(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed > 0 ? 1 : 0
