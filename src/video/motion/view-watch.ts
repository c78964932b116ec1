import { frameSize, framesPerSecond } from '../decoding/frames.ts'

/**
 * State of a camera's whole picture.
 * - `light`: its light has just changed.
 * - `covered`: the picture has lost its detail: a cover, dirt, no focus, or darkness.
 * - `turned`: it shows another place.
 * - `still`: every frame is the same, bit by bit.
 */
export const sceneStates = ['normal', 'light', 'covered', 'turned', 'still'] as const
export type SceneState = (typeof sceneStates)[number]

/** Result of one look at the view. Null: it is not known, because the view is being learned, or too dark to be compared. */
export type View = 'normal' | 'covered' | 'turned' | null

/** Frames between two looks at the view: one second. */
export const lookEvery = framesPerSecond
/** Looks that the view is learned from before it is compared. */
const learnLooks = 20
/** A view must look wrong, or right again, for this many looks in a row. */
const wrongLooks = 10
const rightLooks = 5
/** The first looks of a connection say nothing: a camera that starts adjusts its exposure and focus. */
const settlingLooks = 5
/** Share of the usual detail below which a picture is covered. */
const leastDetail = 0.08
/**
 * A hall without light keeps the traces of its detail, dimmed as all of it. So much of the trace must be alike, and the detail must
 * be at least this share of the detail expected at this brightness. A cover has other traces or none, and blurs them.
 */
const darkAlike = 0.1
const darkDetail = 0.3
/** Where so much of the learned edges is still there, new things are before it, such as cars on a plain road. */
const mostKept = 0.5
/** How alike two views are, from -1 to 1: below the first a camera is turned, above the second it looks the same. */
const turnedBelow = 0.3
const sameAbove = 0.4
/** A new view is accepted when it has stayed this long, in looks: half an hour. */
export const acceptLooks = 1800
/** The view follows slow changes, such as goods that come and go: this much with each look. */
const following = 1 / 600

const width = frameSize.width / 2
const height = frameSize.height / 2
/** Differences of brightness that may be noise, and from which on all count alike. */
const [noiseTone, mostTone] = [5, 40]

type LearnedView = { readonly edges: Float32Array; readonly tones: Float32Array; looks: number }

/**
 * Watches whether a camera still shows the same view, by its edges, which stay in place when the light changes. Time is counted in
 * frames. Learning lasts 20 s; a turned camera is accepted after half an hour of the new view, or at once by `accept`. A covered
 * one never is by time.
 */
export class ViewWatch {
  // Both are filled again with each look.
  readonly #tones = new Float32Array(width * height)
  readonly #edges = new Float32Array(2 * width * height)
  #frames = 0
  #learned = newView()
  #candidate: LearnedView | undefined
  #state: 'normal' | 'covered' | 'turned' = 'normal'
  #seen: View = null
  #settling = 0
  /** Number of the frame from which on the view has been so. */
  #sinceFrame = 0
  #wrong = 0
  #right = 0

  get state(): 'normal' | 'covered' | 'turned' {
    return this.#state
  }

  /** Result of the newest look, without waiting for others. */
  get seen(): View {
    return this.#seen
  }

  /**
   * Frames that have come since the view has been so: a wrong one since the last right look, and a right one since the first.
   */
  get sinceFrames(): number {
    return this.#frames - this.#sinceFrame
  }

  /** Forgets the view: the present one is learned and accepted. */
  accept(): void {
    this.#learned = newView()
    this.#seen = null
    this.#become('normal', 0)
  }

  /** Another connection begins; its first looks find nothing. */
  reconnect(): void {
    this.#seen = null
    this.#settling = settlingLooks
  }

