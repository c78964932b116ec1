import type { Context } from 'hono'
import { z } from 'zod'
import type { Permission } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Api, type AppEnv, historyLimit, historyQuery, queryInteger } from '../../http/index.ts'
import { mostForks } from './forks.ts'
import { asked, logIdIn, Nothing, readQuery } from './query.ts'
import type { AskService } from './service.ts'
import type { Sites } from './store.ts'

const Checkpoints = z.strictObject({ limit: historyQuery.limit, before: queryInteger({ min: 0 }).optional() })
const Forks = z.strictObject({
  limit: queryInteger({ min: 1, max: mostForks, clamp: true }).optional(),
  cursor: asked(128).default(''),
})

/** The sites at which who asks has a permission; null: all. */
type SitesOf = (c: Context<AppEnv>, permission: Permission) => Sites

/** Serves what the head office keeps of one log as evidence. */
export function logRoutes(api: Api, { asks, sitesOf }: { readonly asks: AskService; readonly sitesOf: SitesOf }): void {
  const readers = (c: Context<AppEnv>): Sites => {
    const allowed = sitesOf(c, 'evidence:read')
    if (allowed?.length === 0) throw new AppError('PERMISSION_DENIED', 'This needs the permission evidence:read')
    return allowed
  }
  api.get('/api/hub/logs/:logId/entries/:seq', async (c) => {
    readQuery(c, Nothing)
    const seq = Number(c.req.param('seq'))
    const allowed = readers(c)
    const logId = logIdIn(c, 'Leaf')
    if (!Number.isSafeInteger(seq) || seq < 1) throw AppError.notFound('Leaf')
    const bundle = await asks.entry({ logId, seq }, allowed)
    return c.body(`${JSON.stringify(bundle, undefined, 2)}\n`, 200, {
      'Content-Type': 'application/json',
      'Content-Disposition': `attachment; filename="leaf-${seq}.proof.json"`,
    })
  })
  // A checkpoint says nothing of the floor; the bytes of a fork do.
  api.get('/api/hub/logs/:logId/checkpoints', async (c) => {
    const { limit = historyLimit, before } = readQuery(c, Checkpoints)
    const found = await asks.checkpoints(logIdIn(c, 'Log'), { limit, before }, sitesOf(c, 'whms:read'))
    return c.json({ success: true, ...found })
  })
  api.get('/api/hub/logs/:logId/forks', async (c) => {
    const { limit = mostForks, cursor } = readQuery(c, Forks)
    const allowed = readers(c)
    return c.json({ success: true, ...(await asks.forks(logIdIn(c, 'Log'), { limit, cursor }, allowed)) })
  })
}
