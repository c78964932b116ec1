import { z } from 'zod'
import {
  allDifferent,
  always,
  backupHasStorage,
  distinct,
  distinctAddresses,
  hubHasToken,
  metricsHaveTheirOwnAddress,
  nameIsOfKey,
  namesAreSomebody,
  passwordHasUser,
  plainHttpIsMeant,
  siteIsNoInstance,
  uploadIsKnown,
  witnessIsNamed,
  zonesAreLarge,
} from './cross-checks.ts'
import { type Facts, facts } from './keys.ts'
import {
  duration,
  file,
  flag,
  folder,
  host,
  keyName,
  keyOneOf,
  kinds,
  network,
  number,
  oneOf,
  origin,
  orStorage,
  recordingHours,
  remoteFolder,
  secretFile,
  secretHash,
  serverUrl,
  size,
  text,
  textLike,
  url,
  vkey,
  wholeNumber,
} from './kinds.ts'
import { roleNames } from './roles.ts'

/** Warnings of the ledger that `ledger.enforce` can turn into refusals. */
export const warningCodes = [
  'SLOT_ALREADY_OCCUPIED',
  'SLOT_EMPTY',
  'ASSET_ELSEWHERE',
  'ASSET_MISMATCH',
  'UNKNOWN_ASSET',
  'TYPE_NOT_ALLOWED',
  'OVERWEIGHT',
  'OVERHEIGHT',
  'SELF_VERIFIED',
  'OPERATOR_DIFFERS',
  'LATE_EVENT',
  'CLOCK_AHEAD',
  'NO_EFFECT',
  'PHOTO_NOT_HELD',
  'PHOTO_TIME_MISMATCH',
  'SLOT_RETIRED',
  'SCAN_MISMATCH',
  'PHOTO_REUSED',
  'BARCODE_CHECK_DIGIT',
  'BARCODE_NOT_GS1',
  'BARCODE_AGAINST_GS1',
] as const

/** Bounds of a camera's motion settings, both ends allowed; seconds but for `sensitivity`. The API refuses by the same. */
export const motionRanges = {
  sensitivity: { min: 0, max: 1 },
  cooldownSeconds: { min: 0, max: 3600 },
  preRecordSeconds: { min: 0, max: 60 },
  postRecordSeconds: { min: 0, max: 300 },
} as const

/** Makes a key with its facts for the reference. */
export function key<S extends z.ZodType>(schema: S, sentence: string, more: Omit<Facts, 'sentence'> = {}): S {
  facts.add(schema, { sentence, ...more })
  return schema
}

/** Makes a map that may be left out: its keys then have their defaults. */
export function section<S extends z.core.$ZodShape>(shape: S) {
  return z.strictObject(shape).prefault({} as never)
}

/** Makes a list with at least one entry. */
function filledList<S extends z.ZodType>(entry: S, max: number, expected: string) {
  return z
    .array(entry)
    .min(1)
    .max(max)
    .register(kinds, { name: `list of ${kinds.get(entry)?.name ?? 'maps'}`, expected })
}

const role = () => oneOf(roleNames)
const id = () => wholeNumber(1, 2_147_483_647)
/** A user or group by the short or the full form (`names.ts`): a name, an @ and the URL of an instance. */
const caller = () => text(128 + 'group:@'.length + 2048)
const callers = () => z.array(caller()).prefault([])
const whoIs =
  'alice is a local account, else a user or group of the only storage server; alice@URL, group:NAME@URL say it in full'

/** Makes the kind of an account's name. No colon: the user name of Basic credentials ends at the first one. */
export const username = () =>
  textLike(/^(?! )[^:\p{Cc}]{1,128}(?<! )$/u, 'a user name of 1 to 128 characters, without a colon')