  /** Takes a frame. `frames`: how many would have come since the one before, if they had been decoded. */
  push(frame: Uint8Array, frames = 1): void {
    const looks = Math.floor((this.#frames + frames) / lookEvery) - Math.floor(this.#frames / lookEvery)
    this.#frames += frames
    if (looks > 0) this.#look(this.#edgesOf(frame), looks)
  }

  /**
   * Returns the slopes to the right and downward at each point of half the size, in proportion to the brightness there. Valid until
   * the next look.
   */
  #edgesOf(frame: Uint8Array): Float32Array {
    const tones = this.#tones
    const row = 4 * frameSize.width
    for (let i = 0; i < tones.length; i += 1) {
      const at = 2 * row * Math.floor(i / width) + 8 * (i % width) + 1
      tones[i] = ((frame[at] ?? 0) + (frame[at + 4] ?? 0) + (frame[at + row] ?? 0) + (frame[at + row + 4] ?? 0)) / 4
    }
    // The border stays zero.
    const edges = this.#edges
    for (let y = 1; y < height - 1; y += 1) {
      for (let x = 1; x < width - 1; x += 1) {
        const at = y * width + x
        const tone = tones[at] ?? 0
        edges[2 * at] = slope((tones[at + 1] ?? 0) - (tones[at - 1] ?? 0), tone)
        edges[2 * at + 1] = slope((tones[at + width] ?? 0) - (tones[at - width] ?? 0), tone)
      }
    }
    return edges
  }

  /** @param looks how many would have been made since the last one */
  #look(edges: Float32Array, looks: number): void {
    this.#settling = Math.max(this.#settling - looks, 0)
    if (this.#learned.looks < learnLooks) this.#follow(this.#learned, edges)
    else this.#compare(edges, looks)
  }

  #compare(edges: Float32Array, looks: number): void {
    const match = matchOf(edges, this.#learned.edges)
    const seen = this.#judge(match)
    const isDark = seen === 'covered' && isDimmed(this.#tones, this.#learned.tones)
    const isCrowded = seen === 'turned' && match.kept > mostKept
    this.#seen = this.#settling > 0 || isDark || isCrowded ? null : seen
    if (seen === 'normal' && match.alike > 0.5) this.#follow(this.#learned, edges, looks)
    this.#right = seen === 'normal' ? this.#right + 1 : 0
    this.#wrong = seen === 'normal' ? 0 : this.#wrong + 1
    if (this.#state !== 'normal' && this.#right >= rightLooks) this.#become('normal', rightLooks - 1)
    if (this.#wrong >= wrongLooks && seen !== 'normal') this.#become(seen, wrongLooks)
    if (this.#state === 'turned') this.#learnNew(edges)
  }

  #judge({ alike, detail, learnedDetail }: Match): 'normal' | 'covered' | 'turned' {
    if (detail < leastDetail * learnedDetail) return 'covered'
    const limit = this.#state === 'normal' ? turnedBelow : sameAbove
    return alike < limit ? 'turned' : 'normal'
  }

  /** Learns the view of a turned camera beside the old one, as long as it stays the same. */
  #learnNew(edges: Float32Array): void {
    const isSame = this.#candidate && matchOf(edges, this.#candidate.edges).alike > sameAbove
    if (!this.#candidate || !isSame) this.#candidate = newView()
    this.#follow(this.#candidate, edges)
    if (this.#candidate.looks < acceptLooks) return
    this.#learned = this.#candidate
    this.#become('normal', 0)
  }

  /** Learns the newest look, of which these are the edges. */
  #follow(view: LearnedView, edges: Float32Array, looks = 1): void {
    view.looks += 1
    const weight = Math.max(following * looks, 1 / view.looks)
    approach(view.edges, edges, weight)
    approach(view.tones, this.#tones, weight)
  }

  #become(state: 'normal' | 'covered' | 'turned', looksAgo: number): void {
    if (state !== this.#state) this.#sinceFrame = this.#frames - looksAgo * lookEvery
    this.#state = state
    this.#wrong = 0
    this.#right = 0
    if (state !== 'turned') this.#candidate = undefined
  }
}

function newView(): LearnedView {
  return { edges: new Float32Array(2 * width * height), tones: new Float32Array(width * height), looks: 0 }
}

function approach(values: Float32Array, seen: Float32Array, weight: number): void {
  for (let i = 0; i < seen.length; i += 1) values[i] = (values[i] ?? 0) + weight * ((seen[i] ?? 0) - (values[i] ?? 0))
}

/** Says whether `tones` show the learned ones in little light: the slopes between them are the same, dimmed as all of it. */
function isDimmed(tones: Float32Array, learned: Float32Array): boolean {
  let [product, now, before] = [0, 0, 0]
  let [light, learnedLight] = [0, 0]
  for (let i = 0; i < tones.length - width; i += 1) {
    light += tones[i] ?? 0
    learnedLight += learned[i] ?? 0
    for (const next of [i + 1, i + width]) {
      const a = (tones[next] ?? 0) - (tones[i] ?? 0)
      const b = (learned[next] ?? 0) - (learned[i] ?? 0)
      product += a * b
      now += a * a
      before += b * b
    }
  }
  const detail = product / (before || 1)
  return product > darkAlike * Math.sqrt(now * before) && detail > (darkDetail * light) / (learnedLight || 1)
}

function slope(difference: number, tone: number): number {
  if (Math.abs(difference) < noiseTone) return 0
  const relative = (128 * difference) / (tone + 16)
  return Math.max(-mostTone, Math.min(mostTone, relative))
}

/** How alike two views are, how much of the learned edges is still there, and how much detail each has. */
type Match = { readonly alike: number; readonly kept: number; readonly detail: number; readonly learnedDetail: number }

/** Compares in one pass: each second, for each camera, it is a good part of this thread's work while nothing moves. */
function matchOf(edges: Float32Array, learned: Float32Array): Match {
  let [product, detail, learnedDetail] = [0, 0, 0]
  for (let i = 0; i < edges.length; i += 1) {
    const a = edges[i] ?? 0
    const b = learned[i] ?? 0
    product += a * b
    detail += a * a
    learnedDetail += b * b
  }
  const alike = product / (Math.sqrt(detail * learnedDetail) || 1)
  return { alike, kept: product / (learnedDetail || 1), detail, learnedDetail }
}
