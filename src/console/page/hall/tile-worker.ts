/** The worker that paints tiles of the plan, so that the page has nothing to do but show them. */

import { tilePx } from './tile-index.ts'
import { paintTile } from './tile-paint.ts'
import type { PaintedTile, TileJob } from './tile-painter.ts'

type Scope = {
  postMessage(message: PaintedTile, transfer: Transferable[]): void
  addEventListener(type: 'message', listener: (event: MessageEvent<TileJob>) => void): void
}
// The page is compiled with the types of a window; this file runs in a worker.
const scope = self as unknown as Scope

let canvas = new OffscreenCanvas(0, 0)

scope.addEventListener('message', ({ data: { id, scene, places, tile, colors } }) => {
  const side = tilePx * tile.perPx
  if (canvas.width !== side) canvas = new OffscreenCanvas(side, side)
  paintTile(canvas.getContext('2d') as OffscreenCanvasRenderingContext2D, scene, places, tile, colors)
  const picture = canvas.transferToImageBitmap()
  scope.postMessage({ id, picture }, [picture])
})
