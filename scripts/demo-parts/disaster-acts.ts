import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StorageServer } from '../../test/support/storage-server.ts'
import { waitUntil } from '../../test/support/waiting.ts'
import type { Client } from './client.ts'
import { holds, same } from './expect.ts'
import type { Gateway } from './gateway.ts'
import { countEvents, eventsPath, isAsAnswered, record, type Scan } from './scans.ts'
import type { Answered, Shift } from './shift.ts'

/** The acts of the story of a lost box, each with all its claims checked. The text that they return is printed. */

/** The fields of `restore --json` that the acts read. */
export type Restored = {
  readonly logId: string
  readonly size: number
  readonly rootHash: string
  readonly segments: number
  readonly events: number
  /** Files that rows name and that are not there. */
  readonly lacking: number
  readonly lost: { readonly from: string | null }
  readonly fork: { readonly logId: string; readonly parentLogId: string; readonly parentSize: number } | null
}

/**
 * Evidence that an outsider stored: the proof of one event, the checkpoint of that moment, and the verifier key of the log.
 */
export type Kept = {
  readonly event: Answered['event']
  readonly bundle: string
  readonly checkpoint: string
  readonly size: number
  readonly vkey: string
}

/** Runs a command that must end with exit code 0. */
async function output(gateway: Gateway, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await gateway.run([...args, '--config', gateway.configFile])
  same(`exit code of gatehouse ${args.slice(0, 2).join(' ')} (${stderr.trim()})`, code, 0)
  return stdout
}

export async function keepRecoveryKey(gateway: Gateway, elsewhere: string) {
  const line = await output(gateway, ['backup', 'key'])
  holds(/^AGE-SECRET-KEY-1[0-9A-Z]{58}\n$/.test(line), 'backup key printed something else than a recovery key')
  const recoveryKey = join(elsewhere, 'recovery-key')
  writeFileSync(recoveryKey, line, { mode: 0o600 })
  return { recoveryKey, detail: `one line, in ${recoveryKey}` }
}

/** Puts away the proof of the newest answered event. */
export async function keepProof(
  gateway: Gateway,
  { shift, admin, elsewhere, name }: { shift: Shift; admin: Client; elsewhere: string; name: string },
): Promise<Kept & { detail: string }> {
  const event = shift.answered.at(-1)?.event
  const bundle = join(elsewhere, `${name}.proof.json`)
  const checkpoint = join(elsewhere, `${name}.checkpoint`)
  const [vkey = ''] = (await output(gateway, ['ledger', 'key'])).split('\n')
  await output(gateway, ['ledger', 'proof', String(event.id), '--out', bundle])
  const note = String(await admin.get('/api/log/checkpoint'))
  writeFileSync(checkpoint, note)
  const size = Number(note.split('\n')[1])
  holds(size >= event.seq, `the checkpoint covers ${size} leaves, and event ${event.id} is leaf ${event.seq}`)
  const detail = `event ${event.id} is leaf ${event.seq}; the checkpoint covers ${size} leaves`
  return { event, bundle, checkpoint, size, vkey, detail }
}

type Leaving = { readonly shift: Shift; readonly photo: string; readonly more: number }

/** Waits until the photo and so many more segments are on the server, and looks whether the segments are sealed. */
export async function segmentsLeave(
  storage: StorageServer,
  { shift, photo, more }: Leaving,
): Promise<{ detail: string }> {
  const there = () => [...storage.dav.files].filter(([path]) => path.endsWith('.seg'))
  const enough = there().length + more
  await waitUntil(`${more} more segments are on the storage server`, () => there().length >= enough)
  await waitUntil('the photo is on the storage server', () => copyOf(storage, photo) !== undefined)
  const words = [...new Set(shift.answered.flatMap(({ event }) => [event.asset_barcode, event.evidence_hash]))]
  for (const [path, bytes] of there()) {
    const plain = words.find((word) => Buffer.isBuffer(bytes) && bytes.includes(word))
    holds(plain === undefined, `${path} shows ${plain} to whoever reads it`)
  }
  const detail = `${shift.answered.length} scans were answered; ${there().length} segments are there, and none shows a pallet`
  return { detail }
}

export async function burns(gateway: Gateway, shift: Shift): Promise<{ detail: string }> {
  await gateway.kill()
  await shift.over()
  rmSync(gateway.dataDir, { recursive: true })
  holds(!existsSync(gateway.dataDir), 'the data folder is still there')
  const { answered, unanswered } = shift
  return { detail: `${answered.length} scans had been answered, ${unanswered.length} were waiting for their answer` }
}

