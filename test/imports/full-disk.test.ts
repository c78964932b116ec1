import t from 'tap'
import { furnish, people, testGateway } from '../support/gateway.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'
import { eventually } from '../support/waiting.ts'

const by = people.ada
/** Lines that are stored in one commit. */
const slice = 20
const lines = 2000

t.test(
  'a list of slots that meets a full disk is stored up to where the answer says, and the repeat completes it',
  onSmallDisk,
  async (t) => {
    const disk = smallDisk(24)
    const gateway = await testGateway({ folder: disk.folder })
    t.teardown(() => {
      gateway.close()
      disk.end()
    })
    await furnish(gateway, [])
    const list = Array.from({ length: lines }, (_, n) => `S-${n},S,0,${n},1,1`)
    const bytes = `slot_id,zone,x,y,width,height\n${list.join('\n')}\n`
    const send = () =>
      gateway.ask('POST', '/api/whms/slots/import', { by, bytes, headers: { 'Content-Type': 'text/csv' } })
    const total = async (path: string): Promise<number> =>
      (await gateway.ask('GET', `/api/${path}&limit=1`, { by })).body.pagination.total
    const slots = () => total('whms/slots?offset=0')
    const entries = () => total('governance/audit?action=slot.created')

    const importing = send()
    await eventually(slots, (count) => count > 0, { everyMs: 1 })
    disk.fill()
    const refused = await importing
    t.match(refused, { status: 503, body: { success: false, error: { code: 'STORAGE_FULL' } } })
    t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/)
    const { details } = refused.body.error
    t.match(details, /import the whole list again: lines that are stored stay as they are/)
    const stored = Number(/a part of the list is stored \((\d+) new, 0 changed\)/.exec(details)?.[1])
    t.ok(stored > 0 && stored < lines && stored % slice === 0, `${stored} of ${lines}`)
    t.equal(await slots(), stored, 'as many slots are there')
    t.equal(await entries(), stored, 'each with its entry in the audit trail')

    disk.empty()
    t.match(await send(), { status: 200, body: { ok: true, created: lines - stored, updated: 0, unchanged: stored } })
    t.equal(await slots(), lines)
    t.equal(await entries(), lines)
    const [entry] = (await gateway.ask('GET', '/api/governance/audit?action=list.imported', { by })).body.data
    t.match(entry.changes, { created: lines - stored, unchanged: stored })
  },
)
