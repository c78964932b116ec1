import { z } from 'zod'
import { duration, flagOrAuto, folder, orStorage, wholeNumber } from '../kinds.ts'
import { key } from './shared.ts'

export const backupFile = {
  to: key(
    orStorage(
      z.strictObject({
        folder: key(folder(), 'Folder that takes the backups, such as a mounted share of another machine.', {
          example: '/mnt/nas',
        }),
      }),
    )
      .nullable()
      .prefault(null),
    'Target of scheduled backups: storage (the server of storage.upload, sealed under the recovery key) or a folder (plain files); null: nowhere. They hold the keys of this box.',
  ),
  every: key(
    duration().prefault('24h'),
    'Time from one backup to the next. Each is restored beside the ledger and verified.',
  ),
  keep: key(wholeNumber(1, 10_000).prefault(14), 'Number of backups that are kept; older ones are removed.'),
  media: key(
    flagOrAuto().prefault('auto'),
    'Whether they contain photos and clips. auto: yes, unless storage.upload copies them to a storage server.',
  ),
}

export const backupSegments = {
  to: key(
    orStorage(
      z.strictObject({
        folder: key(folder(), 'Folder that takes the segments, such as a mounted share of another machine.', {
          example: '/mnt/nas',
        }),
      }),
    )
      .nullable()
      .prefault(null),
    'Target of new changes, sealed under the recovery key (gatehouse backup key): storage (the server of storage.upload) or a folder; null: nowhere.',
  ),
  every: key(duration().prefault('1m'), 'Time after which new changes are written.'),
  leaves: key(wholeNumber(1, 65_536).prefault(256), 'Number of new leaves after which it is written at once.'),
  keep: key(
    duration().prefault('14d'),
    'Time for which a series stays when another one has followed it, such as after a person was erased.',
  ),
}
