import type { GatewayStatus } from '../../app/index.ts'
import { agoWords, counted, lengthWords } from '../amounts.ts'
import { type DoctorFinding, findingsOn } from './finding.ts'

const dayMs = 86_400_000
/** A ledger that was not recomputed for so long should be. */
const checkEveryMs = 30 * dayMs
/** From this number on, waiting deliveries of webhooks are a backlog. */
const backlog = 1000
/** Leaves that the head office has not: more than a feed or two. */
const hubLag = 2048
/** An image that was not checked for updates in so long may lack security corrections. */
const longUnasked = 8 * dayMs

/** Judges what the gateway records and hands on: ledger, checkpoints, witnesses, webhooks, uploads, backups. */
export function recordFindings(status: GatewayStatus, nowMs: number): DoctorFinding[] {
  return [
    ledgerFinding(status, nowMs),
    checkpointFinding(status),
    ...witnessFindings(status, nowMs),
    ...stampFindings(status, nowMs),
    ...hubFindings(status, nowMs),
    webhookFinding(status),
    ...uploadFindings(status, nowMs),
    backupFinding(status, nowMs),
    ...mediaFindings(status),
    reloadFinding(status, nowMs),
    ...imageFindings(status, nowMs),
  ]
}

/** Judges the feed to the head office; nothing without one. */
export function hubFindings({ hub }: Pick<GatewayStatus, 'hub'>, nowMs: number): DoctorFinding[] {
  // Missing in answers of older daemons.
  if (!hub) return []
  const { url, acknowledged, acknowledgedAt, lag, trouble } = hub
  const of = findingsOn({ topic: 'head office', subject: url })
  if (trouble) {
    const what = `It has received nothing for ${lengthWords(trouble.forSeconds * 1000)}: ${trouble.words}.`
    switch (trouble.finding) {
      case 'forked':
      case 'ahead':
        return [of.bad(what, 'First compare the two histories. Then run gatehouse restore --accept-fork.')]
      case 'unreachable':
      case 'unavailable':
        return [of.change(what, 'Check the network and hub.url. Nothing is lost: the log is sent later.')]
      case 'unknown-key':
        return [
          of.bad(
            what,
            'If the box was restored to a time before its key rotation, run gatehouse restore --accept-fork. Then make a code there with gatehouse hub enrol, and run gatehouse hub join. If the head office was restored, put a newer copy of it back instead.',
          ),
        ]
      case 'refused':
      case 'unvouched':
      case 'unknown-log':
      case 'bad-answer':
        return [of.bad(what, 'Check hub.url, make a code there with gatehouse hub enrol, and run gatehouse hub join.')]
    }
  }
  if (acknowledged === null || lag === null) {
    return [of.note('It has not answered since the start.', 'Wait a minute, then check again.')]
  }
  const what = `It has ${counted(acknowledged, 'leaf', 'leaves')}, acknowledged ${agoWords(acknowledgedAt, nowMs)}`
  return [lag > hubLag ? of.note(`${what}; ${counted(lag, 'leaf', 'leaves')} are on the way.`) : of.good(`${what}.`)]
}

export function ledgerFinding(
  { ledger, backup }: Pick<GatewayStatus, 'ledger' | 'backup'>,
  nowMs: number,
): DoctorFinding {
  const of = findingsOn({ topic: 'ledger check' })
  const { lastCheck, leaves } = ledger
  const next = 'Run gatehouse ledger verify.'
  if (lastCheck !== null && !lastCheck.ok) {
    const keep = 'Run gatehouse ledger verify, keep the files as they are, and restore a backup.'
    return of.bad(`The ledger did not match when it was verified ${agoWords(lastCheck.at, nowMs)}.`, keep)
  }
  if (leaves === 0) return of.good('The ledger has no leaves yet.')
  // A rehearsal verifies a copy of the whole ledger and compares it with the living log.
  const [newest] = [lastCheck?.at ?? null, backup.rehearsedAt, backup.segments?.rehearsedAt ?? null]
    .filter((at) => at !== null)
    .toSorted()
    .toReversed()
  if (newest === undefined)
    return of.note(`The ledger (${counted(leaves, 'leaf', 'leaves')}) was never verified as a whole.`, next)
  const what = `The whole ledger was verified ${agoWords(newest, nowMs)}.`
  return nowMs - Date.parse(newest) > checkEveryMs ? of.note(what, next) : of.good(what)
}

