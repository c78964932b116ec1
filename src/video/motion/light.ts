import { columns, type Picture, rows } from './grid.ts'

/** Hundredths of an octave of each brightness. */
const logs = Float32Array.from({ length: 256 }, (_, value) => 100 * Math.log2(Math.max(value, 1)))
/** Below this, noise would decide. */
const darkest = 16
const zero = 512

/** Returns by how much the middle one of all pixels has become brighter, as a factor; 1 when too few can be seen. */
export function medianGain(reference: Uint8Array, frame: Uint8Array): number {
  const counts = new Uint16Array(2 * zero)
  let count = 0
  // Every 13th pixel, by its green, so that no column is preferred.
  for (let at = 1; at < frame.length; at += 52) {
    const before = reference[at] ?? 0
    if (before < darkest) continue
    const ratio = Math.round((logs[frame[at] ?? 0] ?? 0) - (logs[before] ?? 0)) + zero
    counts[ratio] = (counts[ratio] ?? 0) + 1
    count += 1
  }
  let left = count / 2
  const middle = counts.findIndex((one) => {
    left -= one
    return left <= 0
  })
  return count > 100 && Math.abs(middle - zero) > 1 ? 2 ** ((middle - zero) / 100) : 1
}

/** Writes a picture with all colors multiplied into `into`. Both are RGBA, opaque, in words of 32 bits. */
export function brighten(picture: Uint32Array, gain: number, into: Uint32Array): void {
  const table = new Uint8ClampedArray(256)
  for (let value = 0; value < 256; value += 1) table[value] = value * gain
  for (let i = 0; i < picture.length; i += 1) {
    const color = picture[i] ?? 0
    const red = table[color & 255] ?? 0
    const green = table[(color >> 8) & 255] ?? 0
    const blue = table[(color >> 16) & 255] ?? 0
    into[i] = 0xff000000 | (blue << 16) | (green << 8) | red
  }
}

/** A cell with fewer changes than this decides nothing, in percent. */
const fewest = 5
/** Somebody has this many pixels of an edge in a cell. */
const edgePixels = 4

/**
 * A beam, such as of headlights, throws shadows, but fades at its border. The first number is its soft cells for each cell with
 * edges; people and vehicles have a fifth of that. The second is its cells of clear light.
 */
const beamSoftness = 0.75
const beamCells = 3
/** Things have edges at their border, such as a car that is as smooth as the road. A beam has at most this share of its edges there. */
const beamBorder = 0.5
/**
 * So many cells of light, clear or soft, are a beam too. Somebody close to the camera, or the side of a lorry, may look as soft
 * before a plain floor. Soft cells alone are a beam only if all become brighter and none of them has edges.
 */
const softBeamCells = 5
/** A cloud before the sun also makes darker. It has so many soft cells, a sixth of the picture, and none with edges: people have some. */
const cloudCells = 24

/** A weak change of less than this many times the noise is not judged. */
const leastChange = 4
/** Light leaves no more than noise, measured in a hundred pixels, and this share of the change unexplained. */
const noiseAtMost = 1.4
const unexplained = 0.06

/**
 * `soft` is a change of light that is only seen in the cell as a whole, and `softDarker` is one that makes it darker. A `weak`
 * change allows no conclusion.
 */
type Verdict = 'unchanged' | 'light' | 'soft' | 'softDarker' | 'weak' | 'edges'

type Comparison = {
  /** The difference of brightness that counts as a change. */
  readonly tone: number
  /** Changes were sought against the reference in other light. Where that light does not fall, there may be none. */
  readonly inOtherLight: boolean
}

/**
 * Takes back the changes of cells in which only the light has changed, and returns how many cells these are. Somebody who comes
 * brings edges. Light makes the place brighter or darker, and fades at its border. Weak changes that touch such a cell are its
 * border. A beam of light may have edges inside, where something throws a shadow.
 */
export function explainLight(
  reference: Uint8Array,
  frame: Uint8Array,
  changed: Uint8Array,
  { width, height }: Picture,
  comparison: Comparison,
): number {
  const [wide, high] = [width / columns, height / rows]
  const verdicts: Verdict[] = []
  for (let cell = 0; cell < changed.length; cell += 1) {
    if ((changed[cell] ?? 0) < fewest) {
      verdicts.push('unchanged')
      continue
    }
    const left = Math.ceil((cell % columns) * wide)
    const top = Math.ceil(Math.floor(cell / columns) * high)
    const box = { left, top, right: Math.floor(left + wide), bottom: Math.floor(top + high) }
    const verdict = judge(reference, frame, width, box, comparison)
    if (verdict === 'unchanged') changed[cell] = 0
    verdicts.push(verdict)
  }
  for (const patch of patchesOf(verdicts)) {
    if (isBeam(patch)) for (const cell of patch.cells) verdicts[cell] = 'light'
  }
  return takeBack(changed, verdicts)
}

function isBeam({ cells, edges, borderEdges, soft, darker, weak }: Patch): boolean {
  if (borderEdges > beamBorder * edges) return false
  const light = cells.length - edges
  if (light + weak < beamSoftness * edges) return false
  const clear = light - soft - darker
  const addsLight = edges === 0 && darker === 0
  const isCloud = edges === 0 && light >= cloudCells
  return clear >= beamCells || isCloud || (light >= softBeamCells && (clear > 0 || addsLight))
}

/** Clears cells of light, the weak changes that touch them, and those that touch these. Returns how many cells it cleared. */
function takeBack(changed: Uint8Array, verdicts: Verdict[]): number {
  const waiting: number[] = []
  for (let cell = 0; cell < verdicts.length; cell += 1) if (verdicts[cell] === 'light') waiting.push(cell)
  let count = 0
  for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
    changed[cell] = 0
    count += 1
    for (const near of neighbours(cell)) {
      const verdict = verdicts[near]
      if (verdict !== 'weak' && verdict !== 'soft' && verdict !== 'softDarker') continue
      verdicts[near] = 'light'
      waiting.push(near)
    }
  }
  return count
}