type Source = { readonly storage: StorageServer; readonly recoveryKey: string; readonly leastSegments: number }

export async function comesBack(box: Gateway, { storage, recoveryKey, leastSegments }: Source) {
  const [user] = storage.users
  const address = `${storage.url}/remote.php/dav/files/${user?.id}/gatehouse`
  const args = ['restore', '--from-segments', address, '--recovery-key', recoveryKey, '--json']
  const restored = JSON.parse(await output(box, args)) as Restored
  holds(restored.segments > leastSegments, `only ${restored.segments} segments came back`)
  holds(restored.fork, 'the log goes on as if nothing had been lost')
  const detail = `${restored.segments} segments: ${restored.events} events, ${restored.size} leaves, all of them verified`
  return { restored, detail }
}

const isIn = ({ size }: Restored, { event }: Answered) => event.seq <= size

/** Each event that had reached the segments equals its answer, and every slot has the state that follows. */
export async function olderIsThere(by: Client, shift: Shift, restored: Restored): Promise<{ detail: string }> {
  const older = shift.answered.filter((one) => isIn(restored, one)).toSorted((a, b) => a.event.seq - b.event.seq)
  holds(older.length > 0, 'nothing of the shift came back')
  same('events in the ledger', restored.events, older.length)
  same('events that the new box counts', await countEvents(by), older.length)
  for (const { event } of older) await isAsAnswered(by, event)
  const standing = new Map<number, string | null>()
  for (const { event } of older) standing.set(event.slot.id, event.slot.assetBarcode)
  const { data } = await by.get('/api/whms/slots?limit=500')
  for (const { id, slot_id, assetBarcode } of data) same(`slot ${slot_id}`, assetBarcode, standing.get(id) ?? null)
  const newest = older.at(-1)?.event.received_at
  same('begin of the lost window, as restore says it', restored.lost.from, newest)
  return {
    detail: `${older.length} events as they were answered, ${data.length} slots as they follow; the newest of ${newest}`,
  }
}

const shownMissing = 5

/** The acknowledged scans that the new box does not have. */
export async function missingAreNamed(
  by: Client,
  { shift, restored, print }: { shift: Shift; restored: Restored; print: (line: string) => void },
): Promise<{ missing: readonly Answered[]; detail: string }> {
  const missing = shift.answered.filter((one) => !isIn(restored, one))
  holds(missing.length > 0, 'nothing is missing, although the line was cut')
  for (const [n, { event }] of missing.entries()) {
    same(`status of event ${event.id}`, (await by.ask('GET', `${eventsPath}/${event.id}`)).status, 404)
    holds(event.received_at >= (restored.lost.from ?? ''), `event ${event.id} is older than the lost window`)
    if (n < shownMissing) {
      print(
        `        missing: ${event.event_type} ${event.asset_barcode} in ${event.slot.slot_id} at ${event.received_at}`,
      )
    }
  }
  const rest = missing.length - shownMissing
  if (rest > 0) print(`        missing: ${rest} more`)
  return { missing, detail: `${missing.length} scans, all recorded after ${restored.lost.from}` }
}

const copyOf = (storage: StorageServer, photo: string) =>
  [...storage.dav.files.keys()].find((path) => path.endsWith(`/${photo}.png`))

type Lost = {
  readonly storage: StorageServer
  readonly password: string
  readonly photo: string
  readonly restored: Restored
}

/** Fetches the copy of the photo as its admin would, and puts it where it was. */
export async function photoComesBack(
  box: Gateway,
  { storage, password, photo, restored }: Lost,
): Promise<{ detail: string }> {
  same('files that the restore misses', restored.lacking, 1)
  const named = { where: `photo ${photo.slice(0, 16)}…`, what: 'its file is not there' }
  same('what the verification names', (await box.verify()).found.mismatches, [named])
  const [user] = storage.users
  const authorization = `Basic ${Buffer.from(`${user?.id}:${password}`).toString('base64')}`
  const path = copyOf(storage, photo)
  const copy = await fetch(`${storage.url}/remote.php/dav/files/${path}`, { headers: { authorization } })
  same(`status of ${path}`, copy.status, 200)
  const folder = join(box.dataDir, 'photos', photo.slice(0, 2))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, `${photo}.png`), Buffer.from(await copy.arrayBuffer()), { mode: 0o600 })
  return { detail: `${named.where}: "${named.what}"; fetched from ${path}` }
}

type Judged = { readonly code: number | null; readonly ok: boolean; readonly words: string }

