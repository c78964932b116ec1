import { CachedTiles, type Picture } from './cached-tiles.ts'
import type { Box } from './geometry.ts'
import { PlanMover } from './mover.ts'
import { type Cover, coverOf, namesIn, overlaps, type PlacedName } from './names.ts'
import { type Cell, isInHall, nextAlong, type TileIndex, tileIndexOf, tilePx, tilesIn, tilesOf } from './tile-index.ts'
import {
  type Colors,
  colorsNow,
  isSameOutline,
  type Place,
  paintNames,
  paintTile,
  type Scene,
  type Tile,
} from './tile-paint.ts'
import type { TilePainter } from './tile-painter.ts'
import type { Size, View } from './view.ts'

/** While the size changes, tiles of the size before are shown. */
const settleMs = 90
const mostPixelsPerPx = 2
/** Tiles this far around the view are painted before they come into view, one in each frame. */
const aheadPx = 384
/** The canvas reaches at most this far beyond the view on each side. Within this distance it is moved, and not painted. */
const farthestPx = 384
const mostCanvasBytes = 32 * 1024 * 1024
/** Once the plan rests, the canvas is painted anew around the view. */
const restMs = 150
const aheadEveryMs = 16
/** For dragging to and fro, twice as many tiles as lie in the view and around it are cached, within this memory. */
const keptTimes = 2
const keptBytes = 64 * 1024 * 1024

type Needs = {
  readonly canvas: HTMLCanvasElement
  /** Holds the canvas and everything else that moves with the plan. */
  readonly stage: HTMLElement
  /** Puts everything else on the stage at its place in this view; seldom called while the plan is moved. */
  readonly lay: (base: View) => void
}

/**
 * Paints the plan from cached tiles on a canvas that is larger than the view. So moving the plan moves the stage with the canvas,
 * and an event paints only the tiles of its slot.
 */
export class PlanTiles {
  readonly #canvas: HTMLCanvasElement
  readonly #mover: PlanMover
  readonly #lay: Needs['lay']
  readonly #context: CanvasRenderingContext2D
  readonly #dark = matchMedia('(prefers-color-scheme: dark)')
  #colors: Colors
  #scene: Scene | undefined
  #view: View = { x: 0, y: 0, scale: 1 }
  /** Last movement in pixels: the next tiles come into view on the other side. */
  #way = { x: 0, y: 0 }
  #size: Size = { width: 0, height: 0 }
  readonly #tiles = new CachedTiles()
  /** Finds the places that reach into a tile; undefined: not yet known. */
  #index: TileIndex | undefined
  /** Pixels of a unit in the cached tiles. */
  #tileScale = 0
  #perPx = 1
  /** The view that the canvas was painted for, the tiles on it, and its reach beyond the view. Undefined: it must be painted. */
  #base: View | undefined
  readonly #on = new Set<string>()
  #reachPx = 0
  #cover: Cover | undefined
  /** The names on the canvas. */
  #names: readonly PlacedName[] = []
  #namesDue = new Set<PlacedName>()
  #isLayDue = true
  #rest = 0
  #frame = 0
  #settle = 0
  #ahead = 0
  /** Columns and rows around the view of which no tile is missing; empty: some may be. */
  #whole = ''
  /** Paints ahead; undefined until something is to be painted so, and where it cannot. */
  #painter: Promise<TilePainter | undefined> | undefined
  /** The tile that it paints now, unless that has changed meanwhile. */
  #wanted: string | undefined
  #isStopped = false

