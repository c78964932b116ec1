/**
 * The worker that finds objects in pictures. The page sends its files and its pictures. Its content security policy allows no
 * request, so pictures can go nowhere but back to the page.
 */
import { env, InferenceSession, Tensor } from 'onnxruntime-web/wasm'
import { boxesOf, fitInto, type Limits, type ModelFacts } from './boxes.ts'
import type { FromObjects, ToObjects } from './messages.ts'

type Scope = {
  postMessage(message: FromObjects): void
  addEventListener(type: 'message', listener: (event: MessageEvent<ToObjects>) => void): void
}
// The page is compiled with the types of a window; this file runs in a worker.
const scope = self as unknown as Scope

type Ready = { readonly session: InferenceSession; readonly facts: ModelFacts; readonly limits: Limits }
let ready: Ready | undefined

scope.addEventListener('message', ({ data }) => {
  const work = data.kind === 'start' ? start(data) : look(data.picture)
  work.then(
    (answer) => scope.postMessage(answer),
    (error: Error) => scope.postMessage({ kind: 'failed', words: error.message }),
  )
})

async function start({ runtime, model, facts, limits }: ToObjects & { kind: 'start' }): Promise<FromObjects> {
  // More threads need memory that pages share, which only isolated pages have.
  env.wasm.numThreads = 1
  env.wasm.wasmBinary = runtime
  env.logLevel = 'fatal'
  const session = await InferenceSession.create(new Uint8Array(model), { executionProviders: ['wasm'] })
  ready = { session, facts, limits }
  return { kind: 'ready' }
}

async function look(picture: ImageBitmap): Promise<FromObjects> {
  if (!ready) throw new Error('not started')
  const { session, facts, limits } = ready
  const size = { width: picture.width, height: picture.height }
  const input = new Tensor('float32', pixelsOf(picture, facts), [1, 3, facts.height, facts.width])
  const answers = await session.run({ [session.inputNames[0] ?? '']: input })
  const answer = answers[session.outputNames[0] ?? '']
  if (!(answer?.data instanceof Float32Array)) throw new Error('the model answers no numbers')
  return { kind: 'found', boxes: boxesOf({ sizes: answer.dims, values: answer.data }, facts, size, limits) }
}

let canvas: OffscreenCanvas | undefined

/** Red, green and blue from 0 to 1, one after the other; grey around a picture of another shape. */
function pixelsOf(picture: ImageBitmap, { width, height }: ModelFacts): Float32Array {
  canvas ??= new OffscreenCanvas(width, height)
  const paint = canvas.getContext('2d', { willReadFrequently: true })
  if (!paint) throw new Error('no canvas')
  const { scale, left, top } = fitInto(picture, { width, height })
  paint.fillStyle = 'rgb(114 114 114)'
  paint.fillRect(0, 0, width, height)
  paint.drawImage(picture, left, top, picture.width * scale, picture.height * scale)
  picture.close()
  const { data } = paint.getImageData(0, 0, width, height)
  const count = width * height
  const pixels = new Float32Array(3 * count)
  for (let i = 0; i < count; i += 1) {
    pixels[i] = (data[4 * i] ?? 0) / 255
    pixels[count + i] = (data[4 * i + 1] ?? 0) / 255
    pixels[2 * count + i] = (data[4 * i + 2] ?? 0) / 255
  }
  return pixels
}
