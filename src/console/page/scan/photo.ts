import type { Photo } from './items.ts'
import { scanTexts as texts } from './texts.ts'

const largestBytes = 1_000_000
const longestSide = 1600

/** Reads a picture of the device's camera. One over 1 MB becomes smaller, so that a shift of photos fits the device. */
export async function readPhoto(file: File): Promise<Photo> {
  if (file.size <= largestBytes) return { bytes: await file.arrayBuffer(), type: file.type }
  const picture = await createImageBitmap(file)
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(picture.width * scale)
  canvas.height = Math.round(picture.height * scale)
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  const small = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85))
  if (!small) throw new Error(texts.unreadable)
  return { bytes: await small.arrayBuffer(), type: 'image/jpeg' }
}
