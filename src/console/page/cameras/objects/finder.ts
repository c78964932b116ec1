import type { ObjectDetection } from '../../data/shapes.ts'
import { fetchBytes, fetchRuntime, startWorker } from '../../kit/own-worker.ts'
import { type Box, restMs } from './boxes.ts'
import type { FromObjects, ToObjects } from './messages.ts'

type Model = NonNullable<ObjectDetection['model']>
type Picture = HTMLVideoElement | HTMLCanvasElement

export type Finding = {
  readonly settings: ObjectDetection
  readonly model: Model
  /** Returns the element that shows the pictures now. */
  readonly picture: () => Picture | null
  /** Called when the model is loaded. */
  readonly onReady: () => void
  readonly onFound: (boxes: readonly Box[], picture: { readonly width: number; readonly height: number }) => void
  /** Called once, with what went wrong; nothing more is found then. */
  readonly onFailed: (words: string) => void
}

/** How long to wait for a picture where there is none, or where no one looks. */
const idleMs = 250

/** Finds objects in the pictures of an element, in a worker. Returns a function that ends it. */
export function findObjects({ settings, model, picture, onReady, onFound, onFailed }: Finding): () => void {
  const worker = startWorker('objects')
  let isOver = false
  let timer = 0
  const end = () => {
    isOver = true
    clearTimeout(timer)
    worker.terminate()
  }
  const fail = (words: string) => {
    if (!isOver) onFailed(words)
    end()
  }
  const ask = (message: ToObjects, transfer: Transferable[]): Promise<FromObjects> =>
    new Promise((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<FromObjects>) => resolve(data)
      worker.postMessage(message, transfer)
    })
  worker.onerror = ({ message }) => fail(message || 'worker')
  const look = async () => {
    const startedMs = performance.now()
    const element = picture()
    const size = element && sizeOf(element)
    if (!size || document.hidden) return again(idleMs)
    const taken = await createImageBitmap(element)
    const answer = await ask({ kind: 'look', picture: taken }, [taken])
    if (isOver) return
    if (answer.kind === 'failed') return fail(answer.words)
    if (answer.kind === 'found') onFound(answer.boxes, size)
    again(restMs(settings.fps, startedMs, performance.now()))
  }
  const again = (ms: number) => {
    if (!isOver) timer = window.setTimeout(() => look().catch(() => again(idleMs)), ms)
  }
  const start = async () => {
    const path = `/api/console/object-detection/models/${model.sha256}`
    const [runtime, bytes] = await Promise.all([fetchRuntime('objects'), fetchBytes(path)])
    const answer = await ask({ kind: 'start', runtime, model: bytes, facts: model, limits: settings }, [runtime, bytes])
    if (isOver) return
    if (answer.kind === 'failed') return fail(answer.words)
    onReady()
    again(0)
  }
  start().catch((error: Error) => fail(error.message))
  return end
}

/** The size of the picture that is shown; null while there is none. */
function sizeOf(element: Picture): { width: number; height: number } | null {
  const isVideo = element instanceof HTMLVideoElement
  if (isVideo && element.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return null
  const [width, height] = isVideo ? [element.videoWidth, element.videoHeight] : [element.width, element.height]
  return width > 0 && height > 0 ? { width, height } : null
}
