import { createHash, createHmac } from 'node:crypto'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from './client.ts'
import { holds, same } from './expect.ts'
import { flipByteOfLeaf } from './flip.ts'
import type { Gateway } from './gateway.ts'
import { type Inbox, rightlySigned } from './inbox.ts'
import { palletPhoto } from './photo.ts'
import { countEvents, eventsPath, record, type Scan, send, uploadPhoto } from './scans.ts'
import type { Tampering } from './tampering.ts'
import type { DemoSlot, Floor } from './warehouse.ts'

/** The acts of the story, each with all its claims checked. The text that they return is printed. */

const webhookEvents = ['whms.placement', 'whms.removal', 'whms.verification', 'whms.dispute']
const arrivalLimitMs = 30_000

export async function isHealthy(gateway: Gateway): Promise<{ detail: string }> {
  const answer = await fetch(`${gateway.url}/api/health`, { signal: AbortSignal.timeout(10_000) })
  const { status, version, checks } = (await answer.json()) as {
    status: string
    version: string
    checks: Record<string, { status: string }>
  }
  same('status of /api/health', answer.status, 200)
  same('check "database" of /api/health', checks['database']?.status, 'healthy')
  return { detail: `version ${version} at ${gateway.url}, ${status}` }
}

export async function registerWebhook(admin: Client, inbox: Inbox): Promise<string> {
  const { url } = inbox.receiver
  const webhook = await admin.create('/api/webhooks', { url, events: webhookEvents, secret: inbox.secret })
  same('secret in the answer', webhook.secret, undefined)
  return webhook.id
}

export async function holdPhoto(by: Client): Promise<{ url: string; sha256: string; sizeBytes: number }> {
  const photo = palletPhoto(1)
  const held = await uploadPhoto(by, photo)
  same('sha256 of the photo', held.sha256, createHash('sha256').update(photo).digest('hex'))
  const back = await by.get(new URL(held.url).pathname)
  holds(photo.equals(back as Buffer), 'the photo came back with other bytes')
  return { ...held, sizeBytes: photo.length }
}

/** Waits for the notification of an event, and checks it. Returns the name of the checker. */
export async function arrives(inbox: Inbox, type: string, event: { eventId: string }): Promise<string> {
  const { receiver, secret } = inbox
  const came = await receiver.waitFor((request) => request.event.id === event.eventId, arrivalLimitMs)
  return rightlySigned(came, type, secret)
}

type ZoneUse = { zone: string; occupied: number; total: number }
type Standing = { floor: Floor; slot: DemoSlot; pallet: string }

/** Slot, location and utilization, while that one pallet is verified and all else is empty. */
export async function floorShows(by: Client, { floor, slot, pallet }: Standing): Promise<{ detail: string }> {
  for (const path of [slot.id, slot.label]) {
    const { isOccupied, assetBarcode, isVerified } = await by.get(`/api/whms/slots/${path}`)
    same(
      `slot ${path}`,
      { isOccupied, assetBarcode, isVerified },
      { isOccupied: true, assetBarcode: pallet, isVerified: true },
    )
  }
  const location = await by.get(`/api/whms/assets/${pallet}/location`)
  same('location of the pallet', location.slot?.slot_id, slot.label)
  const { success: _, byZone, ...sums } = await by.get('/api/whms/dashboard/utilization')
  same('utilization', sums, {
    totalSlots: floor.slots.length,
    occupiedSlots: 1,
    utilizationPercent: Math.round((100 / floor.slots.length) * 100) / 100,
    pendingVerifications: 0,
  })
  same(
    'utilization of the zones',
    byZone.map(({ zone, occupied, total }: ZoneUse) => ({ zone, occupied, total })),
    floor.zones.map((zone) => ({
      zone,
      occupied: zone === slot.zone ? 1 : 0,
      total: floor.slots.filter((one) => one.zone === zone).length,
    })),
  )
  return {
    detail: `${slot.label} occupied and verified, 1 of ${floor.slots.length} slots (${sums.utilizationPercent} %)`,
  }
}

type Recorded = { readonly scan: Scan; readonly event: { readonly id: number } }

/** A scan under the key that it had, and one under another key but with its own id: neither is recorded again. */
export async function repeats(
  { by, scan, event }: Recorded & { by: Client },
  judged: Recorded & { by: Client },
): Promise<{ detail: string }> {
  const before = await countEvents(by)
  const replayed = await record(by, scan)
  same('the answer under the same Idempotency-Key', replayed.body, event)
  same('Idempotency-Replayed', replayed.headers.get('idempotency-replayed'), 'true')
  const recognised = await send(judged.by, { ...judged.scan, key: 'after-a-reset' })
  same('status under the same client_event_id', recognised.status, 200)
  same('id under the same client_event_id', recognised.body.id, judged.event.id)
  same('events in the ledger', await countEvents(by), before)
  return {
    detail: `same Idempotency-Key: same answer; same client_event_id: event ${judged.event.id}; still ${before} events`,
  }
}

/**
 * Another process with its own connection tries to rewrite the file that the gateway has open.
 * @param tables which of them must have been tried
 */
