import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { soak } from '../../scripts/soak/run.ts'

t.test(
  'scanners go on while the gateway is killed again and again, and nothing acknowledged is lost or doubled',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-soak-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const yard = { events: 6000, kills: 3, scanners: 24, slots: 40, seed: 7, patienceMs: 200_000 }
    const report = await soak({ folder, ...yard })
    t.equal(report.kills, 3, 'killed with kill -9 while they post')
    t.ok(report.retries > 0, 'scanners were cut off in the middle of it')
    t.ok(report.repeats > 0, 'and some sent what had been answered already')
    t.strictSame(report.wrong, [], 'no scanner got an answer that it must not get')
    t.equal(report.events, yard.events, 'the ledger holds every event')
    t.equal(report.lost, 0, 'each under the id and with the hash that was answered')
    t.equal(report.twice, 0, 'and each once')
    t.equal(report.changed, 0, 'as the scanner said it')
    t.equal(report.strange, 0, 'and nothing else')
    t.equal(report.misread, 0, 'what the gateway says of slots and pallets is what a replay of the ledger says')
    t.ok(report.verified, 'the ledger verifies')
  },
)
