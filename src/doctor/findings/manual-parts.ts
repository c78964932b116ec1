import type { HelpTopic } from '../../console/index.ts'

/** Part of the manual about each topic of a finding: page and heading. */
export const manualParts = {
  alerts: 'operate#handle-an-alert',
  backup: 'backup#schedule',
  camera: 'cameras#find-out-why-a-camera-gives-no-picture',
  certificate: 'operate#renew-the-certificate',
  checkpoint: 'evidence#witnesses-and-time-stamps',
  clock: 'operate#check-the-clock',
  config: 'operate#change-the-config',
  disk: 'operate#free-the-disk',
  ffmpeg: 'cameras#find-out-why-a-camera-gives-no-picture',
  files: 'operate#files',
  gateway: 'operate#find-the-fault',
  'head office': 'head-office#watch-it-and-when-something-is-wrong',
  heat: 'cameras#size-the-hardware',
  image: 'appliance#updates',
  'ledger check': 'evidence#check-everything',
  memory: 'cameras#size-the-hardware',
  'photos and clips': 'backup#contents-of-a-copy',
  reload: 'operate#change-the-config',
  'storage server': 'cameras#upload',
  'time stamps': 'evidence#witnesses-and-time-stamps',
  uplink: 'operate#find-the-fault',
  'upload account': 'cameras#upload',
  uploads: 'cameras#upload',
  wear: 'operate#free-the-disk',
  webhooks: 'integrate#receive-webhooks',
  witness: 'evidence#witnesses-and-time-stamps',
} as const satisfies Readonly<Record<string, `${HelpTopic}#${string}`>>

/** Topic of a finding. */
export type DoctorTopic = keyof typeof manualParts
