import { z } from 'zod'
import { always, distinct, nameIsOfKey } from '../cross-checks.ts'
import {
  duration,
  file,
  flag,
  keyName,
  number,
  oneOf,
  secretFile,
  serverUrl,
  size,
  url,
  vkey,
  wholeNumber,
} from '../kinds.ts'
import { key, section } from './shared.ts'

export const retention = {
  clips: key(
    section({
      maxAgeDays: key(
        number(0, 36_500, 'days').prefault(30),
        'Age in days at which a clip that nothing holds is removed.',
      ),
    }),
    'Clips of cameras.',
  ),
  photos: key(
    section({
      keepLocalDays: key(
        number(0, 36_500, 'days').prefault(90),
        'Days that a photo stays on this box once it is uploaded.',
      ),
    }),
    'Photos of placements.',
  ),
  scores: key(
    section({
      maxAgeDays: key(
        number(0, 366, 'days').prefault(7),
        'Days for which the changes that motion detection saw are kept, 16 by 9 numbers for each of five pictures a second, so that other settings can be tried on them; 0: none are.',
      ),
      maxBytes: key(
        size().prefault('1GiB'),
        'Most bytes of them on the disk, of all cameras together; the oldest give way.',
      ),
    }),
    'Changes that motion detection saw.',
  ),
  minFreeBytes: key(
    size().prefault('2GiB'),
    'Free disk space below which the oldest clips that nothing holds are removed.',
  ),
  ledgerReserveBytes: key(size().prefault('256MiB'), 'Disk space that clips and photos leave for the ledger.'),
}

const witnessAsked = {
  name: key(keyName(), "The witness's name, as its key says it.", { example: 'hub.example/w1' }),
  vkey: key(vkey([4, 6]), 'Its verifier key.', {
    example: 'hub.example/w1+817aabbd+BCBHsoGxKXDT5Kd+2yA68rmVYivwroN6QWWwTWYUE6ol',
  }),
  url: key(serverUrl(), 'Its submission prefix; /add-checkpoint is added.', { example: 'https://hub.example/witness' }),
  caFile: key(file().nullable().prefault(null), 'Certificates in PEM to trust for it instead of the public ones.'),
}

const stampAuthority = {
  url: key(url(['https', 'http']), 'Where requests are posted.', { example: 'http://tsa.example/tsr' }),
  caFile: key(file(), 'Certificates in PEM to which its tokens have to lead.', { example: 'tsa-ca.pem' }),
}

export const evidence = {
  checkpoint: key(
    section({
      every: key(
        duration().prefault('5m'),
        'Time after which a log that grew gets its next signed checkpoint; at most one a second.',
      ),
      leaves: key(wholeNumber(1, 65_536).prefault(256), 'Number of new leaves after which it gets one at once.'),
    }),
    'When the head of the log is signed.',
  ),
  witnesses: key(
    z
      .array(z.strictObject(witnessAsked).superRefine(nameIsOfKey, always))
      .superRefine(distinct('name'), always)
      .prefault([]),
    'Witnesses that are asked after each checkpoint to confirm that the log only grew.',
    { identity: 'name' },
  ),
  timestamps: key(
    z.array(z.strictObject(stampAuthority)).superRefine(distinct('url'), always).prefault([]),
    'Time stamp authorities (RFC 3161); each stamps the newest checkpoint, at most once an hour.',
    { identity: 'url' },
  ),
  quorum: key(wholeNumber(1, 16).prefault(1), 'How many of them make a fact witnessed.'),
}

export const witness = {
  enabled: key(flag().prefault(false), 'Whether this gateway is a witness of other logs: /witness/add-checkpoint.'),
  name: key(
    keyName().nullable().prefault(null),
    'Name of its key, which is in its cosignatures; it is chosen once. Needed when enabled.',
    { example: 'dc-7.example/w1' },
  ),
  logs: key(
    z.array(vkey([1, 6])).prefault([]),
    'Verifier keys of the logs that it knows, as "gatehouse ledger key" prints them there; several of one log are several entries.',
    {
      example: [
        'gatehouse/dc-8/0198c0de-0000-7000-8000-000000000000+a290fc80+AcqU3woSEYgbcTF4zQ1N/VyjJhNr+DCqDmjoUiiZTB3z',
      ],
    },
  ),
}

export const hub = {
  url: key(serverUrl().nullable().prefault(null), 'Address of the head office that gets the log; null: none.', {
    example: 'https://hub.example',
  }),
  tokenFile: key(
    secretFile().nullable().prefault(null),
    'File with the token that "gatehouse hub join" wrote; needed with url.',
    { example: 'secrets/hub-token' },
  ),
  caFile: key(file().nullable().prefault(null), 'Certificates in PEM to trust for it instead of the public ones.'),
  vkey: key(
    vkey([4]).nullable().prefault(null),
    'Verifier key under which it confirms the log; its confirmation counts as that of a witness.',
    { example: 'hub.example/w1+817aabbd+BCBHsoGxKXDT5Kd+2yA68rmVYivwroN6QWWwTWYUE6ol' },
  ),
  openings: key(
    oneOf(['never', 'names']).prefault('never'),
    'Names of people that the head office gets. never: people are commitments there, which open to nothing. names: the people who placed, verified and moved are sent along, if the head office takes them (hub.openings there); an erasure here removes them there. Notes are never sent.',
  ),
  maxBytesPerSecond: key(
    size().nullable().prefault(null),
    'Most bytes a second that are sent to it, such as 64KiB; null: as fast as the line is.',
    { example: '64KiB' },
  ),
}
