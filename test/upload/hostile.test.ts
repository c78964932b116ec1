import { join } from 'node:path'
import t from 'tap'
import { hostileAnswers, hostileStorage } from '../support/hostile/storage.ts'
import { nodeOnSources, runToEnd } from '../support/process.ts'

t.setTimeout(120_000)

const folder = join(import.meta.dirname, '../../src/upload/dav/folder.ts')

/** Lists the folder at the address, and says how it ended. A little memory stands for that of a small box. */
const program = (url: string) => `
  const { DavFolder } = await import(${JSON.stringify(folder)})
  const folder = new DavFolder({ url: ${JSON.stringify(url)}, authorizations: [], caFile: null, version: '0' }, { waitsMs: [0] })
  const said = await folder.list('').then((names) => names.length + ' names', (error) => error.message)
  process.stdout.write(said)
`

for (const kind of Object.keys(hostileAnswers) as (keyof typeof hostileAnswers)[])
  t.test(`a storage server that answers a list with ${kind} neither fills the memory nor is believed`, async (t) => {
    const url = await hostileStorage(t, kind)
    const [command, ...args] = nodeOnSources
    const words = [...args, '--max-old-space-size=160', '--input-type=module', '--eval', program(url)]
    const { code, stdout, stderr } = await runToEnd(command, words)
    t.equal(code, 0, stderr.slice(-300))
    t.match(stdout, /is no list|answers with more than/)
  })