const site = {
  id: key(
    textLike(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a name of 1 to 64 letters, digits, dots, - and _'),
    'Name of this site; it stands in every leaf of the log, so it is chosen once.',
    { example: 'dc-7' },
  ),
  url: key(
    serverUrl().nullable().prefault(null),
    'The address under which this gateway is reached; it also names the local accounts in X-Storage-Instance.',
    { derived: 'the address of the first listener', example: 'http://127.0.0.1:8480' },
  ),
  warehouseId: key(id().prefault(1), 'The warehouse of whatever names none.'),
}

const tls = {
  certFile: key(file(), 'Certificate chain in PEM.', { example: 'tls/cert.pem' }),
  keyFile: key(secretFile(), 'Its private key in PEM.', { example: 'tls/key.pem' }),
}

const listener = {
  host: key(host().prefault('127.0.0.1'), 'Address to listen on; 0.0.0.0 is every one of this machine.'),
  port: key(wholeNumber(0, 65_535).prefault(8480), 'Port; 0 is any free one.'),
  tls: key(z.strictObject(tls).nullable().prefault(null), 'With it the listener speaks HTTPS, without it HTTP.'),
  allowPlainHttp: key(
    flag().prefault(false),
    'Without tls, only this machine itself is served, unless this says that everybody on the network may read all secrets.',
  ),
}

/** An account of the config. The head office adds which sites it may see. */
export const user = {
  username: key(username(), 'The account, as X-Storage-Username names it.', { example: 'dock-admin' }),
  role: key(role().prefault('viewer'), 'What the account may do.', { example: 'admin' }),
  secretHash: key(secretHash(), 'The hash that "gatehouse credential" printed.', { example: 'scrypt:…' }),
}

const auth = {
  shift: key(duration().prefault('12h'), 'How long a sign-in by badge lasts on a handheld.'),
  defaultRole: key(role().prefault('viewer'), 'Role of a verified user whose groups have none.'),
  freshFor: key(
    duration().prefault('5m'),
    'How long a verified answer is believed without asking the storage server again.',
  ),
  staleFor: key(
    duration().prefault('12h'),
    'How long a verified answer serves while the storage server can not be reached.',
  ),
  groupRoles: key(
    z.record(caller(), role()).prefault({}),
    'Role of the members of a group of the storage server (NAME, or NAME@URL where there are several); of several groups the highest.',
    { example: { 'wh-operators': 'operator', 'wh-supervisors': 'supervisor' } },
  ),
  users: key(
    z.array(z.strictObject(user)).superRefine(distinct('username'), always).prefault([]),
    'Local accounts, which work without any storage server.',
    { identity: 'username' },
  ),
}

const instance = {
  url: key(serverUrl(), 'Address of the server; callers name it in X-Storage-Instance.', {
    example: 'https://cloud.example.com',
  }),
  caFile: key(
    file().nullable().prefault(null),
    'Certificates in PEM to trust for this server instead of the public ones.',
  ),
}

const upload = {
  instance: key(serverUrl(), 'The one of storage.instances that receives the evidence.', {
    example: 'https://cloud.example.com',
  }),
  username: key(username(), 'The account to upload as.', { example: 'gatehouse-dc7' }),
  passwordFile: key(secretFile(), 'File with the application password of that account.', { example: 'secrets/cloud' }),
  root: key(remoteFolder().prefault('/gatehouse'), 'Folder of that account under which evidence is stored.'),
  maxBytesPerSecond: key(
    size().nullable().prefault(null),
    'Most bytes a second of all uploads together, such as 128KiB; null: as fast as the line is.',
    { example: '128KiB' },
  ),
}

const storage = {
  instances: key(
    z.array(z.strictObject(instance)).superRefine(distinct('url'), always).prefault([]),
    'File storage servers that may verify callers; no other server is ever asked.',
  ),
  upload: key(
    z.strictObject(upload).nullable().prefault(null),
    'Where clips, photos and reports are copied to; null: they stay on this box.',
  ),
}

const point = z.strictObject({ x: number(0, 1), y: number(0, 1) })
const polygon = z
  .array(point)
  .min(3)
  .max(256)
  .register(kinds, { name: 'polygon', expected: 'a polygon of 3 to 256 points {x, y}' })

const motionNumber = (name: keyof typeof motionRanges, unit?: string) =>
  number(motionRanges[name].min, motionRanges[name].max, unit)

const motion = {
  enabled: key(flag().prefault(true), 'Whether detection runs until the API says otherwise.'),
  sensitivity: key(
    motionNumber('sensitivity').prefault(0.3),
    'Score from which a picture counts as motion; lower is more sensitive.',
  ),
  cooldownSeconds: key(
    motionNumber('cooldownSeconds', 'seconds').prefault(5),
    'Shortest time from the end of a clip to the start of the next, in seconds.',
  ),
  preRecordSeconds: key(
    motionNumber('preRecordSeconds', 'seconds').prefault(5),
    'How much of the time before the motion a clip shows, in seconds.',
  ),
  postRecordSeconds: key(
    motionNumber('postRecordSeconds', 'seconds').prefault(10),
    'How much of the time after the motion a clip shows, in seconds.',
  ),
  uploadToStorage: key(flag().prefault(true), 'Whether clips are uploaded, when storage.upload is set.'),
  masks: key(
    z.array(polygon).prefault([]),
    'Parts of the picture in which motion does not count: polygons of points {x, y}, each 0 to 1 of width and height from the upper left.',
  ),
  zones: key(
    z.array(polygon).superRefine(zonesAreLarge, always).prefault([]),
    'Parts of the picture outside of which motion does not count, as polygons; empty: it counts everywhere. A mask wins over a zone.',
  ),
}

const history = {
  hours: key(
    number(0, 8760, 'hours').prefault(0),
    'How much continuous video is kept for late scans, in hours; 0 is none. It is removed before clips when the disk is short of room.',
  ),
  stream: key(oneOf(['main', 'sub']).prefault('sub'), 'Which stream is kept: url or, where there is one, detectUrl.'),
}

const camera = {
  id: key(id(), 'Number of the camera, the cctvId of the API.', { example: 1 }),
  name: key(text(200).nullable().prefault(null), 'Name for people.', {
    derived: 'Camera and its id',
    example: 'Dock door 1',
  }),
  enabled: key(flag().prefault(true), 'Whether the gateway connects to the camera at all.'),
  url: key(url(['rtsp', 'rtsps']), 'The stream that clips are cut from.', { example: 'rtsp://10.0.0.21:554/main' }),
  detectUrl: key(
    url(['rtsp', 'rtsps']).nullable().prefault(null),
    'A smaller stream of the same camera for detection; null: url.',
    { example: 'rtsp://10.0.0.21:554/sub' },
  ),
  username: key(text(128).nullable().prefault(null), 'User name at the camera; null: it asks for none.', {
    example: 'viewer',
  }),
  passwordFile: key(secretFile().nullable().prefault(null), 'File with the password at the camera.', {
    example: 'secrets/cam1',
  }),
  warehouseId: key(id().nullable().prefault(null), 'The warehouse it stands in; null: site.warehouseId.'),
  zoneId: key(id().nullable().prefault(null), 'The zone it looks at; null: none in particular.'),
  purpose: key(
    text(500).nullable().prefault(null),
    'What it is for, in words for the people in its picture; the notice at the door shows them.',
    { example: 'To show in what condition pallets were received.' },
  ),
  slots: key(z.array(text(64)).prefault([]), 'The slots it looks at, by slot_id.', { example: ['A-01-01'] }),
  owner: key(caller().nullable().prefault(null), 'The user who may see and control it beside the admins.', {
    example: 'dock-admin',
  }),
  viewers: key(callers(), `Users and groups who may see it: ${whoIs}.`, {
    example: ['alice@https://cloud.example.com', 'group:wh-supervisors'],
  }),
  retentionDays: key(
    number(0, 36_500, 'days').nullable().prefault(null),
    'Age in days at which its clips are removed; null: retention.clips.maxAgeDays.',
    { example: 14 },
  ),
  recordingHours: key(
    filledList(recordingHours(), 50, 'a list of 1 to 50 times of the week').nullable().prefault(null),
    'Hours in which the camera watches and records, in the time zone of its warehouse; null: always. Outside them nothing is recorded.',
    { example: ['Mo-Fr 06:00-22:00'] },
  ),
  history: key(section(history), 'Continuous video.'),
  motion: key(section(motion), 'Motion detection.'),
}

const webhooks = {
  allowNetworks: key(z.array(network()).prefault([]), 'Private networks that webhooks may be sent into.', {
    example: ['10.0.0.0/8'],
  }),
  caFile: key(file().nullable().prefault(null), 'Certificates in PEM to trust for receivers beside the public ones.', {
    example: 'receivers-ca.pem',
  }),
  timeout: key(duration().prefault('30s'), 'Time from the start of an attempt by which a receiver must have answered.'),
  retrySchedule: key(
    filledList(duration(), 100, 'a list of 1 to 100 durations').prefault(['0s', '1m', '5m', '30m', '2h', '12h']),
    'Delays before each attempt of a delivery; there are as many attempts as delays.',
  ),
  probe: key(
    section({
      initial: key(duration().prefault('10s'), 'First time between two attempts at a failing receiver; it doubles.'),
      max: key(duration().prefault('5m'), 'Longest time between two attempts at a failing receiver.'),
    }),
    'How a failing receiver is tried.',
  ),
  autoResume: key(
    section({
      enabled: key(flag().prefault(true), 'Whether a receiver disabled by its failures is tried and enabled again.'),
      every: key(duration().prefault('15m'), 'Time between two such tries.'),
    }),
    'How a receiver disabled by its failures comes back.',
  ),
  drainPerSecond: key(
    wholeNumber(1, 100_000, 'deliveries a second').prefault(50),
    'Deliveries a second to one receiver after an outage.',
  ),
}

const metricsListener = {
  host: key(host().prefault('127.0.0.1'), 'Address to listen on.'),
  port: key(wholeNumber(0, 65_535).prefault(9480), 'Port; 0 is any free one.'),
  tokenFile: key(
    secretFile().nullable().prefault(null),
    'File with the bearer token to ask for; null: metrics-token in dataDir, made at the first start.',
  ),
  networks: key(z.array(network()).prefault([]), 'Networks that may ask beside this machine.', {
    example: ['10.0.9.0/24'],
  }),
}

const rate = () => wholeNumber(1, 1_000_000, 'requests a minute')

const rateLimit = {
  requestsPerMinute: key(rate().prefault(100), 'Requests a minute of one user, or of one address without a user.'),
  users: key(z.record(caller(), rate()).prefault({}), 'Requests a minute of single users; goes before roles.', {
    example: { 'scanner-1': 600 },
  }),
  roles: key(z.record(keyOneOf(roleNames), rate()).prefault({}), 'Requests a minute of each user with a role.', {
    example: { admin: 1000 },
  }),
  photoBytesPerMinute: key(size().prefault('120MiB'), 'Bytes of photos that one user may send in a minute.'),
}

const ledger = {
  maxAge: key(
    duration().nullable().prefault(null),
    'Events older than this are refused; null: late events are always taken.',
    { example: '7d' },
  ),
  enforce: key(
    z.array(oneOf(warningCodes)).prefault([]),
    'Warnings that refuse an event instead of being recorded with it.',
    { example: ['OVERWEIGHT'] },
  ),
}

const defaultStages = ['registered', 'receiving', 'inspecting', 'storing', 'staging', 'loading', 'departed']

const units = {
  stages: key(
    filledList(text(64), 100, 'a list of 1 to 100 stages, each only once').refine(allDifferent).prefault(defaultStages),
    'Stages of a transport unit in their order; with the last one it is completed.',
  ),
}

const warehouse = {
  id: key(id(), 'The warehouse.', { example: 1 }),
  viewers: key(callers(), "Users and groups who may see it, named as a camera's; empty: everybody.", {
    example: ['group:wh-supervisors'],
  }),
}

const labelSize = () =>
  textLike(
    /^(?:[2-9]\d|1\d\d|2[01]\d)x(?:[1-9]\d|[12]\d\d|300)$/,
    'width x height in millimetres, such as 100x50, from 20x10 to 219x300',
  )

/** Resolutions of label print heads, in dots an inch. */
export const printerDpis = [152, 203, 300, 600] as const
const dpi = () => wholeNumber(152, 600, 'dots an inch').refine((value) => printerDpis.some((one) => one === value))

const sscc = {
  companyPrefix: key(
    textLike(/^\d{4,12}$/, 'a GS1 Company Prefix of 4 to 12 digits'),
    'The GS1 Company Prefix under which this site numbers its pallets.',
    { example: '0614141' },
  ),
  extensionDigit: key(
    wholeNumber(0, 9).prefault(0),
    'First digit of the numbers; one for each gateway that shares the prefix.',
  ),
}

const labels = {
  size: key(labelSize().prefault('100x50'), 'Width and height of a label in millimetres.'),
  sscc: key(
    z.strictObject(sscc).nullable().prefault(null),
    'Numbers for pallets that have none; null: the gateway gives none.',
  ),
}

const printer = {
  name: key(text(64), 'Name by which a print job asks for it.', { example: 'dock-1' }),
  host: key(host(), 'Its address or host name; its port stands in port.', { example: '10.0.0.41' }),
  port: key(wholeNumber(1, 65_535).prefault(9100), 'Its raw port.'),
  dpi: key(dpi().prefault(203), 'Dots an inch of its head: 152, 203, 300 or 600.'),
  size: key(labelSize().nullable().prefault(null), 'The labels in it; null: labels.size.', { example: '100x50' }),
  timeout: key(duration().prefault('10s'), 'How long it may keep the gateway waiting before an attempt has failed.'),
  giveUpAfter: key(duration().prefault('24h'), 'Age at which a label that could not be printed is given up.'),
}

const retention = {
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
    'What motion detection saw.',
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

const evidence = {
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
    'Who is asked after each checkpoint to confirm that the log only grew.',
    { identity: 'name' },
  ),
  timestamps: key(
    z.array(z.strictObject(stampAuthority)).superRefine(distinct('url'), always).prefault([]),
    'Time stamp authorities (RFC 3161); each stamps the newest checkpoint, at most once an hour.',
    { identity: 'url' },
  ),
  quorum: key(wholeNumber(1, 16).prefault(1), 'How many of them make a fact witnessed.'),
}

const witness = {
  enabled: key(flag().prefault(false), 'Whether this gateway is a witness of other logs: /witness/add-checkpoint.'),
  name: key(
    keyName().nullable().prefault(null),
    'Name of its key, which stands in its cosignatures; it is chosen once. Needed when enabled.',
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

const hub = {
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
  maxBytesPerSecond: key(
    size().nullable().prefault(null),
    'Most bytes a second that are sent to it, such as 64KiB; null: as fast as the line is.',
    { example: '64KiB' },
  ),
}

const backupFile = {
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
    'Where backups are made by themselves: storage (the server of storage.upload, sealed under the recovery key) or a folder (plain files); null: nowhere. They hold the keys of this box, and no photos and clips.',
  ),
  every: key(
    duration().prefault('24h'),
    'Time from one backup to the next. Each is restored beside the ledger and verified.',
  ),
  keep: key(wholeNumber(1, 10_000).prefault(14), 'Number of backups that are kept; older ones are removed.'),
}

const backupSegments = {
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
    'Where what is new goes by itself, sealed under the recovery key (gatehouse backup key): storage (the server of storage.upload) or a folder; null: nowhere.',
  ),
  every: key(duration().prefault('1m'), 'Time after which what is new is written.'),
  leaves: key(wholeNumber(1, 65_536).prefault(256), 'Number of new leaves after which it is written at once.'),
  keep: key(
    duration().prefault('14d'),
    'Time for which a series stays when another one has followed it, such as after a person was erased.',
  ),
}

const privacy = {
  fourEyesForExport: key(
    flag().prefault(false),
    'Whether a second person has to approve each export of a clip. Callers who may not export then play no clips.',
  ),
  controller: key(
    text(500).nullable().prefault(null),
    'Who is responsible for the video (name and address); the notice at the door shows it.',
    { example: 'Example Logistics GmbH, Hafenstrasse 1, 20457 Hamburg' },
  ),
  contact: key(
    text(500).nullable().prefault(null),
    'Whom people in the picture can ask; the notice at the door shows it.',
    { example: 'privacy@dc7.example, +49 40 123456' },
  ),
  legalBasis: key(
    text(500).nullable().prefault(null),
    'Legal basis of the video, for the notice at the door; null: the notice has no such line.',
    { example: 'Legitimate interests: protection of goods (Art. 6 (1) (f) GDPR).' },
  ),
}

/** In the contract, and no code obeys it in this version: other values are warnings. */
const unheard = { obeyed: false } as const

const objectDetection = {
  enabled: key(flag().prefault(false), 'Whether the console marks people and vehicles in live pictures.', unheard),
  modelFile: key(text(500).nullable().prefault(null), 'The model that finds them; null: none.', unheard),
  confidenceThreshold: key(number(0, 1).prefault(0.5), 'Least confidence of a mark.', unheard),
  maxDetections: key(wholeNumber(1, 100).prefault(20), 'Most marks in one picture.', unheard),
  fps: key(wholeNumber(1, 30).prefault(5), 'Pictures a second that are looked at.', unheard),
}

const live = { applies: 'live' } as const
const restart = { applies: 'restart' } as const

/** Where a daemon listens. The head office has the same. */
export const listenKey = key(
  filledList(z.strictObject(listener), 64, 'a list of 1 to 64 listeners')
    .superRefine(distinctAddresses, always)
    .superRefine(plainHttpIsMeant, always)
    .prefault([{ host: '127.0.0.1', port: 8480 }]),
  'Where the gateway listens.',
  restart,
)

const everything = z.strictObject({
  site: key(section(site), 'What this gateway is called and where it is found.', restart),
  listen: listenKey,
  dataDir: key(folder().prefault('/var/lib/gatehouse'), 'Folder of the ledger, clips, photos and keys.', restart),
  runtimeDir: key(folder().prefault('/run/gatehouse'), 'Folder of the control socket.', restart),
  auth: key(section(auth), 'Who may call, and as what.', live),
  storage: key(
    z.strictObject(storage).superRefine(uploadIsKnown, always).prefault({}),
    'File storage servers: they verify callers and keep copies of evidence.',
    live,
  ),
  cameras: key(
    z
      .array(z.strictObject(camera).superRefine(passwordHasUser, always))
      .superRefine(distinct('id'), always)
      .prefault([]),
    'Cameras.',
    { ...live, identity: 'id' },
  ),
  webhooks: key(section(webhooks), 'Delivery of notifications.', live),
  uplink: key(
    section({
      probes: key(
        z.array(url(['https', 'http'])).prefault([]),
        'Addresses that answer whenever the uplink works; while all of them fail, no delivery counts as failed. Over http only a 2xx that is no HTML page counts as an answer, because a captive portal gives one too.',
        { example: ['https://cloud.example.com/status.php'] },
      ),
    }),
    'How the gateway knows that it is itself offline.',
    live,
  ),
  metrics: key(
    section({
      listen: key(
        z.strictObject(metricsListener).nullable().prefault(null),
        'A listener of its own for a collector that can not send the X-Storage headers; null: none.',
      ),
    }),
    'Metrics.',
    restart,
  ),
  rateLimit: key(section(rateLimit), 'How often callers may ask.', live),
  ledger: key(section(ledger), 'What the ledger refuses.', live),
  units: key(section(units), 'Transport units.', live),
  warehouses: key(
    z.array(z.strictObject(warehouse)).superRefine(distinct('id'), always).prefault([]),
    'Only to narrow who sees a warehouse; the warehouses themselves are made through the API.',
    live,
  ),
  http: key(
    section({
      corsOrigins: key(
        z.array(origin()).prefault([]),
        'Pages of other addresses that browsers may let use the API; with the X-Storage headers, never with a session.',
        { example: ['https://wms.example.com'] },
      ),
      hostNames: key(
        z.array(z.string().regex(/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i, 'expected a host name')).prefault([]),
        "Further names by which this gateway is asked, such as a proxy's. Addresses, localhost, the machine's name, the host of site.url and the names of the certificates need no entry.",
        { example: ['gatehouse.example.com'] },
      ),
      trustedProxies: key(z.array(network()).prefault([]), 'Proxies whose X-Forwarded-For is believed.', {
        example: ['10.0.0.5/32'],
      }),
    }),
    'HTTP.',
    live,
  ),
  labels: key(section(labels), 'Labels of slots and pallets.', live),
  printers: key(
    z.array(z.strictObject(printer)).superRefine(distinct('name'), always).prefault([]),
    'Label printers that speak ZPL; the first one prints what names none.',
    { ...live, identity: 'name' },
  ),
  retention: key(section(retention), 'How long evidence stays on this box.', live),
  evidence: key(section(evidence), 'What outsiders can check.', live),
  backup: key(
    section({
      segments: key(section(backupSegments), 'What is new, every minute, so that a lost box costs a minute.'),
      file: key(section(backupFile), 'Backups of the ledger, keys and settings, each in one file.'),
    }),
    'Copies of the ledger at another place.',
    live,
  ),
  hub: key(
    section(hub).superRefine(hubHasToken, always),
    'The head office to which this gateway sends its log. Nothing on the floor waits for it.',
    live,
  ),
  witness: key(
    section(witness).superRefine(witnessIsNamed, always),
    'Whether this gateway confirms the logs of others.',
    live,
  ),
  privacy: key(section(privacy), 'What people in front of the cameras are told.', live),
  console: key(
    section({ objectDetection: key(section(objectDetection), 'Marks in the live pictures of the console.') }),
    'The console.',
    live,
  ),
  updates: key(
    section({
      floorLayout: key(
        text(40).prefault('automatic'),
        'Layout of the pages for the floor: automatic, or the version whose layout they keep.',
        { ...unheard, example: '1.0' },
      ),
    }),
    'What an update may change.',
    live,
  ),
  video: key(
    section({
      memoryBytes: key(
        size().nullable().prefault(null),
        'Memory for the newest video of all cameras, from which clips get their beginning; null: an eighth of what there is.',
        { example: '512MiB' },
      ),
    }),
    'How video is kept while it is new.',
    live,
  ),
  ffmpeg: key(
    section({
      path: key(
        file().nullable().prefault(null),
        'The ffmpeg to use; null: the one of the system, else the one that came with gatehouse.',
        { example: '/usr/bin/ffmpeg' },
      ),
    }),
    'The program that reads and cuts video.',
    restart,
  ),
})

/**
 * The whole config. Every key carries its type, default, sentence, unit and whether a reload applies it. Checks, types,
 * reference, example and reload plan are made from here.
 */
export const configSchema = everything
  .superRefine(metricsHaveTheirOwnAddress, always)
  .superRefine(siteIsNoInstance, always)
  .superRefine(backupHasStorage, always)
  .superRefine(namesAreSomebody, always)

/** The schema's output, before the defaults that follow from other keys. */
export type Parsed = z.output<typeof configSchema>

export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/**
 * The config in force; frozen. Keys are those of the file. Durations are milliseconds, sizes bytes, paths absolute;
 * URLs of servers have no final slash, networks are CIDRs. Absent optional values are null.
 */
export type Config = DeepReadonly<
  Omit<Parsed, 'site' | 'cameras'> & {
    site: Omit<Parsed['site'], 'url'> & { url: string }
    cameras: (Omit<Parsed['cameras'][number], 'name'> & { name: string })[]
  }
>

export type CameraConfig = Config['cameras'][number]
