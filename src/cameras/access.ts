import type { ConfigNames } from '../auth/index.ts'
import type { CameraConfig } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'

/** Who sees a camera: its owner, its viewers (users or groups) and admins. */
export function maySee(names: ConfigNames, caller: Caller, { owner, viewers }: CameraConfig): boolean {
  return caller.role === 'admin' || names.meanUser(owner, caller) || names.mean(viewers, caller)
}

/** Who starts and stops it: its owner, and whoever sees it and has cameras:control. Throws PERMISSION_DENIED. */
export function demandControl(names: ConfigNames, caller: Caller, camera: CameraConfig): void {
  if (names.meanUser(camera.owner, caller) || caller.permissions.has('cameras:control')) return
  throw new AppError('PERMISSION_DENIED', 'This camera is not yours to control', {
    details: `role ${caller.role} lacks cameras:control`,
  })
}
