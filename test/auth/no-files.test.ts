import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { initTls } from '../../src/http/index.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'

/** The files that were read since the last look. */
let filesRead: string[] = []
const { readFileSync } = fs
fs.readFileSync = ((...args: Parameters<typeof readFileSync>) => {
  filesRead.push(String(args[0]))
  return readFileSync(...args)
}) as typeof readFileSync
syncBuiltinESMExports()

t.test('a request of somebody who is known reads no file, not even the certificate of the box', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-no-files-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const made = await initTls({ dir: folder, names: ['127.0.0.1'], days: 30, nowMs: Date.now(), force: false })
  const tls = { certFile: made.certFile, keyFile: made.keyFile }
  const gateway = await testGateway({ config: { listen: [{ host: '127.0.0.1', port: 0, tls }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['S-1'])
  const read = () => gateway.ask('GET', '/api/whms/slots/1', { by: people.ada })
  t.equal((await read()).status, 200)
  filesRead = []
  t.equal((await read()).status, 200)
  t.same(filesRead, [])
})
