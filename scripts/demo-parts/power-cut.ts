import type { Answer, Client } from './client.ts'
import { holds, same } from './expect.ts'
import type { Gateway } from './gateway.ts'
import type { Inbox } from './inbox.ts'
import { countEvents, isAsAnswered, placement, record, type Scan, send } from './scans.ts'
import type { DemoSlot, Floor } from './warehouse.ts'

const scanCount = 12
const handhelds = 3
/** The gateway dies at this answer, with other requests still in the air. */
const lastAnswer = 5

type Scene = {
  readonly gateway: Gateway
  readonly scanner: Client
  readonly floor: Floor
  readonly inbox: Inbox
  readonly photo: { readonly url: string; readonly sha256: string }
}

/**
 * Several handhelds scan at once, and the gateway is killed among their requests and started again. An answered scan must
 * be there exactly as answered. An unanswered one is sent again, and is there once.
 */
export async function powerCut(scene: Scene): Promise<{ detail: string; events: number }> {
  const { gateway, scanner, inbox } = scene
  const scans = scansOf(scene)
  const slotsBefore = await otherSlots(scene, scans)
  const eventsBefore = await countEvents(scanner)
  const answered = await scanUntilKilled(scene, scans)
  const startedMs = performance.now()
  await gateway.start()
  const upMs = Math.round(performance.now() - startedMs)
  for (const answer of answered.values()) await eventAndSlot(scanner, answer)
  same('the other slots', await otherSlots(scene, scans), slotsBefore)
  const eventIds = await sendAllAgain(scanner, scans, answered)
  const events = await countEvents(scanner)
  same('events in the ledger', events, eventsBefore + scans.length)
  await allNotified(inbox, eventIds)
  const killed = `killed after ${answered.size} of ${scans.length} answers, up again in ${upMs} ms`
  return { detail: `${killed}; all ${answered.size} there, the others once, all webhooks came`, events }
}

type KeyedScan = Scan & { readonly slot: DemoSlot }

function scansOf({ floor, photo }: Scene): KeyedScan[] {
  return floor.slots.slice(1, 1 + scanCount).map((slot, i) => {
    const pallet = floor.pallets[i + 1] ?? ''
    return { slot, ...placement({ slot, pallet, photoUrl: photo.url, key: `power-cut-${i + 1}` }) }
  })
}

/** @returns the answers that came, by key */
async function scanUntilKilled({ gateway, scanner }: Scene, scans: readonly KeyedScan[]): Promise<Map<string, Answer>> {
  const answered = new Map<string, Answer>()
  const waiting = [...scans]
  let killed: Promise<void> | undefined
  const handheld = async () => {
    for (let scan = waiting.shift(); scan && !killed; scan = waiting.shift()) {
      const answer = await send(scanner, scan).catch(() => undefined)
      if (!answer) return
      same(`status of scan ${scan.key}`, answer.status, 201)
      answered.set(scan.key, answer)
      if (answered.size >= lastAnswer) killed ??= gateway.kill()
    }
  }
  await Promise.all(Array.from({ length: handhelds }, handheld))
  holds(killed, `the gateway stopped answering after ${answered.size} scans, before anybody killed it`)
  await killed
  return answered
}

async function eventAndSlot(scanner: Client, { body }: Answer): Promise<void> {
  await isAsAnswered(scanner, body)
  const { slot } = body
  const { id, isOccupied, assetBarcode, isVerified } = await scanner.get(`/api/whms/slots/${slot.id}`)
  const { isOccupied: wasOccupied, assetBarcode: wasBarcode, isVerified: wasVerified } = slot
  same(`slot ${id}`, [isOccupied, assetBarcode, isVerified], [wasOccupied, wasBarcode, wasVerified])
}

/** @returns the ids of all their events */
async function sendAllAgain(
  scanner: Client,
  scans: readonly Scan[],
  answered: ReadonlyMap<string, Answer>,
): Promise<Set<string>> {
  const eventIds = new Set<string>()
  for (const scan of scans) {
    const again = await record(scanner, scan)
    eventIds.add(again.body.eventId)
    const first = answered.get(scan.key)
    if (!first) continue
    same(`the answer to scan ${scan.key}, sent again`, again.body, first.body)
    same('Idempotency-Replayed', again.headers.get('idempotency-replayed'), 'true')
  }
  return eventIds
}

async function otherSlots({ scanner }: Scene, scans: readonly KeyedScan[]): Promise<unknown[]> {
  const used = new Set(scans.map(({ slot }) => slot.id))
  const { data } = await scanner.get('/api/whms/slots')
  return (data as { id: number }[]).filter(({ id }) => !used.has(id))
}

async function allNotified({ receiver }: Inbox, eventIds: ReadonlySet<string>): Promise<void> {
  await receiver.waitFor(
    (_, all) => eventIds.isSubsetOf(new Set(all.filter((r) => r.signatureValid).map((r) => r.event.id))),
    60_000,
  )
}
