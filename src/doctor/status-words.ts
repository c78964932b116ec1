import type { GatewayStatus } from '../app/index.ts'
import { sizeWords } from '../platform/index.ts'
import { agoWords, counted, lengthWords } from './amounts.ts'
import type { Paint } from './paint.ts'

/** One line of the status: what, and how it is. */
type Line = { readonly what: string; readonly how: string; readonly isWell: boolean }

const line = (what: string, how: string, isWell = true): Line => ({ what, how, isWell })

/**
 * Returns whether nothing needs the admin. The gateway is healthy, every receiver takes its deliveries, and the last reload took
 * the config on disk. Alerts that were not acknowledged do not count: they may be over.
 */
export function isWell(status: GatewayStatus): boolean {
  return (
    status.running &&
    status.health === 'healthy' &&
    linesOf(status, 0).every(({ isWell: one }) => one) &&
    status.config.refused === null
  )
}

/** Returns the status for people: one line for each part, and below it what is wrong. */
export function statusWords(status: GatewayStatus, nowMs: number, paint: Paint): string {
  const { version, site, uptimeSeconds, health } = status
  const state = isWell(status) ? paint.good('well') : paint.bad(health === 'healthy' ? 'needs you' : health)
  const head = `${paint.strong(`gatehouse ${version} at ${site.id}`)} (${site.url}): ${state}, up for ${lengthWords(uptimeSeconds * 1000)}\n`
  const lines = linesOf(status, nowMs).map(({ what, how, isWell: one }) => row(what, one ? how : paint.bad(how)))
  return `${head}${lines.join('')}${[...troublesOf(status, nowMs), ...alertsOf(status, nowMs)].join('')}`
}

const row = (what: string, how: string) => `  ${what.padEnd(12)}${how}\n`

function linesOf(status: GatewayStatus, nowMs: number): Line[] {
  return [
    ledgerLine(status, nowMs),
    checkpointLine(status, nowMs),
    ...witnessLines(status, nowMs),
    hubLine(status, nowMs),
    offerLine(status),
    ...cameraLines(status, nowMs),
    webhookLine(status),
    uploadLine(status, nowMs),
    backupLine(status, nowMs),
    segmentLine(status, nowMs),
    clockLine(status),
    uplinkLine(status),
    diskLine(status),
    configLine(status, nowMs),
    imageLine(status, nowMs),
  ].filter((one) => one !== undefined)
}

function ledgerLine({ ledger }: GatewayStatus, nowMs: number): Line {
  const { events, lastEventAt, leaves, fileBytes, lastCheck } = ledger
  const last = lastEventAt === null ? '' : `, the last ${agoWords(lastEventAt, nowMs)}`
  const checked =
    lastCheck === null
      ? 'never verified as a whole'
      : `${lastCheck.ok ? 'verified' : 'DID NOT MATCH when verified'} ${agoWords(lastCheck.at, nowMs)}`
  const how = `${counted(events, 'event')}${last}; ${counted(leaves, 'leaf', 'leaves')}, ${sizeWords(fileBytes)}; ${checked}`
  return line('ledger', how, lastCheck?.ok !== false)
}

function checkpointLine({ checkpoint }: GatewayStatus, nowMs: number): Line {
  const { size, signedAt, unsigned, stopped } = checkpoint
  if (stopped !== null) return line('checkpoint', `the log cannot be signed (${stopped})`, false)
  if (size === null) return line('checkpoint', 'none yet')
  const rest = unsigned > 0 ? `; ${counted(unsigned, 'newer leaf', 'newer leaves')}` : ''
  return line('checkpoint', `over ${counted(size, 'leaf', 'leaves')}, signed ${agoWords(signedAt, nowMs)}${rest}`)
}

function witnessLines({ witnesses, timestamps }: GatewayStatus, nowMs: number): Line[] {
  return [
    ...witnesses.map(({ name, size, cosignedAt, trouble }) =>
      line('witness', `${name}: ${proofWords('cosigned', size, cosignedAt, nowMs)}${why(trouble)}`, trouble === null),
    ),
    ...timestamps.map(({ url, size, stampedAt, trouble }) =>
      line('time stamp', `${url}: ${proofWords('stamped', size, stampedAt, nowMs)}${why(trouble)}`, trouble === null),
    ),
  ]
}

