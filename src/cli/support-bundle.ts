import { closeSync, openSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { metricsThroughDaemon, streamProbe } from '../app/index.ts'
import {
  collectBundle,
  examine,
  type GatewaySeen,
  hiddenIn,
  hiddenInLedger,
  journal,
  writeZip,
} from '../doctor/index.ts'
import { ExitError } from '../errors/index.ts'
import { buildInfo } from '../platform/bundle.ts'
import { errorCode, errorMessage } from '../platform/faults.ts'
import { print, systemClock } from '../platform/index.ts'
import { becomeOwnerOf } from './alone.ts'
import { untilInterrupted } from './interrupt.ts'
import { lookAtGateway, reach } from './reach.ts'
import { usualConfig, usualConfigText } from './usual-config.ts'

type BundleOptions = { config?: string; out?: string; cameras: boolean; json?: boolean }

export function supportBundleCommand(): Command {
  return new Command('support-bundle')
    .description(
      'write a zip for the person who helps: config, status, doctor, log, metrics, alerts; no secrets, no names of people',
    )
    .option('--out <file>', 'zip to write; default: gatehouse-support-TIME.zip in this folder')
    .option('--config <file>', `config of the gateway; ${usualConfigText}`)
    .option('--no-cameras', 'do not open the streams of the cameras')
    .option('--json', 'for programs: {file, files}')
    .action(supportBundle)
}

async function supportBundle(options: BundleOptions): Promise<void> {
  const file = usualConfig(options.config)
  const nowMs = systemClock.now()
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const out = resolve(options.out ?? `gatehouse-support-${time}.zip`)
  // Opened first: root becomes the user of the data folder, and that user may not write here.
  const fd = opened(out)
  let isWritten = false
  try {
    await untilInterrupted(async (signal) => {
      const files = await filesOf(file, { signal, nowMs, opensCameras: options.cameras })
      await writeZip(fd, files, nowMs)
      isWritten = true
      const names = files.map(({ name }) => name)
      const words = `${out}: ${names.length} files. Look through it before you send it.\n`
      print(options.json ? `${JSON.stringify({ file: out, files: names })}\n` : words)
    })
  } finally {
    if (!isWritten) {
      closeSync(fd)
      removeIfAllowed(out)
    }
  }
}

async function filesOf(
  file: string | undefined,
  { signal, nowMs, opensCameras }: { signal: AbortSignal; nowMs: number; opensCameras: boolean },
) {
  const reached = await reach(file)
  const { checked, runtimeDir, dataDir } = reached
  // As root, while it may still read everything.
  const ofConfig = hiddenIn(checked, file)
  const log = await journal()
  const streams = opensCameras && checked.config ? streamProbe(dataDir ?? '') : undefined
  if (dataDir !== undefined) becomeOwnerOf(dataDir)
  let gateway: GatewaySeen | undefined
  const { version, commit } = buildInfo()
  const report = await examine({
    checked,
    file,
    clock: systemClock,
    version,
    signal,
    streams,
    lookAtGateway: async () => {
      gateway = await lookAtGateway(reached, file)
      return gateway
    },
  })
  await streams?.end()
  const ofLedger = hiddenInLedger(dataDir)
  return collectBundle({
    checked,
    dataDir,
    version: { version, commit },
    report,
    log,
    nowMs,
    status: gateway?.status ?? null,
    metrics: runtimeDir === undefined ? undefined : await metricsThroughDaemon(runtimeDir),
    hidden: { secrets: [...ofConfig.secrets, ...ofLedger.secrets], people: [...ofConfig.people, ...ofLedger.people] },
  })
}

/** The user that root became may not remove the file; it stays empty then. */
function removeIfAllowed(out: string): void {
  try {
    rmSync(out, { force: true })
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error
  }
}

function opened(out: string): number {
  try {
    return openSync(out, 'wx', 0o600)
  } catch (error) {
    throw new ExitError(1, `${out} cannot be written: ${errorMessage(error)}`, error)
  }
}
