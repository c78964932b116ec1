/** Names the programs that a test needs and npm does not bring. Write each name as a literal: scripts/machine.ts reads the source. */
import type { Test } from 'tap'
import { type Program, whyNot } from '../../scripts/machine.ts'

const isCi = process.env['CI'] === 'true'
/** scripts/test has installed what tests name. */
const isPrepared = process.env['GATEHOUSE_PREPARED'] === 'true'

/**
 * The options of a test that cannot run without these: it is skipped, and the skip names them. In CI, and for a program on a machine
 * that scripts/test has prepared, this throws instead.
 */
export function needs(...programs: readonly Program[]): { skip?: string } {
  const why = whyNot(programs)
  if (why === undefined) return {}
  if (isCi || (isPrepared && why.canInstall)) throw new Error(why.words)
  return { skip: why.words }
}

/** Ends a test file in which no test can run without these programs. Call it before anything that uses them. */
export function fileNeeds(t: Pick<Test, 'plan'>, ...programs: readonly Program[]): void {
  const { skip } = needs(...programs)
  if (skip === undefined) return
  t.plan(0, skip)
  process.exit(0)
}
