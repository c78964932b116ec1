/**
 * The entry of the single binary, in front of the program: what V8 has compiled once is kept beside the unpacked addon,
 * so that every later start is quicker. Without such a folder it starts as the first time.
 */
import { createRequire, enableCompileCache, flushCompileCache } from 'node:module'
import { compiledFolder } from './platform/native-cache.ts'

/** By then everything that a start compiles is compiled; a box may lose its power before it ends well. */
const flushAfterMs = 30_000

const folder = compiledFolder()
if (folder !== undefined) {
  enableCompileCache(folder)
  setTimeout(flushCompileCache, flushAfterMs).unref()
}
createRequire(import.meta.url)('./program.cjs')
