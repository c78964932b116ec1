import { type FileHandle, open } from 'node:fs/promises'
import { ownFile } from '../../platform/index.ts'
import { type Extent, type Probed, picturesOfMp4, type StoredPictures, shownByMp4 } from './mp4-shown.ts'

/** A clip of an hour has one of 2 MB. */
const mostMoovBytes = 32 * 1024 * 1024
/** A clip has four. */
const mostBoxes = 16

/** Returns the times, size and codec of an MP4's pictures by its header; undefined when the header has anything unknown. */
export async function probeMp4(path: string): Promise<Probed | undefined> {
  const header = await headerOf(path)
  return header && shownByMp4(header.moov, header.media)
}

/** Returns the pictures of an MP4, and their places. Undefined as for `probeMp4`. */
export async function picturesIn(path: string): Promise<StoredPictures | undefined> {
  const header = await headerOf(path)
  return header && picturesOfMp4(header.moov, header.media)
}

async function headerOf(path: string): Promise<{ moov: Buffer; media: Extent[] } | undefined> {
  const file = await open(path, ownFile.read)
  try {
    const { moov, media } = await outline(file)
    if (!moov || moov.to - moov.from > mostMoovBytes) return undefined
    const bytes = Buffer.alloc(moov.to - moov.from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, moov.from)
    return bytesRead === bytes.length ? { moov: bytes, media } : undefined
  } finally {
    await file.close()
  }
}

/** Finds the content of the outermost boxes. One that ends behind the end of the file is left out. */
async function outline(file: FileHandle): Promise<{ moov: Extent | undefined; media: Extent[] }> {
  const { size: end } = await file.stat()
  const media: Extent[] = []
  let moov: Extent | undefined
  const header = Buffer.alloc(16)
  for (let at = 0, boxes = 0; at + 8 <= end && boxes < mostBoxes; boxes += 1) {
    const { bytesRead } = await file.read(header, 0, 16, at)
    const isLong = header.readUInt32BE(0) === 1
    if (bytesRead < (isLong ? 16 : 8)) break
    const size = isLong ? Number(header.readBigUInt64BE(8)) : header.readUInt32BE(0)
    const content = { from: at + (isLong ? 16 : 8), to: at + size }
    if (content.to < content.from || content.to > end) break
    const type = header.toString('latin1', 4, 8)
    if (type === 'moov') moov = content
    if (type === 'mdat') media.push(content)
    at = content.to
  }
  return { moov, media }
}
