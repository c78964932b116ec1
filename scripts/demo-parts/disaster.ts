import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageServer } from '../../test/support/storage-server.ts'
import { arrives, holdPhoto, isHealthy, registerWebhook, stopsCleanly } from './acts.ts'
import { clientsOf, enrol } from './cast.ts'
import {
  bothLogsVerify,
  burns,
  comesBack,
  endIsMissed,
  forkIsStated,
  keepProof,
  keepRecoveryKey,
  missingAreNamed,
  olderIsThere,
  oldProofsHold,
  photoComesBack,
  segmentsLeave,
  sentAgain,
} from './disaster-acts.ts'
import { Gateway } from './gateway.ts'
import { openInbox } from './inbox.ts'
import { freePort } from './ports.ts'
import { Shift } from './shift.ts'
import { type PlayedStep, playIn, type Stage } from './steps.ts'
import type { StoryOptions } from './story.ts'
import { furnish } from './warehouse.ts'

/** The steps, by the names under which they are played. */
export const disasterTitles = {
  start: 'a gateway starts, whose segments go to a storage server',
  key: 'its recovery key is printed, and kept elsewhere',
  furnish: 'a hall with slots and pallets, and a receiver of webhooks',
  proof: 'a customer keeps the proof of a pallet, and the checkpoint of that moment',
  shift: 'handhelds work, and every second a sealed segment reaches the storage server',
  line: 'the line to the storage server is cut, and the work goes on',
  fire: 'the box burns under load: kill -9, and its data folder is destroyed',
  restore: 'a new box is restored from the segments with the recovery key',
  older: 'it answers with everything that is older than the lost window',
  missing: 'what is missing is named, scan by scan',
  photo: 'the photo, which no segment holds, is named too, and comes back from its copy on the server',
  kept: 'the checkpoint that was kept still holds; a later one tells that the end is missing',
  fork: 'the first leaf of the new log states the break',
  ledger: 'both logs verify from their first leaf, the old one and the one that goes on',
  oldProof: 'proofs from before the fire still verify, by the key that was kept',
  again: 'the handhelds send what is missing once more, and the receiver hears of it',
  stop: 'SIGTERM stops the new gateway with exit code 0',
} as const

/** Segments that reach the server while the handhelds work, before the line is cut. */
const segmentsBefore = 3
/** Scans that are answered while nothing leaves the box. */
const scansInTheDark = 15

const roles = { admin: 'admin', 'scanner-1': 'operator', supervisor: 'supervisor' } as const

/**
 * Plays the loss of a box, on free ports. Its data folder is destroyed under load, and a new box is restored from the
 * segments on the storage server. Throws StepFailed with the failed step.
 */
export function playDisaster(options: StoryOptions): Promise<PlayedStep[]> {
  return playIn(options, (stage) => play(stage, options))
}

async function play(stage: Stage, options: StoryOptions): Promise<void> {
  const { steps } = stage
  const scene = await steps.play(disasterTitles.start, () => open(stage, options))
  const { old, storage, inbox, admin, scanner, supervisor, elsewhere } = scene
  const { recoveryKey } = await steps.play(disasterTitles.key, () => keepRecoveryKey(old, elsewhere))
  const { shift, photo } = await steps.play(disasterTitles.furnish, async () => {
    const floor = await furnish(admin)
    await registerWebhook(admin, inbox)
    const held = await holdPhoto(scanner)
    const begun = new Shift({ scanner, floor, photoUrl: held.url })
    stage.atEnd(() => begun.end())
    const detail = `${floor.slots.length} slots, ${floor.pallets.length} pallets, a photo`
    return { shift: begun, photo: held.sha256, detail }
  })
  const kept = await steps.play(disasterTitles.proof, async () => {
    shift.begin()
    await shift.answers(1)
    return keepProof(old, { shift, admin, elsewhere, name: 'kept' })
  })
  await steps.play(disasterTitles.shift, () => segmentsLeave(storage, { shift, photo, more: segmentsBefore }))
  const late = await steps.play(disasterTitles.line, async () => {
    storage.misbehave('reset')
    await shift.answers(scansInTheDark)
    return keepProof(old, { shift, admin, elsewhere, name: 'late' })
  })
  await steps.play(disasterTitles.fire, () => burns(old, shift))

  const { box, restored } = await steps.play(disasterTitles.restore, async () => {
    storage.misbehave(undefined)
    const fresh = newBox(stage, options, scene)
    return { box: fresh, ...(await comesBack(fresh, { storage, recoveryKey, leastSegments: segmentsBefore })) }
  })
  await steps.play(disasterTitles.older, async () => {
    await box.start()
    return olderIsThere(supervisor, shift, restored)
  })
  const missing = await steps.play(disasterTitles.missing, () =>
    missingAreNamed(supervisor, { shift, restored, print: options.print }),
  )
  await steps.play(disasterTitles.photo, () =>
    photoComesBack(box, { storage, password: scene.password, photo, restored }),
  )
  await steps.play(disasterTitles.kept, () => endIsMissed(box, { kept, late, restored }))
  await steps.play(disasterTitles.fork, () => forkIsStated(supervisor, restored))
  await steps.play(disasterTitles.ledger, () => bothLogsVerify(box, restored))
  await steps.play(disasterTitles.oldProof, () => oldProofsHold(box, { kept, late }))
  await steps.play(disasterTitles.again, async () => {
    const { last, detail } = await sentAgain(scanner, shift, missing)
    return { detail: `${detail}; the receiver: ${await arrives(inbox, `whms.${nounOf(last)}`, last)}` }
  })
  await steps.play(disasterTitles.stop, () => stopsCleanly(box))
}

const nounOf = ({ event_type }: { event_type: string }) => (event_type === 'PLACED' ? 'placement' : 'removal')

/** A storage server, a receiver of webhooks, a place outside of the box, and the box that will burn. */
async function open(stage: Stage, options: StoryOptions) {
  const { folder, atEnd } = stage
  const password = randomBytes(18).toString('base64url')
  const storage = await StorageServer.start({ users: [{ id: uploader, groups: [], appPasswords: [password] }] })
  atEnd(() => storage.stop())
  const inbox = await openInbox(randomBytes(24).toString('hex'))
  atEnd(() => inbox.receiver.stop())
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  const passwordFile = join(elsewhere, 'storage-password')
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  const port = await freePort()
  const old = new Gateway({ ...options, folder: join(folder, 'box'), port })
  atEnd(() => old.close())
  const { accounts, known: people } = await enrol(old, roles, [inbox])
  const instance = { url: storage.url }
  const known = {
    ...people,
    rateLimit: { requestsPerMinute: 60_000 },
    storage: {
      instances: [instance],
      upload: { instance: storage.url, username: uploader, passwordFile, root: '/gatehouse' },
    },
    backup: { segments: { to: 'storage', every: '1s' } },
  }
  old.configure(known)
  await old.start()
  const { admin, supervisor, 'scanner-1': scanner } = clientsOf(old, accounts)
  const { detail } = await isHealthy(old)
  return {
    ...{ old, port, known, storage, password, inbox, elsewhere, admin, supervisor, scanner },
    detail: `${detail}; storage server at ${storage.url}`,
  }
}

const uploader = 'gatehouse-demo'

/** With the config that the admin keeps, and nothing else of the old one. */
function newBox(
  { folder, atEnd }: Stage,
  options: StoryOptions,
  { port, known }: { port: number; known: object },
): Gateway {
  const box = new Gateway({ ...options, folder: join(folder, 'new-box'), port })
  atEnd(() => box.close())
  box.configure({ ...known })
  return box
}
