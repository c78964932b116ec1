import { randomBytes } from 'node:crypto'
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
import {
  type CameraScene,
  clipIsInLedger,
  clipIsStillThere,
  emptyHallIsSilent,
  nobodyWatches,
  type RecordedClip,
  seesPerson,
} from './camera-acts.ts'
import { openCameras } from './cameras.ts'
import { clientsOf, prepare } from './cast.ts'
import { holds, same } from './expect.ts'
import { Gateway, type GatewayCommand } from './gateway.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { freePort } from './ports.ts'
import { powerCut } from './power-cut.ts'
import { judgement, placement, record } from './scans.ts'
import { type Ending, type PlayedStep, playIn, type Stage, type Steps } from './steps.ts'
import { furnish } from './warehouse.ts'

export type StoryOptions = GatewayCommand & {
  /** Whether two simulated cameras play along, which takes some ten seconds. Default: they do. */
  readonly cameras?: boolean
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
  motion: 'camera 1 sees a person: motion.detected comes, rightly signed',
  clip: 'its clip with its pre-roll is in the ledger',
  emptyHall: 'the empty hall yields no event in the same time',
  rewrite: 'the database itself refuses to change the past',
  powerCut: 'after kill -9 and a restart nothing is lost',
  ledger: 'the ledger verifies from the first leaf, while the gateway runs',
  wrongSecret: 'a receiver that holds another secret refuses the signature',
  stop: 'SIGTERM stops the gateway with exit code 0',
  ledgerAfter: 'the ledger verifies from the first leaf, after the stop',
  flip: 'one flipped byte in a copy of the ledger is found, at its leaf',
} as const

/** Plays the whole story against a gatehouse command, on free ports. Throws StepFailed with the step that went wrong. */
export function playStory(options: StoryOptions): Promise<PlayedStep[]> {
  return playIn(options, (stage) => play(stage, options))
}

async function play({ steps, folder, atEnd }: Stage, options: StoryOptions): Promise<void> {
  const { gateway, admin, scanner, supervisor, inbox, stranger, cameras } = await steps.play(titles.start, () =>
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

  const clip = cameras && (await playCameras(steps, { gateway, owner: admin, inbox, cameras }))
  const tables = ['placement_event', 'log_leaf', 'audit_entry', ...(clip ? ['detection_event'] : [])]
  await steps.play(titles.rewrite, () => cannotBeRewritten(gateway, scanner, placed.event, tables))
  const { events } = await steps.play(titles.powerCut, async () => {
    const restarted = await powerCut({ gateway, scanner, floor, inbox, photo })
    if (clip) await clipIsStillThere(admin, clip)
    return { ...restarted, detail: clip ? `${restarted.detail}; and the clip` : restarted.detail }
  })
  const held = { events, detections: clip ? 1 : 0 }
  const { head: before } = await steps.play(titles.ledger, () => verifies(gateway, held))
  await steps.play(titles.wrongSecret, () => refusesWrongSecret(admin, stranger, inbox.secret))
  await steps.play(titles.stop, async () => {
    const { detail } = await stopsCleanly(gateway)
    if (cameras) await nobodyWatches(cameras)
    return { detail: cameras ? `${detail}, and nobody is left at the cameras` : detail }
  })
  await steps.play(titles.ledgerAfter, () => verifies(gateway, { ...held, before }))
  await steps.play(titles.flip, () => findsFlippedByte(gateway, placed.event.seq))
}

/** @returns what the person left behind */
async function playCameras(steps: Steps, scene: CameraScene): Promise<RecordedClip> {
  const seen = await steps.play(titles.motion, () => seesPerson(scene))
  const clip = await steps.play(titles.clip, () => clipIsInLedger(scene, seen))
  await steps.play(titles.emptyHall, () => emptyHallIsSilent(scene, seen, clip))
  return clip
}

const people = { admin: 'admin', 'scanner-1': 'operator', supervisor: 'supervisor' } as const

/** Two receivers, one of which will hold another secret than the gateway, and the cameras; then the gateway itself. */
async function open(options: StoryOptions, folder: string, atEnd: (ending: Ending) => void) {
  const inbox = await openInbox(randomBytes(24).toString('hex'))
  atEnd(() => inbox.receiver.stop())
  const stranger = await openInbox(randomBytes(24).toString('hex'))
  atEnd(() => stranger.receiver.stop())
  const cameras = options.cameras === false ? undefined : await watchedHall(options, folder)
  atEnd(() => cameras?.rtsp.stop())
  const gateway = new Gateway({ ...options, folder, port: await freePort() })
  atEnd(() => gateway.close())
  const accounts = await prepare(gateway, people, [inbox, stranger], cameras)
  await gateway.start()
  const { admin, supervisor, 'scanner-1': scanner } = clientsOf(gateway, accounts)
  return { gateway, admin, supervisor, scanner, inbox, stranger, cameras, ...(await isHealthy(gateway)) }
}

/** The person comes when it is time. */
function watchedHall({ print }: StoryOptions, folder: string) {
  return openCameras({ folder, atDock: 'empty', owner: 'admin', viewers: ['supervisor'], print })
}

function delay({ arrivedMs }: Inbox, sent: { event: { eventId: string }; answeredMs: number }): string {
  const ms = (arrivedMs.get(sent.event.eventId) ?? Number.NaN) - sent.answeredMs
  return `webhook ${Math.abs(ms).toFixed(1)} ms ${ms < 0 ? 'before' : 'after'} the answer to the POST`
}
