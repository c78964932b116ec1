import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import yazl from 'yazl'

/** A file of a zip. */
export type ZipEntry = { readonly name: string; readonly text: string }

/** Writes a zip to an open file, which is closed then. */
export async function writeZip(fd: number, entries: readonly ZipEntry[], nowMs: number): Promise<void> {
  const zip = new yazl.ZipFile()
  for (const { name, text } of entries)
    zip.addBuffer(Buffer.from(text), name, { mtime: new Date(nowMs), mode: 0o100600 })
  zip.end()
  await pipeline(zip.outputStream, createWriteStream('', { fd }))
}
