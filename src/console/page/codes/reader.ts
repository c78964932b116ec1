import { fetchRuntime, startWorker } from '../kit/own-worker.ts'
import type { FromCodes, ToCodes } from './messages.ts'

export type CodeReader = {
  /** Returns the codes in the picture that the element shows now. */
  readonly read: (video: HTMLVideoElement) => Promise<readonly string[]>
  readonly end: () => void
}

type Detector = { detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]> }
type Maker = { new (): Detector; getSupportedFormats(): Promise<readonly string[]> }

/** Reads barcodes by the browser itself where it can, else in a worker that is loaded now. Rejects when neither works. */
export async function openReader(): Promise<CodeReader> {
  const { BarcodeDetector } = window as { readonly BarcodeDetector?: Maker }
  const formats = (await BarcodeDetector?.getSupportedFormats().catch(() => [])) ?? []
  // Some browsers have the name and read nothing, or not the codes of labels.
  const canRead = ['code_128', 'qr_code'].every((format) => formats.includes(format))
  return BarcodeDetector && canRead ? ownReader(new BarcodeDetector()) : workerReader()
}

const ownReader = (detector: Detector): CodeReader => ({
  read: async (video) => (await detector.detect(video)).map(({ rawValue }) => rawValue),
  end: () => {},
})

async function workerReader(): Promise<CodeReader> {
  const runtime = await fetchRuntime('codes')
  const worker = startWorker('codes')
  const ask = (message: ToCodes, transfer: Transferable[]): Promise<FromCodes> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<FromCodes>) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message || 'worker'))
      worker.postMessage(message, transfer)
    })
  const begun = await ask({ kind: 'start', runtime }, [runtime])
  if (begun.kind === 'failed') {
    worker.terminate()
    throw new Error(begun.words)
  }
  return {
    read: async (video) => {
      const picture = await createImageBitmap(video)
      const answer = await ask({ kind: 'look', picture }, [picture])
      if (answer.kind === 'failed') throw new Error(answer.words)
      return answer.kind === 'found' ? answer.codes : []
    },
    end: () => worker.terminate(),
  }
}
