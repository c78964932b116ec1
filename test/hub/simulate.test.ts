import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { simulate } from '../../scripts/simulate/run.ts'
import { tableOfReport } from '../../scripts/simulate/table.ts'
import { needs } from '../support/needs.ts'

t.setTimeout(240_000)

t.test(
  'simulated gateways lose nothing while head office and database are killed, and the forked one is named',
  needs('postgresql'),
  async (t) => {
    const found: Record<string, string[]> = {}
    const report = await simulate({
      ...{ sites: 5, seconds: 8, speed: 2000, eventsPerDay: 5000, forks: 1, seed: 7 },
      ...{ intervalMs: 200, lagMs: Number.POSITIVE_INFINITY, processes: 2 },
      command: resolve(import.meta.dirname, '../../scripts/gatehouse'),
      folder: mkdtempSync(join(tmpdir(), 'simulate-test-')),
      inspect: async (postgres, again) => {
        const [log] = await postgres.ask(
          'hub',
          `SELECT log_id FROM log_head WHERE state = 'live' ORDER BY log_id LIMIT 1`,
        )
        const changed = async (sql: string) => {
          await postgres.ask('hub', sql, [log?.['log_id']])
          return again()
        }
        found['row'] = await changed('DELETE FROM placement WHERE log_id = $1 AND seq = 1')
        found['bundle'] = await changed('DELETE FROM entry_bundle WHERE log_id = $1 AND n = 0')
        found['state'] = await changed(`UPDATE log_head SET state = 'forked' WHERE log_id = $1`)
        found['alert'] = await changed(`DELETE FROM alert WHERE type = 'log.forked' AND log_id <> $1`)
      },
    })
    t.same(report.wrong, [])
    t.equal(report.forked, 1)
    t.ok(report.leaves > 5 * 10, 'gateways at work')
    t.ok(report.retries > 0, 'something was killed while they fed')
    t.match(tableOfReport(report), /every acknowledged leaf is there, once, byte for byte/)
    t.match(found['row'], [/events acknowledged; \d+ rows/], 'a row that is lost is found')
    t.match(
      found['bundle']?.join('\n'),
      /leaves acknowledged, \d+ stored\n.*another root/,
      'a bundle that is lost is found',
    )
    t.match(found['state']?.join('\n'), /its log is forked, not live/)
    t.match(found['alert']?.join('\n'), /forked, and is not named/)
  },
)
