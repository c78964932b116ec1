import t from 'tap'
import { furnish, people, testGateway } from '../support/gateway.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'

const by = people.ada

t.test(
  'a step that comes while the disk is full is shown at once, and on record when there is room again',
  onSmallDisk,
  async (t) => {
    const disk = smallDisk(24)
    const gateway = await testGateway({ folder: disk.folder })
    t.teardown(() => {
      gateway.close()
      disk.end()
    })
    await furnish(gateway, ['A-01'])
    await gateway.clockBook.start()
    disk.fill()
    const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
    for (let status = 201; status === 201; )
      status = (await gateway.ask('POST', '/api/whms/events', { by, body })).status
    gateway.clock.setWall(gateway.clock.now() - 60_000)
    await gateway.clockBook.look()
    const stepsOnRecord = async () => (await gateway.ask('GET', '/api/governance/clock', { by })).body.stepCount
    const shown = async () => (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.clock
    t.equal(await stepsOnRecord(), 0)
    t.match(await shown(), { steps: 1, lastStep: { byMs: -60_000 } })
    disk.empty()
    gateway.clock.advance(1000)
    await gateway.clockBook.look()
    t.equal(await stepsOnRecord(), 1)
    t.match(await shown(), { steps: 1, lastStep: { byMs: -60_000 } })
  },
)