const proofWords = (verb: string, size: number | null, at: string | null, nowMs: number) =>
  size === null ? `has ${verb} nothing yet` : `${verb} ${counted(size, 'leaf', 'leaves')} ${agoWords(at, nowMs)}`
const why = (trouble: string | null) => (trouble === null ? '' : `; ${trouble}`)

/** An outage of the line under an hour needs no action: the log continues from where it stopped. */
function hubLine({ hub }: GatewayStatus, nowMs: number): Line | undefined {
  // Missing in answers of older daemons.
  if (!hub) return undefined
  const { url, acknowledged, acknowledgedAt, lag, names, trouble } = hub
  const has =
    acknowledged === null
      ? 'has not answered yet'
      : `has ${counted(acknowledged, 'leaf', 'leaves')}, acknowledged ${agoWords(acknowledgedAt, nowMs)}`
  const rest = lag !== null && lag > 0 ? `; ${counted(lag, 'leaf', 'leaves')} to send` : ''
  const people = names === 'not taken there' ? '; it takes no names of people' : ''
  const isPassing = trouble !== null && isAway(trouble.finding) && trouble.forSeconds < 3600
  return line(
    'head office',
    `${url} ${has}${rest}${people}${why(trouble?.words ?? null)}`,
    trouble === null || isPassing,
  )
}

function offerLine({ hub }: GatewayStatus): Line | undefined {
  // Missing in answers of older daemons.
  const offer = hub?.offer
  return offer ? line('offer', `the head office offers version ${offer.version}; ${offer.why}`) : undefined
}

const isAway = (finding: string) => finding === 'unreachable' || finding === 'unavailable'

function cameraLines({ cameras }: GatewayStatus, nowMs: number): Line[] {
  if (cameras.length === 0) return [line('cameras', 'none in the config')]
  const count = (state: string) => cameras.filter((one) => one.state === state).length
  const parts = (['live', 'away', 'off'] as const).filter((state) => count(state) > 0)
  const away = cameras.filter(({ state }) => state === 'away')
  return [
    line('cameras', parts.map((state) => `${count(state)} ${state}`).join(', '), away.length === 0),
    ...away.map(({ id, name, since, problem }) =>
      line('', `camera ${id} (${name}), last well ${agoWords(since, nowMs)}. ${problem ?? ''}`.trim(), false),
    ),
  ]
}

function webhookLine({ webhooks }: GatewayStatus): Line {
  const { total, failing, slowed, disabled, paused, pending, offline } = webhooks
  if (total === 0) return line('webhooks', 'none registered')
  const parts = [
    ...(failing > 0 ? [`${failing} failing`] : []),
    ...(slowed > 0 ? [`${slowed} slowed down`] : []),
    ...(disabled > 0 ? [`${disabled} disabled after failures`] : []),
    ...(paused > 0 ? [`${paused} paused`] : []),
    ...(offline > 0 ? [`${offline} waiting for the uplink`] : []),
    `${counted(pending, 'delivery', 'deliveries')} waiting`,
  ]
  return line(
    'webhooks',
    `${counted(total, 'endpoint')}: ${parts.join(', ')}`,
    failing + slowed + disabled + offline === 0,
  )
}

function uploadLine({ uploads }: GatewayStatus, nowMs: number): Line {
  const { configured, pending, parked, oldestAt, lastError, refusal } = uploads
  if (!configured) return line('uploads', 'not configured')
  const oldest = oldestAt === null ? '' : `, the oldest from ${agoWords(oldestAt, nowMs)}`
  const rest = parked > 0 ? `; ${parked} parked (${lastError ?? 'unknown'})` : ''
  return line('uploads', `${pending} pending${oldest}${rest}${why(refusal)}`, parked === 0 && refusal === null)
}

function backupLine({ backup }: GatewayStatus, nowMs: number): Line {
  const { everySeconds, media, newestAt, rehearsedAt, makeFault, rehearsalFault } = backup
  if (everySeconds === null) return line('backup', 'none scheduled (backup.file)')
  const fault = makeFault ?? rehearsalFault
  const newest = newestAt === null ? 'no backup yet' : `newest ${agoWords(newestAt, nowMs)}`
  const how = `${newest}, ${rehearsalWords(rehearsedAt, nowMs)}, ${media ? 'with' : 'without'} photos and clips`
  return line('backup', `${how}${why(fault)}`, fault === null)
}

