/** A tile as the page painted it, or a worker. */
export type Picture = HTMLCanvasElement | ImageBitmap

/** Painted tiles by column and row. Those that were in view last are last. */
export class CachedTiles {
  readonly #tiles = new Map<string, Picture>()
  /** Tiles that are painted again: a canvas costs more to make than to paint. */
  #spare: HTMLCanvasElement[] = []

  get size(): number {
    return this.#tiles.size
  }

  has(key: string): boolean {
    return this.#tiles.has(key)
  }

  get(key: string): Picture | undefined {
    return this.#tiles.get(key)
  }

  keys(): Iterable<string> {
    return this.#tiles.keys()
  }

  set(key: string, tile: Picture): void {
    this.#tiles.set(key, tile)
  }

  /** Returns a tile, which is then the last one. */
  use(key: string): Picture | undefined {
    const tile = this.#tiles.get(key)
    if (!tile) return undefined
    this.#tiles.delete(key)
    this.#tiles.set(key, tile)
    return tile
  }

  remove(key: string): void {
    const tile = this.#tiles.get(key)
    if (tile instanceof ImageBitmap) tile.close()
    else if (tile) this.#spare.push(tile)
    this.#tiles.delete(key)
  }

  /** Returns a tile to paint, in pixels of the screen. It is not cached yet. */
  blank(side: number): HTMLCanvasElement {
    return this.#spare.pop() ?? Object.assign(document.createElement('canvas'), { width: side, height: side })
  }

  /** The next tiles have another side. */
  forgetSpare(): void {
    this.#spare = []
  }
}
