import { readdir } from 'node:fs/promises'

/** A file of stored cells: at most an hour of one run of a camera. Wall clock times. */
export type CellFile = {
  readonly cameraId: number
  /** When its run began. Files of one run continue each other. */
  readonly runMs: number
  /** Time of its first frame. */
  readonly startMs: number
}

/** No file spans more than this; the first frame of a later hour begins another one. */
export const cellFileMs = 3_600_000

export function cellFileName({ cameraId, runMs, startMs }: CellFile): string {
  return `${cameraId}_${runMs}_${startMs}.cells`
}

/** Returns the file that a name states; undefined for other names. */
export function readCellFileName(name: string): CellFile | undefined {
  const [, cameraId, runMs, startMs] = /^(\d{1,10})_(\d{1,15})_(\d{1,15})\.cells$/.exec(name) ?? []
  if (startMs === undefined) return undefined
  return { cameraId: Number(cameraId), runMs: Number(runMs), startMs: Number(startMs) }
}

/** Lists the files of a folder, oldest first; none when there is no folder. */
export async function listCellFiles(folder: string): Promise<CellFile[]> {
  const names = await readdir(folder).catch((err: NodeJS.ErrnoException) => (err.code === 'ENOENT' ? [] : throwIt(err)))
  return names.flatMap((name) => readCellFileName(name) ?? []).sort((a, b) => a.startMs - b.startMs)
}

function throwIt(err: unknown): never {
  throw err
}