export async function cannotBeRewritten(
  gateway: Gateway,
  by: Client,
  event: { id: number },
  tables: readonly string[],
): Promise<{ detail: string }> {
  const asBefore = await by.get(`${eventsPath}/${event.id}`)
  const { tried, leftOut, before, after, walStayed } = await tamper(gateway)
  for (const { by: whom, attempts, recursiveTriggers, writableElsewhere } of tried) {
    same(`PRAGMA recursive_triggers of ${whom}`, recursiveTriggers, 0)
    holds(writableElsewhere > 0, `${whom} could not write to any table, so its attempts prove nothing`)
    for (const { table, what, refusal } of attempts) {
      holds(refusal !== null, `${what} on ${table} by ${whom} got through`)
      holds(
        refusal.includes(`${table} is append-only`),
        `${what} on ${table} by ${whom} failed for another reason: ${refusal}`,
      )
    }
  }
  same('the rows that were there', after, before)
  for (const table of tables) holds(table in before, `${table} was empty, so nothing was tried on it`)
  holds(
    walStayed,
    'whoever looks into the file takes its write-ahead log away: what the gateway writes now will be lost',
  )
  same(`event ${event.id}`, await by.get(`${eventsPath}/${event.id}`), asBefore)
  const counts = tried.map(({ by: whom, attempts }) => `${attempts.length} attempts by ${whom}`).join(', ')
  return { detail: `refused as it must: ${counts}${leftOut ? ` (${leftOut})` : ''}` }
}

async function tamper(gateway: Gateway): Promise<Tampering> {
  const program = fileURLToPath(new URL('./tampering.ts', import.meta.url))
  const args = ['--disable-warning=ExperimentalWarning', program, join(gateway.dataDir, 'gatehouse.db')]
  const { code, stdout, stderr } = await gateway.runBeside(process.execPath, args)
  same(`exit code of the other process (${stderr.trim()})`, code, 0)
  return JSON.parse(stdout) as Tampering
}

type Head = { readonly size: number; readonly root: string }

/** Expected content of the ledger. */
export type Held = {
  readonly events: number
  /** Their own leaves beside those of the events. */
  readonly detections: number
  /** The head before; it may only have grown since. */
  readonly before?: Head
}

/** Recomputes everything. */
export async function verifies(
  gateway: Gateway,
  { events, detections, before }: Held,
): Promise<{ detail: string; head: Head }> {
  const { code, found } = await gateway.verify()
  same('mismatches', found.mismatches, [])
  same('ok', found.ok, true)
  same('exit code', code, 0)
  same('events', found.events, events)
  const least = events + detections
  holds(found.size >= least, `${events} events and ${detections} detections, but only ${found.size} leaves`)
  if (before) {
    // A busy machine may have cost a camera its pictures meanwhile, which is a leaf more.
    holds(found.size >= before.size, `${found.size} leaves, and before ${before.size}`)
    if (found.size === before.size) same('root', found.root, before.root)
  }
  return { head: found, detail: `${found.size} leaves, ${found.events} events, root ${found.root.slice(0, 16)}…` }
}

/** A webhook whose receiver holds another secret. Everything but the signature is right, and the receiver must report that. */
export async function refusesWrongSecret(
  admin: Client,
  stranger: Inbox,
  registered: string,
): Promise<{ detail: string }> {
  const { url } = stranger.receiver
  const webhook = await admin.create('/api/webhooks', { url, events: ['whms.removal'], secret: registered })
  const { body } = await admin.expect(200, 'POST', `/api/webhooks/${webhook.id}/test`)
  same(
    'the test as the gateway sees it',
    { delivered: body.delivered, statusCode: body.statusCode },
    { delivered: false, statusCode: 401 },
  )
  const came = await stranger.receiver.waitFor(({ type }) => type === 'webhook.test', arrivalLimitMs)
  same('delivery id', came.deliveryId, body.deliveryId)
  same('signature under the secret of the receiver', came.signatureValid, false)
  const hmac = createHmac('sha256', registered).update(came.body).digest('hex')
  same('signature under the registered secret', came.headers['x-service-signature'], `sha256=${hmac}`)
  return { detail: 'refused as it must: it came over TLS, only its signature did not fit; answered with 401' }
}

export async function stopsCleanly(gateway: Gateway): Promise<{ detail: string }> {
  same('exit code', await gateway.stop(), 0)
  return { detail: 'exit code 0' }
}

/**
 * Verifies a copy of the ledger, and again after one bit of one leaf was flipped. Only that leaf and the checkpoints over it may be
 * named.
 */
export async function findsFlippedByte(gateway: Gateway, seq: number): Promise<{ detail: string }> {
  const copy = join(gateway.folder, 'copy')
  const configFile = join(gateway.folder, 'copy.yaml')
  cpSync(gateway.dataDir, copy, { recursive: true })
  gateway.configure({}, configFile, copy)
  const whole = await gateway.verify(configFile)
  same(
    'the copy before the flip',
    { code: whole.code, mismatches: whole.found.mismatches },
    { code: 0, mismatches: [] },
  )
  const { offset, from, to } = flipByteOfLeaf(join(copy, 'gatehouse.db'), seq)
  const { code, found } = await gateway.verify(configFile)
  same('exit code of ledger verify', code, 1)
  same('ok', found.ok, false)
  const first = found.mismatches.find(({ where }) => namesLeaf(where, seq))
  holds(first, 'ledger verify does not name the leaf')
  for (const { where } of found.mismatches)
    holds(namesLeaf(where, seq) || covers(where, seq), `the flip was in leaf ${seq}, but this is named: ${where}`)
  return { detail: `refused as it must: byte ${offset}, ${from} to ${to}; "${first.where}: ${first.what}"` }
}

const namesLeaf = (where: string, seq: number) => new RegExp(`\\bleaf ${seq}\\b`).test(where)
/** A head that was signed over the leaf does not fit it any more, in the database and in `keys/log.head`. */
const covers = (where: string, seq: number) =>
  where === 'keys/log.head' || Number(/^checkpoint over (\d+) leaves\b/.exec(where)?.[1]) >= seq
