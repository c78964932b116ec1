import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { daemonAt, statusThroughDaemon } from '../app/index.ts'
import { type Checked, type Config, checkConfig } from '../config/index.ts'
import { databaseFile, newestSchema, openReader } from '../database/index.ts'
import type { GatewaySeen } from '../doctor/index.ts'
import { AppError, ExitError } from '../errors/index.ts'
import { systemClock } from '../platform/index.ts'
import { alone, becomeOwnerOf } from './alone.ts'

/** Where the unit of systemd has the control socket. */
const installedRuntimeDir = '/run/gatehouse'

/** The config of a box as it is on disk, and where its daemon listens: it may run with the config before. */
export type Reached = {
  readonly checked: Checked
  /** Undefined: no daemon works on this data folder. */
  readonly runtimeDir: string | undefined
  /** Undefined: the config on disk is bad, and no daemon reports its data folder. */
  readonly dataDir: string | undefined
}

/** Reads a config, good or bad, and finds the daemon that runs with it or with the one before it. */
export async function reach(file: string | undefined): Promise<Reached> {
  const checked = checkConfig(file)
  const { config } = checked
  const runtimeDir = config?.runtimeDir ?? runtimeDirIn(file)
  const daemon = await daemonAt(runtimeDir)
  const isOurs = daemon !== undefined && (!config || daemon.dataDir === config.dataDir)
  const dataDir = config?.dataDir ?? daemon?.dataDir
  return { checked, runtimeDir: isOurs ? runtimeDir : undefined, dataDir }
}

/** Reads one key of a config that has problems elsewhere. */
function runtimeDirIn(file = ''): string {
  try {
    const { runtimeDir } = parse(readFileSync(file, 'utf8')) as { runtimeDir?: unknown }
    return typeof runtimeDir === 'string' ? resolve(dirname(file), runtimeDir) : installedRuntimeDir
  } catch {
    return installedRuntimeDir
  }
}

/**
 * Asks the daemon for its state. Without one, reads its data folder, for which this process becomes the folder's user. Never
 * migrates a database. Does not reject when the gateway refuses; `problem` has its message.
 */
export async function lookAtGateway({ checked, runtimeDir }: Reached, file: string | undefined): Promise<GatewaySeen> {
  const isRunning = runtimeDir !== undefined
  try {
    if (isRunning) return { isRunning, problem: null, status: await statusThroughDaemon(runtimeDir) }
    const status = checked.config ? await statusOfFolder(checked.config, file) : null
    return { isRunning, problem: null, status }
  } catch (error) {
    if (!(error instanceof ExitError) && !(error instanceof AppError)) throw error
    return { isRunning, problem: error.message, status: null }
  }
}

async function statusOfFolder(config: Config, file: string | undefined) {
  becomeOwnerOf(config.dataDir)
  const database = databaseFile(config.dataDir)
  if (!existsSync(database)) return null
  const schema = schemaOf(database)
  if (schema !== newestSchema) {
    throw new ExitError(1, `the database has schema ${schema}, and this version works with ${newestSchema}`)
  }
  const configNow = { file, loadedMs: systemClock.now(), refused: null, waiting: [] }
  return alone(
    config,
    async (gateway) => {
      await Promise.all([gateway.clockSync.look(), gateway.backupSchedule.count()])
      return gateway.status(configNow, false)
    },
    file,
  )
}

function schemaOf(database: string): number {
  const reader = openReader(database)
  try {
    return Number(reader.pragma('user_version', { simple: true }))
  } finally {
    reader.close()
  }
}
