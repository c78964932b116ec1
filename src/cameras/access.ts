import type { ConfigNames } from '../auth/index.ts'
import { type CameraConfig, permissionsOf } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'

/** Says whether the caller sees a camera: its owner, its viewers (users or groups) and admins do. */
export function maySee(names: ConfigNames, caller: Caller, camera: CameraConfig): boolean {
  return whySees(names, caller, camera) !== 'not-in-viewers'
}

/** Rules of sight, by `cameras[].owner` and `cameras[].viewers`. */
export type CameraRule = 'admin' | 'owner' | 'viewers' | 'not-in-viewers'

/** Returns the rule by which the caller sees a camera, or does not. */
export function whySees(names: ConfigNames, caller: Caller, { owner, viewers }: CameraConfig): CameraRule {
  if (caller.role === 'admin') return 'admin'
  if (names.meanUser(owner, caller)) return 'owner'
  return names.mean(viewers, caller) ? 'viewers' : 'not-in-viewers'
}

/** Returns whether the caller may hand out clips of a camera: its owner, and holders of cameras:export. Ask `maySee` first. */
export function mayExport(names: ConfigNames, caller: Caller, camera: CameraConfig): boolean {
  return names.meanUser(camera.owner, caller) || permissionsOf(caller.role).has('cameras:export')
}

/** Throws PERMISSION_DENIED unless the caller owns the camera or has cameras:export. */
export function demandExport(names: ConfigNames, caller: Caller, camera: CameraConfig): void {
  if (names.meanUser(camera.owner, caller) || caller.permissions.has('cameras:export')) return
  throw new AppError('PERMISSION_DENIED', 'Clips of this camera are not yours to hand out', {
    details: `role ${caller.role} lacks cameras:export`,
  })
}

/** Returns whether the caller may start, stop and tune a camera: its owner, and holders of cameras:control. Ask `maySee` first. */
export function mayControl(names: ConfigNames, caller: Caller, camera: CameraConfig): boolean {
  return names.meanUser(camera.owner, caller) || caller.permissions.has('cameras:control')
}

/** Throws PERMISSION_DENIED unless the caller owns the camera or has cameras:control. */
export function demandControl(names: ConfigNames, caller: Caller, camera: CameraConfig): void {
  if (mayControl(names, caller, camera)) return
  throw new AppError('PERMISSION_DENIED', 'This camera is not yours to control', {
    details: `role ${caller.role} lacks cameras:control`,
  })
}
