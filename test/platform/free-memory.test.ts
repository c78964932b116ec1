import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { giveBack } from '../../src/platform/machine/free-memory.ts'

const mebibyte = 1024 * 1024
/** Below the size that glibc maps separately and returns at once. */
const pieceBytes = 60_000

t.test('memory that was freed goes back to the system', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let pieces = Array.from({ length: 2000 }, () => Buffer.alloc(pieceBytes, 1))
  // The remaining pieces lie between the freed ones, as after a day of work. So glibc cannot shorten its memory from the end.
  pieces = pieces.filter((_, i) => i % 20 === 0)
  for (let i = 0; i < 3; i += 1) collect()
  const keptBytes = ownBytes()
  giveBack()
  const gaveBytes = keptBytes - ownBytes()
  t.ok(gaveBytes > 60 * mebibyte, `of ${(1900 * pieceBytes) / mebibyte} MiB it gave ${gaveBytes / mebibyte} back`)
  t.equal(pieces.length, 100)
})

t.test('a start of which most objects stay leaves little room for new ones behind', async (t) => {
  const smallBytes = await roomForNewObjects(
    "(await import('./src/platform/machine/free-memory.ts')).startWithSmallHeap()",
  )
  const usualBytes = await roomForNewObjects('')
  t.ok(smallBytes <= 4 * mebibyte, `it is ${smallBytes / mebibyte} MiB`)
  t.ok(usualBytes > 2 * smallBytes, `without that ${usualBytes / mebibyte} MiB`)
})

/** Bytes that V8 reserves for new objects in a process that begins with this code, and then makes 40 MiB of lasting objects. */
async function roomForNewObjects(beginning: string): Promise<number> {
  const script = `${beginning}
    const kept = Array.from({ length: 400_000 }, (_, i) => ({ i, text: [i] }))
    const { getHeapSpaceStatistics } = await import('node:v8')
    const { space_size: bytes } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    console.log(kept.length && bytes)`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} })
  return Number(stdout)
}

/** The memory of this process that no file lies behind. */
function ownBytes(): number {
  const [, kibibytes] = /^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kibibytes) * 1024
}
