/**
 * Shows that the tests can fail.
 *
 * - `npm run mutants`: makes each change of test/mutants, one after the other; its test must fail
 * - `npm run mutants -- --guards WORD…`: the changes whose file, test or sentence contains one of these words
 * - `npm run mutants -- ROOM`: StrykerJS changes the pure files of a room; the score goes to test/mutants/scores.md
 *
 * Exits with 1 when a change was not noticed, and when a word or a room chose none.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Guard, type Room, rooms } from './mutants/guards.ts'
import { scoreOf } from './mutants/score.ts'
import { Tree } from './mutants/tree.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { guards: { type: 'boolean' } } })
const all = rooms()
if (positionals.length === 0 || values.guards) await tryGuards(chosen(positionals))
else for (const name of positionals) await scoreOf(pureRoom(name))

function chosen(words: readonly string[]): Guard[] {
  const guards = all.flatMap((room) => room.guards)
  const isChosen = ({ file, test, breaks }: Guard) =>
    words.length === 0 || words.some((word) => [file, test, breaks].some((text) => text.includes(word)))
  const found = guards.filter(isChosen)
  if (found.length === 0) fail(`No change of test/mutants contains ${words.join(' or ')}.`)
  return found
}

function pureRoom(name: string): Room {
  const room = all.find((each) => each.name === name)
  if (room?.pure) return room
  const known = all.filter((each) => each.pure).map((each) => each.name)
  return fail(`Room ${name} lists no pure files in test/mutants/${name}.yaml. These rooms do: ${known.join(', ')}.`)
}

/** Many tests wait for a process or for time that passes: one more at once than there are cores. */
async function tryGuards(guards: readonly Guard[]): Promise<void> {
  const queue = [...guards]
  const survived: Guard[] = []
  const work = async () => {
    const tree = new Tree()
    try {
      for (let guard = queue.shift(); guard; guard = queue.shift()) {
        const sinceMs = performance.now()
        const { isCaught, output } = await tree.try(guard)
        const seconds = ((performance.now() - sinceMs) / 1000).toFixed(1)
        process.stdout.write(`${isCaught ? 'caught  ' : 'SURVIVED'} ${seconds.padStart(5)} s ${guard.breaks}\n`)
        if (isCaught) continue
        survived.push(guard)
        process.stdout.write(`  ${guard.file}: ${guard.test} passed.\n${output.slice(-2000)}\n`)
      }
    } finally {
      tree.remove()
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism() + 1, guards.length) }, work))
  process.stdout.write(`${guards.length - survived.length} caught, ${survived.length} survived\n`)
  process.exitCode = survived.length === 0 ? 0 : 1
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}
