/**
 * `npm run explore`: taps, types, presses and scans at random through every view of the console. It plays every role in a real
 * Chromium on three screens, while pallets move. Exits with 1 when the browser logs an error or the gateway answers 500 or above.
 * A view without a way out, a lost text, or a page wider than its screen is a failure too.
 *
 * - `--minutes N`: default 10
 * - `--seed N`: seed of all random choices, default 1
 */
import { parseArgs } from 'node:util'
import { launchBrowser } from '../test/support/browser.ts'
import { explore, type Finding } from '../test/support/explorer.ts'
import { livelyHall } from '../test/support/lively-hall.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (!(minutes > 0 && minutes <= 24 * 60))
  throw new Error(`--minutes takes more than 0 and up to 1440, not ${values.minutes}`)
if (!Number.isInteger(seed)) throw new Error(`--seed takes a whole number, not ${values.seed}`)

const tell = ({ who, at, what, before }: Finding) =>
  process.stdout.write(`${who}, ${at}: ${what}\n  after: ${before.join(' · ')}\n`)

const ends: (() => unknown)[] = []
const browser = await launchBrowser()
if (!browser) throw new Error('no Chromium here: apt-get install chromium')
try {
  const floor = await livelyHall({ teardown: (work: () => unknown) => void ends.unshift(work) })
  const { found, acts } = await explore({
    browser,
    floor,
    seed,
    acts: Number.MAX_SAFE_INTEGER,
    mostMs: minutes * 60_000,
    tell,
  })
  process.stdout.write(`${acts} acts in ${minutes} minutes, seed ${seed}: ${found.length} found\n`)
  if (found.length > 0) process.exitCode = 1
} finally {
  for (const end of ends) await end()
  await browser.close()
}
