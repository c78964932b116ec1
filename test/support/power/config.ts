import { join } from 'node:path'
import { segmentsFolder } from './acknowledged.ts'

/** Config of the gateway whose life is cut off: one camera that is off, uploads to a server that is not there, and segments. */
export function lifeConfig(folder: string): Record<string, unknown> {
  const url = 'https://cloud.invalid'
  return {
    cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', enabled: false, owner: 'vera' }],
    storage: { instances: [{ url }], upload: { instance: url, username: 'gatehouse', passwordFile: 'cloud-password' } },
    backup: { segments: { to: { folder: join(folder, segmentsFolder) } } },
  }
}
