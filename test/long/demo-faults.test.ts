import { existsSync, rmSync } from 'node:fs'
import t, { type Test } from 'tap'
import { StepFailed } from '../../scripts/demo-parts/steps.ts'
import { playStory, titles } from '../../scripts/demo-parts/story.ts'
import { altered, demo, gatehouse, leavesNothing, temporary } from '../e2e/demo-runs.ts'

t.setTimeout(600_000)

// Without a PATH there is no ffmpeg but the one that came along.
t.test('the story goes as well from an empty folder with an empty environment', async (t) => {
  const lines: string[] = []
  const played = await playStory({ command: gatehouse, bare: true, print: (line) => lines.push(line) })
  t.strictSame(
    played.map(({ step }) => step),
    Object.values(titles),
  )
  t.equal(lines.filter((line) => line.startsWith('ok')).length, played.length, 'every step is told as it ends')
  t.ok(played.every(({ ms, detail }) => ms >= 0 && detail.length > 0))
})

/** The story without cameras, against a gatehouse with a fault. */
async function caught(t: Test, fault: string): Promise<StepFailed> {
  const options = { command: altered(t, fault), bare: true, cameras: false, print: () => {} }
  const failed = await playStory(options).catch((error: unknown) => error)
  t.ok(failed instanceof StepFailed)
  const { folder = '' } = failed as StepFailed
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  t.ok(existsSync(folder), 'what it wrote is kept')
  return failed as StepFailed
}

t.test('a verification that says yes to everything is caught by the flipped byte', async (t) => {
  const saysYes = `[ "$1" = ledger ] && { '${gatehouse}' "$@" | sed 's/"ok":false/"ok":true/'; exit 0; }`
  const { step, message } = await caught(t, saysYes)
  t.equal(step, titles.flip)
  t.match(message, 'exit code of ledger verify')
})

t.test('a gateway that comes back from a power cut without its ledger is caught', async (t) => {
  const { step } = await caught(t, `[ "$1" = serve ] && rm -f "$(dirname "$3")"/state/gatehouse.db*`)
  t.equal(step, titles.powerCut)
})

t.test('a story that is interrupted leaves nothing behind', async (t) => {
  const folder = temporary(t)
  const { child, ended, said } = demo(t, ['--once'], folder)
  await said(titles.place)
  child.kill('SIGTERM')
  t.equal((await ended).code, 1)
  leavesNothing(t, folder)
})
