import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { holdFolder, releaseFolder, writeFileDurablyAside } from '../../src/platform/index.ts'

t.test('a write that was under way makes no folder again, also when a stop releases it meanwhile', async (t) => {
  const state = join(t.testdir(), 'state')
  mkdirSync(state)
  holdFolder(state)
  renameSync(state, `${state}-away`)
  const writing = writeFileDurablyAside(join(state, 'photos/a.jpg'), Buffer.from('a'))
  releaseFolder(state)
  await t.rejects(writing, { code: 'ESTALE' })
  t.equal(existsSync(state), false)
})