/**
 * Cells that touch each other, with counts: cells with edges, and those of them that touch an unchanged cell. Soft cells, by whether
 * they are darker. Weak cells that touch one of these.
 */
type Patch = {
  readonly cells: readonly number[]
  readonly edges: number
  readonly borderEdges: number
  readonly soft: number
  readonly darker: number
  readonly weak: number
}

/** Returns the patches in which there are edges or soft changes. */
function patchesOf(verdicts: readonly Verdict[]): Patch[] {
  const seen = new Set<number>()
  const patches: Patch[] = []
  for (let first = 0; first < verdicts.length; first += 1) {
    const verdict = verdicts[first]
    if (verdict === 'unchanged' || verdict === 'light' || verdict === 'weak' || seen.has(first)) continue
    const cells = [first]
    const weak = new Set<number>()
    const border = new Set<number>()
    seen.add(first)
    // Grows while it is walked.
    for (const cell of cells) {
      for (const near of neighbours(cell)) {
        if (verdicts[near] === 'weak') weak.add(near)
        if (verdicts[near] === 'unchanged' && verdicts[cell] === 'edges') border.add(cell)
        if (verdicts[near] === 'weak' || verdicts[near] === 'unchanged' || seen.has(near)) continue
        seen.add(near)
        cells.push(near)
      }
    }
    const count = (kind: Verdict) => cells.filter((cell) => verdicts[cell] === kind).length
    const kinds = { edges: count('edges'), soft: count('soft'), darker: count('softDarker') }
    patches.push({ cells, ...kinds, borderEdges: border.size, weak: weak.size })
  }
  return patches
}

function neighbours(cell: number): number[] {
  const [column, row] = [cell % columns, Math.floor(cell / columns)]
  const near: number[] = []
  for (let r = Math.max(row - 1, 0); r <= Math.min(row + 1, rows - 1); r += 1) {
    for (let c = Math.max(column - 1, 0); c <= Math.min(column + 1, columns - 1); c += 1) near.push(r * columns + c)
  }
  return near
}

type Box = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number }

/** Says whether a clear change of a box is one of light: the same everywhere but for soft slopes. */
function judge(
  reference: Uint8Array,
  frame: Uint8Array,
  width: number,
  box: Box,
  { tone, inOtherLight }: Comparison,
): Verdict {
  const { gain, most } = changeOf(reference, frame, width, box)
  // In a weak change, single pixels cannot be distinguished from noise.
  if (most < Math.max(12, 4 * tone))
    return judgeWeak(reference, frame, width, box, { gain, noise: (tone / 2) ** 2, inOtherLight })
  const edge = Math.max(0.4 * most, 2 * tone)
  let edges = 0
  for (let y = box.top; y < box.bottom - 2; y += 1) {
    for (let x = box.left; x < box.right - 2; x += 1) {
      const at = 4 * (y * width + x) + 1
      const below = at + 8 * width
      const here = (frame[at] ?? 0) - gain * (reference[at] ?? 0)
      const across = (frame[at + 8] ?? 0) - gain * (reference[at + 8] ?? 0) - here
      const down = (frame[below] ?? 0) - gain * (reference[below] ?? 0) - here
      if (across > edge || across < -edge || down > edge || down < -edge) edges += 1
    }
  }
  return edges < edgePixels ? 'light' : 'edges'
}

/**
 * Says whether a factor that changes evenly over a box explains a weak change. Light keeps the texture of a surface (Skifstad and
 * Jain, Illumination independent change detection for real world image sequences, 1989).
 * @param noise the variance of the difference of two pixels that show the same
 */
function judgeWeak(
  reference: Uint8Array,
  frame: Uint8Array,
  width: number,
  { left, top, right, bottom }: Box,
  { gain, noise, inOtherLight }: { gain: number; noise: number; inOtherLight: boolean },
): Verdict {
  const [wide, high] = [right - left, bottom - top]
  let [change, rest, across, down] = [0, 0, 0, 0]
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const at = 4 * (y * width + x) + 1
      const before = reference[at] ?? 0
      const now = frame[at] ?? 0
      const more = now - gain * before
      change += (now - before) ** 2
      rest += more ** 2
      across += more * (x - left - (wide - 1) / 2)
      down += more * (y - top - (high - 1) / 2)
    }
  }
  const pixels = wide * high
  if (inOtherLight && change <= noiseAtMost * noise * pixels) return 'unchanged'
  if (change < leastChange * noise * pixels) return 'weak'
  // So much of the rest is explained by one slope across and one down, by least squares.
  const slopes = (12 / pixels) * (across ** 2 / (wide ** 2 - 1) + down ** 2 / (high ** 2 - 1))
  if (rest - slopes > noiseAtMost * noise * pixels + unexplained * change) return 'edges'
  return gain > 1 ? 'soft' : 'softDarker'
}

/** Returns the factor by which the green of a box has changed, and the largest difference. */
function changeOf(reference: Uint8Array, frame: Uint8Array, width: number, box: Box): { gain: number; most: number } {
  let before = 0
  let now = 0
  let most = 0
  for (let y = box.top; y < box.bottom; y += 1) {
    for (let x = box.left; x < box.right; x += 1) {
      const at = 4 * (y * width + x) + 1
      const a = reference[at] ?? 0
      const b = frame[at] ?? 0
      before += a
      now += b
      if (b - a > most) most = b - a
      else if (a - b > most) most = a - b
    }
  }
  return { gain: now / Math.max(before, 1), most }
}
