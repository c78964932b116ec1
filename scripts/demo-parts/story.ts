import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  arrives,
  cannotBeRewritten,
  findsFlippedByte,
  floorShows,
  holdPhoto,
  isHealthy,
  refusesWrongSecret,
  registerWebhook,
  repeats,
  stopsCleanly,
  verifies,
} from './acts.ts'
import { clientsOf, prepare } from './cast.ts'
import { holds, same } from './expect.ts'
import { Gateway, type GatewayCommand } from './gateway.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { freePort } from './ports.ts'
import { powerCut } from './power-cut.ts'
import { judgement, placement, record } from './scans.ts'
import { type PlayedStep, StepFailed, Steps } from './steps.ts'
import { furnish } from './warehouse.ts'

export type StoryOptions = GatewayCommand & {
  readonly print: (line: string) => void
  /** Ends the story in the middle, without leaving anything behind. */
  readonly signal?: AbortSignal | undefined
}

/** The steps, by the names under which they are played. */
export const titles = {
  start: 'the gateway starts and is healthy',
  furnish: 'warehouse, zones, slots and pallets are created',
  prepare: 'a webhook is registered, a photo is uploaded',
  place: 'a pallet is placed',
  notify: 'the webhook whms.placement comes, rightly signed',
  verify: 'a supervisor verifies the placement',
  floor: 'slot, location and utilization follow from the ledger',
  repeat: 'the same scan sent again changes nothing',
  rewrite: 'the database itself refuses to change the past',
  powerCut: 'after kill -9 and a restart nothing is lost',
  ledger: 'the ledger verifies from the first leaf, while the gateway runs',
  wrongSecret: 'a receiver that holds another secret refuses the signature',
  stop: 'SIGTERM stops the gateway with exit code 0',
  ledgerAfter: 'the ledger verifies from the first leaf, after the stop',
  flip: 'one flipped byte in a copy of the ledger is found, at its leaf',
} as const

type Ending = () => unknown

/**
 * Plays the whole story against a gatehouse command, on free ports and in a temporary folder, and ends all that it
 * started. Throws StepFailed with the step that went wrong; only then the folder stays.
 */
export async function playStory(options: StoryOptions): Promise<PlayedStep[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'))
  const steps = new Steps(options)
  const endings: Ending[] = []
  let keep = false
  try {
    await play(steps, options, folder, (ending) => endings.push(ending))
    return steps.played
  } catch (error) {
    keep = !options.signal?.aborted
    throw error instanceof StepFailed ? new StepFailed(error.step, error.cause, keep ? folder : undefined) : error
  } finally {
    for (const end of endings.toReversed()) await end()
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
}

async function play(
  steps: Steps,
  options: GatewayCommand,
  folder: string,
  atEnd: (ending: Ending) => void,
): Promise<void> {
  const { gateway, admin, scanner, supervisor, inbox, stranger } = await steps.play(titles.start, () =>
    open(options, folder, atEnd),
  )
  const { floor } = await steps.play(titles.furnish, async () => {
    const made = await furnish(admin)
    const detail = `${made.zones.length} zones, ${made.slots.length} slots, ${made.pallets.length} pallets`
    return { floor: made, detail }
  })
  const [slot, pallet] = [floor.slots[0], floor.pallets[0]]
  holds(slot && pallet, 'the demo hall has a slot and a pallet')
  const { photo } = await steps.play(titles.prepare, async () => {
    await registerWebhook(admin, inbox)
    const held = await holdPhoto(scanner)
    return {
      photo: held,
      detail: `${inbox.receiver.url}; PNG of ${held.sizeBytes} bytes, sha256 ${held.sha256.slice(0, 16)}…`,
    }
  })

  const scan = placement({ slot, pallet, photoUrl: photo.url, key: 'first-scan' })
  const placed = await steps.play(titles.place, async () => {
    const { body } = await record(scanner, scan)
    const answeredMs = performance.now()
    const { photoEvidence, warnings, effect } = body
    same('the answer', { photoEvidence, warnings, effect }, { photoEvidence: 'held', warnings: [], effect: 'applied' })
    return { event: body, answeredMs, detail: `${pallet} in ${slot.label}, event ${body.id}, leaf ${body.seq}` }
  })
  await steps.play(titles.notify, async () => {
    const checked = await arrives(inbox, 'whms.placement', placed.event)
    return { detail: `${delay(inbox, placed)}; ${checked}` }
  })
  const judgementScan = judgement('VERIFIED', slot, pallet, 'first-verification')
  const verified = await steps.play(titles.verify, async () => {
    const { body } = await record(supervisor, judgementScan)
    const answeredMs = performance.now()
    same('warnings', body.warnings, [])
    await arrives(inbox, 'whms.verification', body)
    return { event: body, detail: `event ${body.id} by ${body.operator}; ${delay(inbox, { event: body, answeredMs })}` }
  })
  await steps.play(titles.floor, () => floorShows(scanner, { floor, slot, pallet }))
  await steps.play(titles.repeat, () =>
    repeats({ by: scanner, scan, event: placed.event }, { by: supervisor, scan: judgementScan, event: verified.event }),
  )

  await steps.play(titles.rewrite, () => cannotBeRewritten(gateway, scanner, placed.event))
  const { events } = await steps.play(titles.powerCut, () => powerCut({ gateway, scanner, floor, inbox, photo }))
  const { root } = await steps.play(titles.ledger, () => verifies(gateway, events))
  await steps.play(titles.wrongSecret, () => refusesWrongSecret(admin, stranger, inbox.secret))
  await steps.play(titles.stop, () => stopsCleanly(gateway))
  await steps.play(titles.ledgerAfter, () => verifies(gateway, events, root))
  await steps.play(titles.flip, () => findsFlippedByte(gateway, placed.event.seq))
}

const people = { admin: 'admin', 'scanner-1': 'operator', supervisor: 'supervisor' } as const

/** Two receivers, one of which will hold another secret than the gateway; then the gateway itself. */
async function open(options: GatewayCommand, folder: string, atEnd: (ending: Ending) => void) {
  const inbox = await openInbox(randomBytes(24).toString('hex'))
  atEnd(() => inbox.receiver.stop())
  const stranger = await openInbox(randomBytes(24).toString('hex'))
  atEnd(() => stranger.receiver.stop())
  const gateway = new Gateway({ ...options, folder, port: await freePort() })
  atEnd(() => gateway.close())
  const accounts = await prepare(gateway, people, [inbox, stranger])
  await gateway.start()
  const { admin, supervisor, 'scanner-1': scanner } = clientsOf(gateway, accounts)
  return { gateway, admin, supervisor, scanner, inbox, stranger, ...(await isHealthy(gateway)) }
}

function delay({ arrivedMs }: Inbox, sent: { event: { eventId: string }; answeredMs: number }): string {
  const ms = (arrivedMs.get(sent.event.eventId) ?? Number.NaN) - sent.answeredMs
  return `webhook ${Math.abs(ms).toFixed(1)} ms ${ms < 0 ? 'before' : 'after'} the answer to the POST`
}