export function checkpointFinding({ checkpoint, ledger }: Pick<GatewayStatus, 'checkpoint' | 'ledger'>): DoctorFinding {
  const of = findingsOn({ topic: 'checkpoint' })
  const { stopped, size, unsigned } = checkpoint
  if (stopped === 'other-keys') {
    const next = 'Stop the gateway and put keys/ back from a backup that was made after the last rotation.'
    return of.bad('The log cannot be signed: the keys of its last rotation are not in keys/.', next)
  }
  if (stopped !== null) {
    const next = 'Run gatehouse ledger verify, keep the files as they are, and restore a backup.'
    return of.bad('The log cannot be signed: the ledger does not match its last signature.', next)
  }
  if (size === null && ledger.leaves > 0)
    return of.note('No checkpoint is signed yet.', 'Wait five minutes, then check again.')
  return of.good(
    size === null ? 'There is nothing to sign yet.' : `The log is signed up to leaf ${size}; ${unsigned} are newer.`,
  )
}

export function witnessFindings({ witnesses }: Pick<GatewayStatus, 'witnesses'>, nowMs: number): DoctorFinding[] {
  if (witnesses.length === 0) {
    const what = 'No witness cosigns the log, so only this box vouches for its age.'
    return [
      findingsOn({ topic: 'witness' }).note(what, 'Set evidence.witnesses, or join a head office: gatehouse hub join.'),
    ]
  }
  return witnesses.map(({ name, size, cosignedAt, trouble }) => {
    const of = findingsOn({ topic: 'witness', subject: name })
    if (trouble !== null)
      return of.change(
        `It has not cosigned: ${trouble}.`,
        'Check its url and vkey in evidence.witnesses, and call its admin.',
      )
    return size === null
      ? of.unknown('It has cosigned nothing yet.')
      : of.good(`It cosigned leaf ${size} ${agoWords(cosignedAt, nowMs)}.`)
  })
}

function stampFindings({ timestamps }: GatewayStatus, nowMs: number): DoctorFinding[] {
  return timestamps.map(({ url, size, stampedAt, trouble }) => {
    const of = findingsOn({ topic: 'time stamps', subject: url })
    if (trouble !== null) return of.change(`It has stamped nothing lately: ${trouble}.`, 'Check evidence.timestamps.')
    return size === null
      ? of.unknown('It has stamped nothing yet.')
      : of.good(`It stamped leaf ${size} ${agoWords(stampedAt, nowMs)}.`)
  })
}

export function webhookFinding({ webhooks }: Pick<GatewayStatus, 'webhooks'>): DoctorFinding {
  const of = findingsOn({ topic: 'webhooks' })
  const { total, failing, slowed, disabled, paused, pending, offline } = webhooks
  if (total === 0) return of.good('No receiver is registered.')
  const waiting = `${counted(pending, 'delivery', 'deliveries')} waiting`
  const look = 'GET /api/webhooks names it, and GET /api/webhooks/ID/deliveries its answers.'
  const givenUp = 'After six attempts a delivery is given up; POST /api/webhooks/ID/recover sends it again.'
  if (disabled > 0)
    return of.bad(
      `${counted(disabled, 'receiver')} of ${total} disabled after 100 failed attempts in a row, ${waiting}.`,
      `A test (webhooks.autoResume) enables it when it answers 2xx. ${look}`,
    )
  if (failing > 0)
    return of.bad(`${counted(failing, 'receiver')} of ${total} failing, ${waiting}.`, `${givenUp} ${look}`)
  if (offline > 0)
    return of.bad(
      `${counted(offline, 'receiver')} out of reach while the box is offline, ${waiting}.`,
      'Check the uplink; the deliveries go on by themselves.',
    )
  if (slowed > 0)
    return of.change(
      `${counted(slowed, 'receiver')} of ${total} slowed down after six failed attempts in a row, ${waiting}.`,
      `${givenUp} ${look}`,
    )
  if (paused > 0) return of.note(`${counted(paused, 'receiver')} of ${total} paused, ${waiting}.`, look)
  return pending > backlog
    ? of.change(`A backlog: ${waiting}.`, `Watch whether it shrinks. ${look}`)
    : of.good(`${counted(total, 'receiver')}, ${waiting}.`)
}

