import { detectionsAfter } from '../cameras/index.ts'
import { photosBehind } from '../log/index.ts'
import type { Source } from './backlog.ts'
import { clipUpload, photoUpload } from './things.ts'

/** The clips of detections. `isWanted`: `uploadToStorage` of the camera, as of now. */
export function clipSource(siteId: string, isWanted: (cctvId: number) => boolean): Source {
  return {
    kind: 'clip',
    after: (tx, row, limit) => {
      const rows = detectionsAfter(tx, row, limit)
      const last = rows.at(-1)
      const wanted = rows.filter(({ cctv_id }) => isWanted(cctv_id))
      return last && { upTo: last.row, files: wanted.flatMap((one) => clipUpload(tx, siteId, one) ?? []) }
    },
  }
}

export function photoSource(siteId: string): Source {
  return {
    kind: 'photo',
    after: (tx, row, limit) => {
      const found = photosBehind(tx, row, limit)
      return found && { upTo: found.upTo, files: found.photos.map((photo) => photoUpload(tx, siteId, photo)) }
    },
  }
}
