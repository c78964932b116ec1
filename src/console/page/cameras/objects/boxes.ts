export type Size = { readonly width: number; readonly height: number }

/** Something that was found: its place in shares of the picture (0 to 1), and how sure the model is (0 to 1). */
export type Box = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly label: string
  readonly share: number
}

/** Facts of the model that are needed to read its answers. */
export type ModelFacts = Size & { readonly layout: 'columns' | 'rows'; readonly labels: readonly string[] | null }

export type Limits = { readonly confidenceThreshold: number; readonly maxDetections: number }

/** Answer of a model: the sizes of its tensor, and its numbers row by row. */
export type Answer = { readonly sizes: readonly number[]; readonly values: Float32Array }

export type Fit = { readonly scale: number; readonly left: number; readonly top: number }

/** Says how a picture is put into the input of a model: as large as it fits, in the middle, undistorted. Pure. */
export function fitInto(picture: Size, input: Size): Fit {
  const scale = Math.min(input.width / picture.width, input.height / picture.height)
  return {
    scale,
    left: (input.width - picture.width * scale) / 2,
    top: (input.height - picture.height * scale) / 2,
  }
}

type Candidate = { left: number; top: number; right: number; bottom: number; share: number; kind: number }

/** When two boxes of one class share more than this part of their area, only the surer one counts. */
const mostOverlap = 0.45
/** Comparing all with all takes the square of it. */
const mostCandidates = 1000

/** Reads the boxes of a model's answer, the surest first. Pure. Throws RangeError when the answer has another shape. */
export function boxesOf(answer: Answer, model: ModelFacts, picture: Size, limits: Limits): Box[] {
  const read = model.layout === 'rows' ? readRows : readColumns
  const sure = read(answer, limits.confidenceThreshold)
    .toSorted((a, b) => b.share - a.share)
    .slice(0, mostCandidates)
  const apart = model.layout === 'rows' ? sure : withoutRepeats(sure)
  const { scale, left, top } = fitInto(picture, model)
  const across = (value: number) => within((value - left) / scale / picture.width)
  const down = (value: number) => within((value - top) / scale / picture.height)
  return apart
    .map(({ share, kind, ...edges }) => {
      const [x, y] = [across(edges.left), down(edges.top)]
      const [width, height] = [across(edges.right) - x, down(edges.bottom) - y]
      return { x, y, width, height, share, label: model.labels?.[kind] ?? `#${kind}` }
    })
    .filter(({ width, height }) => width > 0 && height > 0)
    .slice(0, limits.maxDetections)
}

const within = (share: number) => Math.min(1, Math.max(0, share))

/** [1, 4 + classes, n]: center, size, and a share for each class. */
function readColumns({ sizes: [, fields = 0, count = 0], values }: Answer, least: number): Candidate[] {
  if (fields < 5 || values.length !== fields * count) throw new RangeError('not [1, 4 + classes, n]')
  const found: Candidate[] = []
  for (let i = 0; i < count; i += 1) {
    let [share, kind] = [-1, 0]
    for (let field = 4; field < fields; field += 1) {
      const one = values[field * count + i] ?? 0
      if (one > share) [share, kind] = [one, field - 4]
    }
    if (!(share >= least)) continue
    const [x = 0, y = 0, width = 0, height = 0] = [0, 1, 2, 3].map((field) => values[field * count + i])
    found.push({ left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2, share, kind })
  }
  return found
}

/** [1, n, 6]: edges, share and class. */
function readRows({ sizes: [, count = 0, fields = 0], values }: Answer, least: number): Candidate[] {
  if (fields !== 6 || values.length !== fields * count) throw new RangeError('not [1, n, 6]')
  const found: Candidate[] = []
  for (let i = 0; i < values.length; i += 6) {
    const [left = 0, top = 0, right = 0, bottom = 0, share = 0, kind = 0] = values.subarray(i, i + 6)
    if (share >= least) found.push({ left, top, right, bottom, share, kind })
  }
  return found
}

/** Keeps the surest of boxes of one class that lie over each other. */
function withoutRepeats(sorted: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = []
  for (const one of sorted) {
    if (!kept.some((other) => other.kind === one.kind && overlapOf(one, other) > mostOverlap)) kept.push(one)
  }
  return kept
}

/** The part of their whole area that two boxes have in common. */
function overlapOf(one: Candidate, other: Candidate): number {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
  if (width <= 0 || height <= 0) return 0
  const area = (box: Candidate) => (box.right - box.left) * (box.bottom - box.top)
  return (width * height) / (area(one) + area(other) - width * height)
}

/** Returns the milliseconds to wait before the next picture, for at most `fps` pictures a second. Pure. */
export const restMs = (fps: number, startedMs: number, nowMs: number): number =>
  Math.max(0, 1000 / fps - (nowMs - startedMs))