function uploadFindings({ uploads }: GatewayStatus, nowMs: number): DoctorFinding[] {
  const { configured, pending, parked, oldestAt, lastError, refusal } = uploads
  if (!configured) return []
  const of = findingsOn({ topic: 'uploads' })
  if (refusal !== null)
    return [of.bad(`The storage server takes no uploads: ${refusal}.`, 'See the upload account above.')]
  if (parked > 0) {
    return [
      of.bad(
        `${counted(parked, 'file')} parked. The newest: ${lastError ?? 'unknown'}.`,
        'GET /api/uploads?status=parked names them; retry them when the cause is gone.',
      ),
    ]
  }
  const ageMs = oldestAt === null ? 0 : nowMs - Date.parse(oldestAt)
  if (ageMs <= dayMs) return [of.good(`${counted(pending, 'file')} waiting.`)]
  return [
    of.change(
      `${counted(pending, 'file')} waiting, the oldest for ${lengthWords(ageMs)}.`,
      'Check the line to the storage server and storage.upload.maxBytesPerSecond.',
    ),
  ]
}

export function backupFinding({ backup }: Pick<GatewayStatus, 'backup'>, nowMs: number): DoctorFinding {
  const of = findingsOn({ topic: 'backup' })
  const { everySeconds, media, newestAt, rehearsedAt, makeFault, rehearsalFault } = backup
  if (everySeconds === null && backup.segments?.everySeconds) return segmentFinding(backup.segments, nowMs)
  if (everySeconds === null) {
    return of.note(
      'No backups are scheduled: a broken disk loses the ledger.',
      'Set backup.file: { to: storage }, or { to: { folder: /mnt/nas } }.',
    )
  }
  if (makeFault !== null) {
    const room = media ? ' If photos and clips have no room there, set backup.file.media: false.' : ''
    return of.bad(`The last backup failed: ${makeFault}.`, `Check backup.file.to.${room}`)
  }
  if (rehearsalFault !== null) {
    return of.bad(
      `The newest backup could not be restored in a rehearsal: ${rehearsalFault}.`,
      'Keep the older ones, and run gatehouse ledger verify.',
    )
  }
  if (newestAt === null) return of.unknown('The first backup is not made yet.', 'Wait a minute after the start.')
  const rehearsed = rehearsedAt === null ? 'not rehearsed yet' : `last good rehearsal ${agoWords(rehearsedAt, nowMs)}`
  const what = `The newest backup was made ${agoWords(newestAt, nowMs)}; ${rehearsed}.`
  const isLate = nowMs - Date.parse(newestAt) > 2 * everySeconds * 1000
  return isLate ? of.bad(what, 'Check backup.file.to and the log.') : of.good(what)
}

/** Judges the segments, where they are all that is kept elsewhere. */
function segmentFinding(
  { currentAt, rehearsedAt, fault, rehearsalFault }: GatewayStatus['backup']['segments'],
  nowMs: number,
): DoctorFinding {
  const of = findingsOn({ topic: 'backup' })
  if (fault !== null) return of.bad(`The last segment could not be written: ${fault}.`, 'Check backup.segments.to.')
  if (rehearsalFault !== null) {
    return of.bad(
      `The segments could not be restored in a rehearsal: ${rehearsalFault}.`,
      'Check backup.segments.to, and run gatehouse ledger verify.',
    )
  }
  if (currentAt === null) return of.unknown('No segment has reached its target yet.', 'Wait a minute after the start.')
  const rehearsed = rehearsedAt === null ? 'not rehearsed yet' : `last good rehearsal ${agoWords(rehearsedAt, nowMs)}`
  return of.good(`Everything up to ${agoWords(currentAt, nowMs)} is in segments; ${rehearsed}.`)
}

type MediaStatus = {
  readonly backup: Pick<GatewayStatus['backup'], 'everySeconds' | 'media'> & {
    readonly segments: Pick<GatewayStatus['backup']['segments'], 'everySeconds'>
  }
  readonly uploads: Pick<GatewayStatus['uploads'], 'configured' | 'camerasLeftOut'>
}

