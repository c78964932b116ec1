import { open } from 'node:fs/promises'
import { ownFile } from '../../platform/index.ts'
import { packetBytes, UnitSplitter } from '../format/transport-stream.ts'
import { giveBack } from '../format/video-blocks.ts'

/** Bytes that are read at once. */
const partBytes = 174 * packetBytes

/**
 * Says whether a spool has a whole picture this long after its first one. The finished clip must show it. Reads up to it. Rejects
 * when the file cannot be read.
 */
export async function showsPicture(spool: string, leadMs: number): Promise<boolean> {
  const file = await open(spool, ownFile.read)
  const splitter = new UnitSplitter({ timesAreKnown: true })
  let firstMs: number | undefined
  for await (const bytes of file.createReadStream({ highWaterMark: partBytes }) as AsyncIterable<Buffer>) {
    const units = splitter.push(bytes, 0)
    for (const unit of units) giveBack(unit.bytes)
    firstMs ??= units[0]?.ptsMs
    if (units.some(({ ptsMs }) => ptsMs >= (firstMs ?? 0) + leadMs)) return true
  }
  return false
}
