import { z } from 'zod'
import {
  always,
  backupHasStorage,
  distinct,
  distinctAddresses,
  hubHasToken,
  metricsHaveTheirOwnAddress,
  namesAreSomebody,
  passwordHasUser,
  plainHttpIsMeant,
  siteIsNoInstance,
  uploadIsKnown,
  witnessIsNamed,
} from './cross-checks.ts'
import { file, folder, network, oneOf, origin, recordingHours, size, text, url } from './kinds.ts'
import { auth, hostNames, listener, metricsListener, rateLimit, site, storage } from './sections/access.ts'
import { alerts } from './sections/alerts.ts'
import { camera, objectDetection, privacy } from './sections/cameras.ts'
import { backupFile, backupSegments } from './sections/copies.ts'
import { evidence, hub, retention, witness } from './sections/evidence.ts'
import { labels, ledger, printer, units, warehouse } from './sections/floor.ts'
import { filledList, key, section } from './sections/shared.ts'
import { webhooks } from './sections/webhooks.ts'

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
  site: key(section(site), 'Name and address of this gateway.', restart),
  listen: listenKey,
  dataDir: key(folder().prefault('/var/lib/gatehouse'), 'Folder of the ledger, clips, photos and keys.', restart),
  runtimeDir: key(folder().prefault('/run/gatehouse'), 'Folder of the control socket.', restart),
  auth: key(section(auth), 'Callers and their roles.', live),
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
  alerts: key(alerts.prefault({}), 'Messages to people about alerts.', live),
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
        'A separate listener for a collector that cannot send the X-Storage headers; null: none.',
      ),
    }),
    'Metrics.',
    restart,
  ),
  rateLimit: key(section(rateLimit), 'Requests that callers may send.', live),
  ledger: key(section(ledger), 'Events that the ledger refuses.', live),
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
      hostNames,
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
  evidence: key(section(evidence), 'Evidence that outsiders can check.', live),
  backup: key(
    section({
      segments: key(section(backupSegments), 'New changes, every minute: a lost box costs a minute.'),
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
  privacy: key(section(privacy), 'The notice for people in front of the cameras.', live),
  console: key(
    section({ objectDetection: key(section(objectDetection), 'Marks in the live pictures of the console.') }),
    'The console.',
    live,
  ),
  updates: key(
    section({
      floorLayout: key(text(40).prefault('automatic'), 'Is ignored: the floor sees the pages of the running version.'),
      offers: key(
        oneOf(['ignore', 'show', 'take']).prefault('show'),
        'Versions that the head office offers. show: "gatehouse status" names them. take: "gatehouse upgrade offered" also lets a timer install them.',
      ),
      window: key(
        filledList(recordingHours(), 50, 'a list of 1 to 50 times of the week').prefault(['Mo-Su 02:00-05:00']),
        'When an offered version may be taken, in the time zone of the warehouse site.warehouseId; UTC while it is not there.',
        { example: ['Sa 20:00-24:00'] },
      ),
    }),
    'Changes that an update may make, and when.',
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