/** Judges whether photos and clips exist anywhere else: on the storage server, or in scheduled backups. */
export function mediaFindings({ backup, uploads }: MediaStatus): DoctorFinding[] {
  const { everySeconds, media } = backup
  const { configured, camerasLeftOut } = uploads
  // Missing in answers of older daemons.
  if (media === undefined || !camerasLeftOut) return []
  const of = findingsOn({ topic: 'photos and clips' })
  if (media) return [of.good('Scheduled backups contain photos and clips.')]
  if (configured && camerasLeftOut.length > 0) {
    const cameras = `${camerasLeftOut.length === 1 ? 'camera' : 'cameras'} ${camerasLeftOut.join(', ')}`
    return [
      of.change(
        `Clips of ${cameras} are on this box alone: they are not uploaded, and no scheduled backup contains them.`,
        'Set motion.uploadToStorage: true for each of these cameras, or backup.file.media: true.',
      ),
    ]
  }
  const copied = 'They are copied to the storage server'
  if (configured) return [of.good(everySeconds ? `${copied}; scheduled backups contain none.` : `${copied}.`)]
  if (everySeconds !== null) {
    return [
      of.change(
        'They are on this box alone: scheduled backups contain none, and storage.upload is not set.',
        'Set backup.file.media: true, or storage.upload.',
      ),
    ]
  }
  if (backup.segments?.everySeconds) {
    return [
      of.change(
        'They are on this box alone: segments contain none, and storage.upload is not set.',
        'Set backup.file, or storage.upload.',
      ),
    ]
  }
  return [of.note('They are on this box alone.', 'Set backup.file, or storage.upload.')]
}

export function reloadFinding({ config }: Pick<GatewayStatus, 'config'>, nowMs: number): DoctorFinding {
  const of = findingsOn({ topic: 'reload' })
  const { refused, waiting } = config
  if (refused !== null) {
    return of.bad(
      `The config on disk was refused ${agoWords(refused.at, nowMs)}; the earlier one is in use.`,
      'Run gatehouse config check, correct it, and reload.',
    )
  }
  if (waiting.length > 0)
    return of.change(
      `Changes wait for the next start: ${waiting.join(', ')}.`,
      'Run systemctl restart gatehouse when it suits the floor.',
    )
  return of.good('The config on disk is in use.')
}

/** Judges the system image of an appliance; nothing where there is none. */
export function imageFindings({ image }: Pick<GatewayStatus, 'image'>, nowMs: number): DoctorFinding[] {
  // Missing in answers of older daemons.
  if (!image) return []
  const { version, isUpdated, askedAt, openUpdate, lastUpdate } = image
  const of = findingsOn({ topic: 'image' })
  const program = 'sudo /usr/lib/gatehouse-appliance/update'
  const found: DoctorFinding[] = []
  if (openUpdate?.result === 'installed') {
    const what = `Version ${version} runs again: ${openUpdate.version} was installed ${agoWords(openUpdate.at, nowMs)} and did not become healthy, or did not start.`
    const next = `Read journalctl -u gatehouse-slot, and publish a corrected image. To try the same one again: ${program}`
    found.push(of.change(what, next))
  } else if (openUpdate) {
    const why = openUpdate.reasons.join('; ') || openUpdate.reason
    const accept =
      openUpdate.acceptBy === null
        ? ''
        : ` To install it in spite of these reasons: ${program} --accept ${openUpdate.acceptBy}`
    const refused = openUpdate.reasons.length > 0 ? 'did not pass its rehearsal' : 'was refused'
    const what = `Version ${openUpdate.version} ${refused}, and ${version} stays: ${why}.`
    found.push(of.change(what, `Publish a corrected image.${accept}`))
  }
  if (lastUpdate?.result === 'failed') {
    const what = `A newer version than ${version} could not be installed ${agoWords(lastUpdate.at, nowMs)}: ${lastUpdate.reason}.`
    found.push(of.change(what, `Read journalctl -u gatehouse-update, then try again: ${program}`))
  }
  if (found.length > 0) return found
  if (!isUpdated) {
    const what = `Version ${version}; no update server is set, so security fixes do not come by themselves.`
    return [of.note(what, 'Set updates= in first-boot.txt, or install bundles by hand.')]
  }
  const seen = `Version ${version}; its update server answered ${askedAt === null ? 'never yet' : agoWords(askedAt, nowMs)}.`
  if (askedAt !== null && nowMs - Date.parse(askedAt) < longUnasked) return [of.good(seen)]
  if (askedAt === null && lastUpdate === null)
    return [of.note(seen, `It asks within updates.window; at once: ${program}`)]
  return [of.change(seen, `Check the network and the address: ${program}`)]
}