const rehearsalWords = (at: string | null, nowMs: number) =>
  at === null ? 'not rehearsed yet' : `last good rehearsal ${agoWords(at, nowMs)}`

function segmentLine({ backup }: GatewayStatus, nowMs: number): Line | undefined {
  const { segments } = backup
  if (!segments || segments.everySeconds === null) return undefined
  const { currentAt, rehearsedAt, fault, rehearsalFault } = segments
  const wrong = fault ?? rehearsalFault
  const current = currentAt === null ? 'nothing in segments yet' : `everything up to ${agoWords(currentAt, nowMs)}`
  const how = `${current}, ${rehearsalWords(rehearsedAt, nowMs)}`
  return line('segments', `${how}${why(wrong)}`, wrong === null)
}

function clockLine({ clock }: GatewayStatus): Line {
  const { state, source, offsetMs, steps } = clock
  const by = source === null ? '' : ` (${source}${offsetMs === null ? '' : `, off by ${Math.round(offsetMs)} ms`})`
  const stepped = steps > 0 ? `; set ${counted(steps, 'time')} by more than 2 s on record` : ''
  return line('clock', `${state}${by}${stepped}`, state !== 'unsynchronized')
}

function uplinkLine({ uplink: { probes, online } }: GatewayStatus): Line {
  if (online === null) return line('uplink', 'not probed (uplink.probes)')
  return line('uplink', online ? 'answers' : `none of ${counted(probes, 'probe')} answers`, online)
}

function diskLine({ disk }: GatewayStatus): Line {
  const { freeBytes, minFreeBytes, fault } = disk
  if (freeBytes === null || fault !== null) return line('disk', `takes no writes (${fault ?? 'no answer'})`, false)
  return line('disk', `${sizeWords(freeBytes)} free`, freeBytes >= minFreeBytes)
}

function configLine({ config }: GatewayStatus, nowMs: number): Line {
  const { file, loadedAt, refused, waiting } = config
  if (refused !== null) {
    const [, first = refused.problems] = refused.problems.split('\n')
    const how = `the file on disk was refused ${agoWords(refused.at, nowMs)}, the earlier one is in use: ${first}`
    return line('config', how, false)
  }
  const rest = waiting.length > 0 ? `; for the next start: ${waiting.join(', ')}` : ''
  return line('config', `${file ?? 'embedded defaults'}, read ${agoWords(loadedAt, nowMs)}${rest}`)
}

function imageLine({ image }: GatewayStatus, nowMs: number): Line | undefined {
  // Missing in answers of older daemons.
  if (!image) return undefined
  const { version, isUpdated, askedAt, openUpdate, lastUpdate } = image
  if (openUpdate) {
    const what =
      openUpdate.result === 'installed' ? `${openUpdate.version} was rolled back` : `${openUpdate.version} was refused`
    return line(
      'image',
      `${version}; ${what} (${agoWords(openUpdate.at, nowMs)}): gatehouse doctor has the next step`,
      false,
    )
  }
  if (lastUpdate?.result === 'failed') {
    return line('image', `${version}; ${lastUpdate.reason} (${agoWords(lastUpdate.at, nowMs)})`, false)
  }
  const asked =
    askedAt === null
      ? 'the update server has not answered yet'
      : `the update server answered ${agoWords(askedAt, nowMs)}`
  return line('image', `${version}; ${isUpdated ? asked : 'no update server is set'}`)
}

function troublesOf({ troubles }: GatewayStatus, nowMs: number): string[] {
  return troubles.map(({ message, since }) => row('trouble', `${message} (first seen ${agoWords(since, nowMs)})`))
}

function alertsOf({ alerts: { open, newest } }: GatewayStatus, nowMs: number): string[] {
  if (newest.length === 0) return []
  const count = open === null ? 'very many' : String(open)
  const rows = newest.slice(0, 3).map(({ at, message }) => row('', `${agoWords(at, nowMs)}: ${message}`))
  return [row('alerts', `${count} not acknowledged; the newest:`), ...rows]
}
