import { bytesIn, numberIn, textIn } from './onnx-fields.ts'

/** Form in which a model writes its boxes; see `readModel`. */
export type ModelLayout = 'columns' | 'rows'

export type ModelFacts = {
  /** Size of its input picture, in pixels. */
  readonly width: number
  readonly height: number
  readonly layout: ModelLayout
  /** Names of its classes, from its own metadata; null when it has none. */
  readonly labels: readonly string[] | null
}

/** The console cannot use a file as a model; the message says why. */
export class ModelFault extends Error {}

const usualSize = 640
const [leastSize, mostSize] = [32, 2048]
const float32 = 1

type Shape = { readonly name: string; readonly type: number | undefined; readonly sizes: readonly (number | null)[] }

/**
 * Reads the facts of an ONNX model that the console needs, and checks that it can use the model. Throws ModelFault.
 *
 * The model has one input, float32 [1, 3, height, width]: red, green, blue from 0 to 1. A size that it leaves open is 640. Its
 * first output has one of two forms:
 *
 * - `columns`, float32 [1, 4 + classes, n]: center, width and height of a box in input pixels, then a share for each class. YOLOv8
 *   and its successors export it.
 * - `rows`, float32 [1, n, 6]: left, top, right, bottom, share, class. Models that need no suppression export it.
 *
 * Its labels are in the metadata `names`, as {0: 'person', 1: 'car'}.
 */
export function readModel(bytes: Uint8Array): ModelFacts {
  try {
    const graph = bytesIn(bytes, onnx.model.graph).at(-1)
    if (!graph || numberIn(bytes, onnx.model.version) === undefined) throw new ModelFault('is no ONNX model')
    const { width, height } = inputOf(graph)
    return { width, height, layout: layoutOf(graph), labels: labelsOf(bytes) }
  } catch (error) {
    if (error instanceof RangeError) throw new ModelFault('is no ONNX model, or not all of one', { cause: error })
    throw error
  }
}

/** Numbers of fields in https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
const onnx = {
  model: { version: 1, graph: 7, metadata: 14 },
  graph: { initializer: 5, input: 11, output: 12 },
  tensor: { name: 8, location: 14 },
  value: { name: 1, type: 2 },
  type: { tensor: 1 },
  tensorType: { element: 1, shape: 2 },
  shape: { size: 1 },
  size: { value: 1 },
  entry: { key: 1, value: 2 },
} as const

function inputOf(graph: Uint8Array): { width: number; height: number } {
  const weights = bytesIn(graph, onnx.graph.initializer)
  if (weights.some((tensor) => numberIn(tensor, onnx.tensor.location) === 1)) {
    throw new ModelFault('keeps its weights in another file; export it as one file')
  }
  // Old exports list the weights among the inputs too.
  const known = new Set(weights.map((tensor) => textIn(tensor, onnx.tensor.name)))
  const inputs = bytesIn(graph, onnx.graph.input)
    .map(shapeOf)
    .filter(({ name }) => !known.has(name))
  const [input] = inputs
  const [count, channels, height, width] = input?.sizes ?? []
  const isPicture = inputs.length === 1 && input?.sizes.length === 4 && (count ?? 1) === 1 && (channels ?? 3) === 3
  if (!isPicture || input.type !== float32) {
    throw new ModelFault(`takes ${inputs.map(said).join(' and ')}; one input float32 [1, 3, height, width] is needed`)
  }
  const size = { width: width ?? usualSize, height: height ?? usualSize }
  if (Math.min(size.width, size.height) < leastSize || Math.max(size.width, size.height) > mostSize) {
    throw new ModelFault(
      `takes pictures of ${size.width} x ${size.height}; ${leastSize} to ${mostSize} pixels a side are possible`,
    )
  }
  return size
}

function layoutOf(graph: Uint8Array): ModelLayout {
  const [output] = bytesIn(graph, onnx.graph.output).map(shapeOf)
  const [count, second, third] = output?.sizes ?? []
  if (output?.type === float32 && output.sizes.length === 3 && (count ?? 1) === 1) {
    if (third === 6) return 'rows'
    if (typeof second === 'number' && second >= 5) return 'columns'
  }
  const what = output ? said(output) : 'nothing'
  throw new ModelFault(`answers ${what}; float32 [1, 4 + classes, n] or [1, n, 6] is needed`)
}

function shapeOf(value: Uint8Array): Shape {
  const tensor = bytesIn(value, onnx.value.type).flatMap((type) => bytesIn(type, onnx.type.tensor))[0]
  const shape = tensor && bytesIn(tensor, onnx.tensorType.shape)[0]
  const sizes = shape ? bytesIn(shape, onnx.shape.size).map((size) => numberIn(size, onnx.size.value) ?? null) : []
  const type = tensor && numberIn(tensor, onnx.tensorType.element)
  return { name: textIn(value, onnx.value.name), type, sizes }
}

const said = ({ type, sizes }: Shape): string =>
  `${type === float32 ? 'float32' : `elements of type ${type ?? 'unknown'}`} [${sizes.map((size) => size ?? '?').join(', ')}]`

/** Reads the metadata `names`, a dictionary as Python writes it. */
function labelsOf(model: Uint8Array): string[] | null {
  const entry = bytesIn(model, onnx.model.metadata).find((one) => textIn(one, onnx.entry.key) === 'names')
  if (!entry) return null
  const labels: string[] = []
  const pairs = textIn(entry, onnx.entry.value).matchAll(/(\d{1,4})\s*:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)
  for (const [, n, single, double] of pairs) labels[Number(n)] = (single ?? double ?? '').replaceAll(/\\(.)/g, '$1')
  return labels.length === 0 ? null : Array.from(labels, (label, n) => label ?? String(n))
}
