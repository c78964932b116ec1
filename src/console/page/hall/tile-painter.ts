import { startWorker } from '../kit/own-worker.ts'
import type { Colors, PaintedPlace, PaintedScene, Tile } from './tile-paint.ts'

export type TileJob = {
  readonly id: number
  readonly scene: PaintedScene
  readonly places: readonly PaintedPlace[]
  readonly tile: Tile
  readonly colors: Colors
}
export type PaintedTile = { readonly id: number; readonly picture: ImageBitmap }

/** Has tiles of the plan painted by a worker, one after the other. */
export class TilePainter {
  readonly #worker = startWorker('tiles')
  #id = 0
  #isBroken = false
  #waits = new Map<number, { resolve(picture: ImageBitmap): void; reject(error: Error): void }>()

  constructor() {
    this.#worker.onmessage = ({ data: { id, picture } }: MessageEvent<PaintedTile>) => {
      this.#waits.get(id)?.resolve(picture)
      this.#waits.delete(id)
    }
    this.#worker.onerror = ({ message }) => {
      this.#isBroken = true
      for (const { reject } of this.#waits.values()) reject(new Error(message || 'worker'))
      this.#waits.clear()
    }
  }

  /** Resolves with the picture of a tile. Rejects where the worker cannot paint. */
  paint(
    { grounds, hall }: PaintedScene,
    places: readonly PaintedPlace[],
    tile: Tile,
    colors: Colors,
  ): Promise<ImageBitmap> {
    this.#id += 1
    const id = this.#id
    const scene = { hall: { unit: hall.unit }, grounds }
    // Only what is painted: a slot has much besides.
    const slim = places.map(({ slot: { slot_id, floor_plan_polygon }, box, middle, status, color, isOdd }) => {
      return { slot: { slot_id, floor_plan_polygon }, box, middle, status, color, isOdd }
    })
    if (this.#isBroken) return Promise.reject(new Error('worker'))
    return new Promise((resolve, reject) => {
      this.#waits.set(id, { resolve, reject })
      this.#worker.postMessage({ id, scene, places: slim, tile, colors } satisfies TileJob)
    })
  }

  stop(): void {
    this.#worker.terminate()
  }
}