  constructor({ canvas, stage, lay }: Needs) {
    this.#canvas = canvas
    this.#mover = new PlanMover(stage)
    this.#lay = lay
    this.#context = contextOf(canvas)
    this.#colors = colorsNow()
    this.#dark.addEventListener('change', this.#recolor)
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#settle)
    clearTimeout(this.#ahead)
    clearTimeout(this.#rest)
    this.#isStopped = true
    void this.#painter?.then((painter) => painter?.stop())
    this.#mover.stop()
    this.#dark.removeEventListener('change', this.#recolor)
  }

  /** Shows a scene. When the places are the same, only the tiles of those with a new state are painted again. */
  show(scene: Scene): void {
    const before = this.#scene
    this.#scene = scene
    if (before?.places.length !== scene.places.length || before.hall !== scene.hall) this.#cover = undefined
    if (!before || before.hall !== scene.hall || before.grounds !== scene.grounds) this.#clear()
    else if (before.places.length !== scene.places.length) this.#clear()
    else
      for (const [index, place] of scene.places.entries()) {
        const old = before.places[index]
        if (old === place) continue
        if (!old || !isSameOutline(old, place)) {
          this.#cover = undefined
          this.#clear()
          break
        }
        if (old.status !== place.status || old.isOdd !== place.isOdd) this.#drop(place.box)
      }
    this.#soon()
  }

  /** Shows a view at the next frame. */
  draw(view: View, size: Size): void {
    const { x, y, scale } = this.#view
    if (scale === view.scale && (x !== view.x || y !== view.y)) this.#way = { x: view.x - x, y: view.y - y }
    this.#view = view
    this.#size = size
    this.#soon()
  }

  /** Places everything else on the stage again at the next frame. */
  layAgain(): void {
    this.#isLayDue = true
    this.#soon()
  }

  readonly #recolor = (): void => {
    this.#colors = colorsNow()
    this.#clear()
    this.#soon()
  }

  #soon(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      this.#paint()
    })
  }

  #paint(): void {
    const scene = this.#scene
    const { width } = this.#size
    if (!scene || width === 0) return
    this.#fit()
    const view = this.#view
    const isOtherSize = view.scale !== this.#tileScale
    if (isOtherSize && !this.#canStretch(view)) this.#begin(view.scale)
    else if (isOtherSize) {
      clearTimeout(this.#settle)
      this.#settle = window.setTimeout(() => {
        this.#begin(this.#view.scale)
        this.#soon()
      }, settleMs)
    }
    if (!this.#isOnCanvas(view)) this.#paintAll(scene, view)
    this.#paintMissing(scene, view)
    this.#move(view)
    if (view.scale !== this.#tileScale) return
    this.#paintAhead()
    clearTimeout(this.#rest)
    if (this.#base !== view) this.#rest = window.setTimeout(this.#paintAround, restMs)
  }

  /** Says whether the view lies on the canvas as it is painted. */
  #isOnCanvas({ x, y, scale }: View): boolean {
    const base = this.#base
    if (base?.scale !== scale) return false
    return Math.max(Math.abs(x - base.x), Math.abs(y - base.y)) <= this.#reachPx
  }

  readonly #paintAround = (): void => {
    this.#base = undefined
    this.#soon()
  }

  /** Paints the cached tiles around the view; tiles of another size are stretched. */
  #paintAll(scene: Scene, view: View): void {
    const { width, height } = this.#size
    const reach = this.#reachPx
    const context = this.#context
    context.setTransform(this.#perPx, 0, 0, this.#perPx, reach * this.#perPx, reach * this.#perPx)
    context.clearRect(-reach, -reach, width + 2 * reach, height + 2 * reach)
    // Pixels are copied one by one, unless tiles of another size are stretched.
    context.imageSmoothingEnabled = view.scale !== this.#tileScale
    this.#base = view
    this.#isLayDue = true
    this.#cover ??= coverOf(
      scene.places.map(({ box }) => box),
      scene.hall.unit,
    )
    this.#names = namesIn(scene.grounds, view, this.#size, this.#cover)
    this.#namesDue = new Set(this.#names)
    this.#on.clear()
    const around = { x: view.x + reach, y: view.y + reach, scale: view.scale }
    const size = { width: width + 2 * reach, height: height + 2 * reach }
    for (const [column, row] of tilesIn(around, size, this.#sidePx())) {
      const key = `${column} ${row}`
      const tile = this.#tiles.get(key)
      if (tile) this.#put(key, tile, column, row)
    }
  }

  /** Paints tiles in view that are not on the canvas yet. */
  #paintMissing(scene: Scene, view: View): void {
    for (const [column, row] of tilesIn(view, this.#size, this.#sidePx())) {
      const key = `${column} ${row}`
      if (!this.#on.has(key)) this.#put(key, this.#tile(scene, column, row), column, row)
    }
    if (this.#namesDue.size === 0) return
    paintNames(this.#context, this.#namesDue, this.#colors)
    this.#namesDue.clear()
  }

  /** Puts a tile on the canvas, where it lies on it: each change of it is copied as a whole. */
  #put(key: string, tile: Picture, column: number, row: number): void {
    const base = this.#base
    if (!base) return
    const side = this.#sidePx()
    const at = (offset: number) => Math.round(offset * this.#perPx) / this.#perPx
    const [x, y] = [at(base.x + column * side), at(base.y + row * side)]
    const reach = this.#reachPx
    const { width, height } = this.#size
    if (x >= width + reach || y >= height + reach || x + side <= -reach || y + side <= -reach) return
    this.#context.clearRect(x, y, side, side)
    this.#context.drawImage(tile, x, y, side, side)
    this.#on.add(key)
    const box = { x, y, width: side, height: side }
    for (const name of this.#names) if (overlaps(name, box)) this.#namesDue.add(name)
  }

  /** Side of a cached tile in the view. */
  #sidePx = (): number => (tilePx * this.#view.scale) / this.#tileScale

  /** Moves the stage by whole pixels of the screen, so that it stays sharp. */
  #move({ x, y }: View): void {
    if (!this.#base) return
    if (this.#isLayDue) this.#lay(this.#base)
    this.#isLayDue = false
    const by = (offset: number) => Math.round(offset * this.#perPx) / this.#perPx
    this.#mover.to(by(x - this.#base.x), by(y - this.#base.y))
  }

  /** Fits the canvas to the screen. */
  #fit(): void {
    const perPx = Math.min(devicePixelRatio || 1, mostPixelsPerPx)
    const { width, height } = this.#size
    if (perPx !== this.#perPx) {
      this.#clear()
      this.#tiles.forgetSpare()
    }
    this.#perPx = perPx
    const reach = reachOf(this.#size, perPx)
    const [across, down] = [Math.round((width + 2 * reach) * perPx), Math.round((height + 2 * reach) * perPx)]
    if (this.#canvas.width === across && this.#canvas.height === down && reach === this.#reachPx) return
    this.#reachPx = reach
    this.#base = undefined
    Object.assign(this.#canvas, { width: across, height: down })
    const px = (length: number) => `${length}px`
    const [left, top] = [px(-reach), px(-reach)]
    Object.assign(this.#canvas.style, { left, top, width: px(across / perPx), height: px(down / perPx) })
  }

  /** Whether the cached tiles cover the view at another size, without looking too coarse. */
  #canStretch(view: View): boolean {
    const ratio = view.scale / this.#tileScale
    if (this.#tiles.size === 0 || !(ratio > 0.5 && ratio < 2)) return false
    return tilesIn(view, this.#size, tilePx * ratio).every(([column, row]) => this.#tiles.has(`${column} ${row}`))
  }

  #begin(scale: number): void {
    clearTimeout(this.#settle)
    this.#tileScale = scale
    this.#clear()
  }

  #drop(box: Box): void {
    const keys = tilesOf(box, this.#tileScale)
    if (!keys) this.#wanted = undefined
    for (const key of keys ?? [...this.#tiles.keys(), ...this.#on]) {
      this.#remove(key)
      this.#on.delete(key)
    }
  }

  #tile(scene: Scene, column: number, row: number): Picture {
    const key = `${column} ${row}`
    const known = this.#tiles.use(key)
    if (known) return known
    const tile = this.#tiles.blank(tilePx * this.#perPx)
    const context = contextOf(tile)
    paintTile(context, scene, this.#placesIn(scene, column, row), this.#tileAt(column, row), this.#colors)
    this.#keep(key, tile)
    return tile
  }

  #placesIn(scene: Scene, column: number, row: number): Place[] {
    this.#index ??= tileIndexOf(
      scene.places.map(({ box }) => box),
      this.#tileScale,
    )
    return this.#index(column, row).flatMap((index) => scene.places[index] ?? [])
  }

  #tileAt = (column: number, row: number): Tile => ({ column, row, scale: this.#tileScale, perPx: this.#perPx })

  #keep(key: string, tile: Picture): void {
    this.#tiles.set(key, tile)
    const [oldest] = this.#tiles.keys()
    if (this.#tiles.size > this.#mostTiles() && oldest !== undefined) this.#remove(oldest)
  }

  #mostTiles(): number {
    const [across = 0, down = 0] = [this.#size.width, this.#size.height].map(
      (px) => Math.ceil((px + 2 * aheadPx) / tilePx) + 1,
    )
    const room = Math.floor(keptBytes / (4 * (tilePx * this.#perPx) ** 2))
    return Math.max(across * down, Math.min(keptTimes * across * down, room))
  }

  #remove(key: string): void {
    this.#tiles.remove(key)
    this.#whole = ''
    if (this.#wanted === key) this.#wanted = undefined
  }

  /** Drops the painted tiles and the index of the places. */
  #clear(): void {
    for (const key of this.#tiles.keys()) this.#remove(key)
    this.#wanted = undefined
    this.#whole = ''
    this.#index = undefined
    this.#base = undefined
  }

  /** Has one tile around the view painted that is missing, between two frames. */
  #paintAhead(): void {
    if (this.#ahead !== 0 || this.#whole === this.#around()) return
    this.#ahead = window.setTimeout(() => {
      const scene = this.#scene
      const cell = scene && this.#missingAround(scene)
      if (!scene || !cell) {
        this.#ahead = 0
        if (scene && this.#view.scale === this.#tileScale) this.#whole = this.#around()
        return
      }
      void this.#paintCell(scene, cell).then(() => {
        this.#ahead = 0
        if (!this.#isStopped) this.#paintAhead()
      })
    }, aheadEveryMs)
  }

  /** Names the columns and rows that are painted ahead of this view. */
  #around(): string {
    const { x, y } = this.#view
    const { width, height } = this.#size
    return [-x - aheadPx, width - x + aheadPx, -y - aheadPx, height - y + aheadPx]
      .map((px) => Math.floor(px / tilePx))
      .join(' ')
  }

  #missingAround(scene: Scene): Cell | undefined {
    const view = this.#view
    if (view.scale !== this.#tileScale) return undefined
    const around = { x: view.x + aheadPx, y: view.y + aheadPx, scale: view.scale }
    const size = { width: this.#size.width + 2 * aheadPx, height: this.#size.height + 2 * aheadPx }
    const isMissing = ([column, row]: Cell) =>
      !this.#tiles.has(`${column} ${row}`) && isInHall(scene.hall, view.scale, column, row)
    return nextAlong(tilesIn(around, size, tilePx).filter(isMissing), view, this.#size, this.#way)
  }

  /** Has a worker paint a tile, or the page where there is no worker. A tile that has changed meanwhile is dropped. */
  async #paintCell(scene: Scene, [column, row]: Cell): Promise<void> {
    const key = `${column} ${row}`
    this.#wanted = key
    this.#painter ??= import('./tile-painter.ts').then(({ TilePainter }) => new TilePainter()).catch(() => undefined)
    const painter = await this.#painter
    if (this.#wanted !== key) return
    const places = this.#placesIn(scene, column, row)
    const picture = await painter?.paint(scene, places, this.#tileAt(column, row), this.#colors).catch(() => undefined)
    const isWanted = this.#wanted === key && !this.#tiles.has(key) && !this.#isStopped
    if (isWanted && picture) this.#keep(key, picture)
    else picture?.close()
    if (isWanted) this.#put(key, this.#tile(scene, column, row), column, row)
    this.#wanted = undefined
  }
}

/** Returns how far the canvas reaches over a view of this size, so that its pixels take no more memory than they may. */
function reachOf({ width, height }: Size, perPx: number): number {
  let reach = farthestPx
  while (reach > 48 && (width + 2 * reach) * (height + 2 * reach) * 4 * perPx ** 2 > mostCanvasBytes) reach /= 2
  return reach
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d')
  if (!context) throw new Error('a canvas has no 2D context')
  return context
}