async function compared(box: Gateway, { checkpoint, vkey }: Kept): Promise<Judged> {
  const args = ['ledger', 'verify', '--checkpoint', checkpoint, '--key', vkey, '--config', box.configFile, '--json']
  const { code, stdout } = await box.run(args)
  const found = JSON.parse(stdout)
  return { code, ok: found.ok, words: found.checkpoint.words }
}

/** A checkpoint from before the window holds. A checkpoint inside the window proves that the end is missing. */
export async function endIsMissed(
  box: Gateway,
  { kept, late, restored }: { kept: Kept; late: Kept; restored: Restored },
): Promise<{ detail: string }> {
  holds(late.size > restored.size, 'the later checkpoint was kept before the line was cut')
  const words = `the log continues the kept checkpoint over ${kept.size} leaves`
  same('the comparison with the checkpoint', await compared(box, kept), { code: 0, ok: true, words })
  const cut = `${late.size} leaves were signed, the log has only ${restored.size}: its end was cut off`
  same('the comparison with the later one', await compared(box, late), { code: 1, ok: false, words: cut })
  return { detail: `"${words}"; "${cut}"` }
}

/** Reads the first leaf of the continued log, from the tiles that anybody may mirror. */
export async function forkIsStated(by: Client, { fork, size, rootHash }: Restored): Promise<{ detail: string }> {
  // The new box verifies the whole ledger before it signs the new log for the first time.
  await waitUntil('the new log is signed', async () => (await by.ask('GET', '/api/log/checkpoint')).status === 200)
  const [origin = '', leaves = ''] = String(await by.get('/api/log/checkpoint')).split('\n')
  same('the log of the newest checkpoint', origin, `gatehouse/demo/${fork?.logId}`)
  const width = Number(leaves) < 256 ? `.p/${leaves}` : ''
  const entries = (await by.get(`/api/log/tile/entries/000${width}`)) as Buffer
  const leaf = JSON.parse(entries.subarray(2, 2 + entries.readUInt16BE()).toString('utf8'))
  const { kind, seq, parentLogId, parentSize, parentRoot } = leaf
  same(
    'the first leaf',
    { kind, seq, parentLogId, parentSize, parentRoot },
    { kind: 'log-fork', seq: 1, parentLogId: fork?.parentLogId, parentSize: size, parentRoot: rootHash },
  )
  return { detail: `it continues log ${parentLogId} at ${parentSize} leaves, root ${parentRoot.slice(0, 16)}…` }
}

/** Recomputes both logs: the one that ends in the fire, and its continuation. */
export async function bothLogsVerify(box: Gateway, restored: Restored): Promise<{ detail: string }> {
  const { code, found } = await box.verify()
  const { ok, mismatches, events } = found
  same(
    'the verification',
    { code, ok, mismatches, events },
    { code: 0, ok: true, mismatches: [], events: restored.events },
  )
  const [old, ...later] = found.logs
  same(
    'the log before the fire',
    { logId: old?.logId, size: old?.size, root: old?.root },
    { logId: restored.logId, size: restored.size, root: restored.rootHash },
  )
  same(
    'the logs behind it',
    later.map(({ logId }) => logId),
    [restored.fork?.logId],
  )
  return {
    detail: `${old?.size} leaves of the log before the fire, ${events} events, and the log that goes on from it`,
  }
}

/** Checks also the proof of an event that the new box has lost, because its signature remains valid. */
export async function oldProofsHold(
  box: Gateway,
  { kept, late }: { kept: Kept; late: Kept },
): Promise<{ detail: string }> {
  for (const { bundle, vkey } of [kept, late]) {
    const { code, stdout } = await box.run(['ledger', 'verify', bundle, '--key', vkey, '--json'])
    const { ok, findings } = JSON.parse(stdout)
    const failed = findings.filter(({ state }: { state: string }) => state === 'fails')
    same(`the verdict on ${bundle}`, { code, ok, failed }, { code: 0, ok: true, failed: [] })
  }
  return { detail: `event ${kept.event.id}, and event ${late.event.id}, which the new box has lost` }
}

/** Everything that a handheld was promised, or still held, is recorded once. */
export async function sentAgain(
  scanner: Client,
  { answered, unanswered }: Shift,
  { missing }: { missing: readonly Answered[] },
): Promise<{ last: Answered['event']; detail: string }> {
  const scans: Scan[] = [...missing.map(({ scan }) => scan), ...unanswered]
  let last: Answered['event']
  for (const scan of scans) last = (await record(scanner, scan)).body
  same('events in the ledger', await countEvents(scanner), answered.length + unanswered.length)
  return { last, detail: `${scans.length} scans are recorded again` }
}
