/**
 * ONNX models made here, byte by byte, for tests of the object detection: they find what is bright. The picture is 64 by 64
 * pixels in 8 by 8 cells; a cell's share is its mean brightness.
 */
export const modelSize = 64
const cells = 8
const cellSize = modelSize / cells
const count = cells * cells

type Part = Buffer

const varint = (value: number): Part => {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : (rest % 128) + 128)
    if (rest < 128) return Buffer.from(bytes)
  }
}
const number = (field: number, value: number): Part => Buffer.concat([varint(field * 8), varint(value)])
const bytes = (field: number, value: Buffer | string): Part => {
  const content = Buffer.from(value as string)
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content])
}
const message = (field: number, ...parts: readonly Part[]): Part => bytes(field, Buffer.concat(parts))

const float32 = 1
const int64 = 7

function tensor(name: string, type: number, sizes: readonly number[], values: readonly number[]): Part {
  const raw =
    type === int64
      ? Buffer.from(BigInt64Array.from(values, BigInt).buffer)
      : Buffer.from(Float32Array.from(values).buffer)
  return message(5, ...sizes.map((size) => number(1, size)), number(2, type), bytes(8, name), bytes(9, raw))
}

function value(field: number, name: string, sizes: readonly (number | string)[], type = float32): Part {
  const shape = sizes.map((size) => message(1, typeof size === 'number' ? number(1, size) : bytes(2, size)))
  return message(field, bytes(1, name), message(2, message(1, number(1, type), message(2, ...shape))))
}

const node = (operator: string, inputs: readonly string[], output: string, ...attributes: readonly Part[]): Part =>
  message(1, ...inputs.map((input) => bytes(1, input)), bytes(2, output), bytes(4, operator), ...attributes)
const wholeNumbers = (name: string, values: readonly number[]): Part =>
  message(5, bytes(1, name), ...values.map((one) => number(8, one)), number(20, 7))
const wholeNumber = (name: string, one: number): Part => message(5, bytes(1, name), number(3, one), number(20, 2))

export type ModelShape = {
  readonly input?: readonly (number | string)[]
  readonly output?: readonly (number | string)[]
  readonly inputType?: number
  readonly names?: string
  /** Says that its weights are in another file. */
  readonly isSplit?: boolean
}

/** A model with the layout `columns`: float32 [1, 5, 64], one class. The options change what it says of itself. */
export function brightModel(said: ModelShape = {}): Buffer {
  const centres = Array.from({ length: count }, (_, i) => [
    (i % cells) * cellSize + 4,
    Math.floor(i / cells) * cellSize + 4,
  ])
  const boxes = [
    ...centres.map(([x = 0]) => x),
    ...centres.map(([, y = 0]) => y),
    ...Array.from({ length: 2 * count }, () => cellSize),
  ]
  const mean = Array.from({ length: 3 * cellSize ** 2 }, () => 1 / (3 * cellSize ** 2))
  const graph = message(
    7,
    node('Conv', ['images', 'mean'], 'cells', wholeNumbers('strides', [cellSize, cellSize])),
    node('Reshape', ['cells', 'flat'], 'shares'),
    node('Concat', ['boxes', 'shares'], 'found', wholeNumber('axis', 1)),
    bytes(2, 'bright'),
    tensor('mean', float32, [1, 3, cellSize, cellSize], mean),
    tensor('flat', int64, [3], [1, 1, count]),
    tensor('boxes', float32, [1, 4, count], boxes),
    ...(said.isSplit ? [message(5, bytes(8, 'far'), number(14, 1))] : []),
    value(11, 'images', said.input ?? [1, 3, modelSize, modelSize], said.inputType),
    value(12, 'found', said.output ?? [1, 5, count]),
  )
  const names = said.names === undefined ? [] : [message(14, bytes(1, 'names'), bytes(2, said.names))]
  return Buffer.concat([number(1, 8), graph, message(8, number(2, 13)), ...names])
}
