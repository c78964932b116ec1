/**
 * The worker that reads barcodes where the browser cannot. It gets its files and its pictures from the page, and its content
 * security policy lets it ask no one for anything.
 */
import { BarcodeDetector, prepareZXingModule } from 'barcode-detector/ponyfill'
import type { FromCodes, ToCodes } from './messages.ts'

type Scope = {
  postMessage(message: FromCodes): void
  addEventListener(type: 'message', listener: (event: MessageEvent<ToCodes>) => void): void
}
// The page is compiled with the types of a window; this file runs in a worker.
const scope = self as unknown as Scope
let detector: BarcodeDetector | undefined

scope.addEventListener('message', ({ data }) => {
  const work = data.kind === 'start' ? start(data.runtime) : look(data.picture)
  work.then(
    (answer) => scope.postMessage(answer),
    (error: Error) => scope.postMessage({ kind: 'failed', words: error.message }),
  )
})

async function start(runtime: ArrayBuffer): Promise<FromCodes> {
  await prepareZXingModule({ overrides: { wasmBinary: runtime }, fireImmediately: true })
  detector = new BarcodeDetector()
  return { kind: 'ready' }
}

async function look(picture: ImageBitmap): Promise<FromCodes> {
  if (!detector) throw new Error('not started')
  const found = await detector.detect(picture)
  picture.close()
  return { kind: 'found', codes: found.map(({ rawValue }) => rawValue) }
}
