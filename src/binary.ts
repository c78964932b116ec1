/**
 * The entry of the single binary, in front of the program. It stores V8's compiled code beside the unpacked addon, so every later
 * start is quicker. Without such a folder each start compiles again. It also adapts Node's process defaults to a daemon.
 */
import { writeFileSync } from 'node:fs'
import { createRequire, enableCompileCache, flushCompileCache } from 'node:module'
import { startWithSmallHeap } from './platform/machine/free-memory.ts'
import { compiledFolder } from './platform/machine/native-cache.ts'

/** By then everything that a start compiles is compiled; a box may lose its power before it ends well. */
const flushAfterMs = 30_000

const folder = compiledFolder()
if (folder !== undefined) {
  enableCompileCache(folder)
  setTimeout(flushCompileCache, flushAfterMs).unref()
}
// Commands end soon, and some of them have much to do until then.
if (process.argv.includes('serve')) startWithSmallHeap()
nameProcess()
// Node would open a debugger, to which every user of the box may connect.
process.on('SIGUSR1', () => {})
createRequire(import.meta.url)('./program.cjs')

/** Node calls every program `MainThread`, and so would ps, top, ss and the journal. */
function nameProcess(): void {
  try {
    writeFileSync('/proc/self/comm', 'gatehouse')
  } catch {
    // With a /proc that is read-only it keeps Node's name; nothing depends on it.
  }
}
