import { statSync } from 'node:fs'
import type { GatewayStatus, StreamProbe } from '../app/index.ts'
import type { Checked, Config } from '../config/index.ts'
import { type Clock, systemUser } from '../platform/index.ts'
import { ffmpegFacts, heatFacts, memoryFacts } from './facts/box.ts'
import { streamsSeen } from './facts/cameras.ts'
import { certificateFacts } from './facts/certificates.ts'
import { configFacts, fileFacts } from './facts/settings.ts'
import { accountFacts, serverFacts } from './facts/storage.ts'
import { wearOf } from './facts/wear.ts'
import { clockFinding, diskFinding, ffmpegFinding, heatFinding, memoryFinding, wearFinding } from './findings/box.ts'
import { cameraFindings, slotFindings, streamFindings } from './findings/cameras.ts'
import { areWell, type DoctorFinding, findingsOn } from './findings/finding.ts'
import { accountFinding, certificateFinding, serverFinding, uplinkFinding } from './findings/network.ts'
import { recordFindings } from './findings/records.ts'
import { configFindings, daemonFinding, fileFindings } from './findings/settings.ts'

/** The gateway of this box: its own answer while it runs, else the contents of its data folder. */
export type GatewaySeen = {
  readonly isRunning: boolean
  /** Reason why the data folder cannot be examined; null: it can. */
  readonly problem: string | null
  readonly status: GatewayStatus | null
}

export type ExamineNeeds = {
  readonly checked: Checked
  /** The config file; undefined: embedded defaults. */
  readonly file: string | undefined
  readonly clock: Clock
  readonly version: string
  readonly signal: AbortSignal
  /** Opens the streams of the cameras; undefined: they are not opened. */
  readonly streams: StreamProbe | undefined
  /** Called last: without a daemon it makes this process the user of the data folder. */
  readonly lookAtGateway: () => Promise<GatewaySeen>
}

/** JSON of `gatehouse doctor --json`. */
export type DoctorReport = {
  /** Whether nothing has to be done. */
  readonly ok: boolean
  readonly running: boolean
  readonly version: string
  readonly findings: readonly DoctorFinding[]
}

/** Looks at everything that the gateway depends on. Changes nothing. */
export async function examine(needs: ExamineNeeds): Promise<DoctorReport> {
  const { checked, file, version, clock, lookAtGateway } = needs
  const { config } = checked
  const [box, around] = await Promise.all([
    boxFindings(config, clock.now()),
    config ? [...filesOf(config, file), ...(await networkFindings(config, needs))] : [],
  ])
  const gateway = await lookAtGateway()
  const { status } = gateway
  const findings = [
    daemonFinding(gateway),
    ...configFindings(configFacts(checked, file)),
    ...(status ? statusFindings(status, config, clock.now()) : []),
    ...box,
    ...around,
  ]
  return { ok: areWell(findings), running: gateway.isRunning, version, findings }
}

async function boxFindings(config: Config | undefined, nowMs: number): Promise<DoctorFinding[]> {
  const folder = config && statSync(config.dataDir, { throwIfNoEntry: false }) ? config.dataDir : '/'
  const [ffmpeg, memory, heat, wear] = await Promise.all([
    ffmpegFacts(config?.ffmpeg.path ?? null),
    memoryFacts(),
    heatFacts(),
    wearOf({ folder, nowMs }),
  ])
  const cameras = config?.cameras.length ?? 0
  return [ffmpegFinding(ffmpeg, cameras), memoryFinding(memory), heatFinding(heat), wearFinding(wear)]
}

function filesOf(config: Config, file: string | undefined): DoctorFinding[] {
  const owner = statSync(config.dataDir, { throwIfNoEntry: false })
  const { uid, gid, name } = systemUser()
  const who = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : { uid, gid }
  return fileFindings(fileFacts(config, file, who), who.uid === uid ? name : `user ${who.uid}`)
}

async function networkFindings(config: Config, needs: ExamineNeeds): Promise<DoctorFinding[]> {
  const { clock, streams, signal } = needs
  const [servers, account, cameras] = await Promise.all([
    serverFacts(config.storage, needs),
    accountFacts(config.storage, needs),
    streams ? openedStreams(config, { clock, signal, streams }) : [],
  ])
  return [
    ...certificateFacts(config, clock.now()).map(certificateFinding),
    ...servers.map(serverFinding),
    ...(account ? [accountFinding(account)] : []),
    ...cameras,
  ]
}

async function openedStreams(
  { cameras, ffmpeg }: Config,
  needs: Pick<ExamineNeeds, 'clock' | 'signal'> & { readonly streams: StreamProbe },
): Promise<DoctorFinding[]> {
  const found = await ffmpegFacts(ffmpeg.path)
  // Without ffmpeg no stream can be opened; a separate finding reports it.
  if ('error' in found) return []
  const seen = await streamsSeen(cameras, { ...needs, ffmpegPath: found.path })
  return seen.flatMap(streamFindings)
}

function statusFindings(status: GatewayStatus, config: Config | undefined, nowMs: number): DoctorFinding[] {
  const { webhooks, uploads, witnesses, clock, uplink, disk, alerts, running, cameras } = status
  const needsUplink = webhooks.total > 0 || uploads.configured || witnesses.length > 0
  return [
    ...recordFindings(status, nowMs),
    clockFinding(clock),
    uplinkFinding(uplink, needsUplink),
    diskFinding(disk),
    ...(running ? cameraFindings(cameras) : []),
    ...slotFindings(cameras),
    ...alertFindings(alerts.open, config?.site.url ?? status.site.url),
  ]
}

function alertFindings(open: number | null, url: string): DoctorFinding[] {
  const of = findingsOn({ topic: 'alerts' })
  if (open === 0) return [of.good('Every alert was acknowledged.')]
  const count = open === null ? 'Very many' : `${open}`
  return [of.note(`${count} not acknowledged.`, `Read and acknowledge them at ${url}/alerts.`)]
}
