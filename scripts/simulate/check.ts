import { unpackBundle } from '../../src/hub/feed/bundle.ts'
import { leafHash, MerkleFrontier } from '../../src/log/index.ts'
import type { TestPostgres } from '../../test/support/postgres.ts'
import type { SiteReport } from './site.ts'

const bundlesAtOnce = 500

/** Stored state of one log, read from the database alone. */
type Stored = { readonly size: number; readonly state: string; readonly leaves: number; readonly root: string }

/**
 * Compares every log with its gateway: exactly the acknowledged leaves are there, byte for byte and once. The head office names the
 * sites in `named` as forked. Returns the problems as sentences.
 */
export async function check(
  postgres: TestPostgres,
  sites: readonly SiteReport[],
  named: readonly string[],
): Promise<string[]> {
  const wrong = sites.flatMap(({ siteId, wrong: own }) => own.map((words) => `${siteId}: ${words}`))
  for (const site of sites) wrong.push(...(await checkLog(postgres, site)))
  const forked = sites.filter(({ fork }) => fork !== 'none').map(({ siteId }) => siteId)
  for (const siteId of forked) if (!named.includes(siteId)) wrong.push(`${siteId}: forked, and is not named`)
  for (const siteId of named) if (!forked.includes(siteId)) wrong.push(`${siteId}: is named as forked, and did not`)
  return wrong
}

async function checkLog(postgres: TestPostgres, site: SiteReport): Promise<string[]> {
  const { siteId, logId, acknowledged, root, fork } = site
  const wrong: string[] = []
  const stored = await readLog(postgres, logId)
  if (stored.size !== acknowledged) wrong.push(`${acknowledged} leaves acknowledged, ${stored.size} counted`)
  if (stored.leaves !== acknowledged) wrong.push(`${acknowledged} leaves acknowledged, ${stored.leaves} stored`)
  if (stored.root !== root) wrong.push('the stored leaves have another root')
  const state = fork === 'none' ? 'live' : 'forked'
  if (stored.state !== state) wrong.push(`its log is ${stored.state}, not ${state}`)
  const [rows] = await postgres.ask(
    'hub',
    `SELECT count(*)::int AS all, count(DISTINCT seq)::int AS different, coalesce(max(seq), 0)::int AS last FROM placement
     WHERE log_id = $1`,
    [logId],
  )
  const { all, different, last } = rows as { all: number; different: number; last: number }
  if (all !== acknowledged || different !== all || last !== all) {
    wrong.push(`${acknowledged} events acknowledged; ${all} rows, ${different} different ones, the last ${last}`)
  }
  return wrong.map((words) => `${siteId}: ${words}`)
}

async function readLog(postgres: TestPostgres, logId: string): Promise<Stored> {
  const [head] = await postgres.ask('hub', 'SELECT size, state FROM log_head WHERE log_id = $1', [logId])
  const tree = new MerkleFrontier()
  for (let from = 0; ; from += bundlesAtOnce) {
    const bundles = await postgres.ask(
      'hub',
      'SELECT packed FROM entry_bundle WHERE log_id = $1 AND n >= $2 AND n < $3 ORDER BY n',
      [logId, from, from + bundlesAtOnce],
    )
    for (const { packed } of bundles) for (const leaf of unpackBundle(packed as Buffer)) tree.append(leafHash(leaf))
    if (bundles.length < bundlesAtOnce) break
  }
  const { size, state } = (head ?? { size: 0, state: 'missing' }) as { size: string; state: string }
  return { size: Number(size), state, leaves: tree.size, root: tree.root().toString('base64') }
}
