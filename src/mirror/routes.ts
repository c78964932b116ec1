import { AppError } from '../errors/index.ts'
import { readTilePath } from '../evidence/index.ts'
import { type Api, newRoot } from '../http/index.ts'
import { widthOfTile } from '../log/index.ts'
import type { Logger } from '../platform/index.ts'
import type { Mirror } from './mirror.ts'
import type { Level } from './tiles.ts'

/** Serves the copy to anyone who may reach the listener: c2sp.org/tlog-tiles at the root, read only. */
export function mirrorApi(mirror: Mirror, needs: { readonly log: Logger; readonly makeRequestId: () => string }): Api {
  const root = newRoot({ ...needs, addressOf: ({ peer }) => peer ?? '' })
  const sent = (body: Buffer) =>
    new Response(new Uint8Array(body), {
      headers: { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'public, max-age=31536000, immutable' },
    })
  const tile = (level: Level, path: string): Response => {
    const place = readTilePath(path)
    const size = mirror.head?.size ?? 0
    if (!place || place.width > widthOfTile(level === 'entries' ? 0 : level, place.n, size))
      throw AppError.notFound('Tile')
    const bytes = mirror.tiles.read(level, place.n, place.width)
    if (!bytes) throw AppError.notFound('Tile')
    return sent(bytes)
  }
  root.get('/checkpoint', (c) => {
    const { head } = mirror
    if (!head) throw new AppError('NOT_READY', 'No checkpoint was taken yet', { retryAfterSeconds: 5 })
    return c.text(head.note, 200, { 'Cache-Control': 'no-cache' })
  })
  root.get('/tile/entries/:tile{.+}', (c) => tile('entries', c.req.param('tile')))
  root.get('/tile/:level{(0|[1-9][0-9]?)}/:tile{.+}', (c) => tile(Number(c.req.param('level')), c.req.param('tile')))
  return root
}
