import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { arch, cpus, release, totalmem, uptime } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import type { GatewayStatus } from '../../app/index.ts'
import { type Checked, type Config, formatProblem, settingsFiles } from '../../config/index.ts'
import { databaseFile, executor, inventoryOf, openReader, textsOf } from '../../database/index.ts'
import { isoTime, terminalText } from '../../platform/index.ts'
import { recentAlerts } from '../../webhooks/index.ts'
import type { DoctorReport } from '../examine.ts'
import { paintFor } from '../paint.ts'
import { reportWords } from '../report-words.ts'
import { type Hidden, redactorOf } from './redactor.ts'
import type { ZipEntry } from './zip.ts'

/** Unredacted contents of a bundle; `collectBundle` takes out the parts that must stay on the box. */
export type BundleSources = {
  readonly checked: Checked
  /** Undefined: it is not known. */
  readonly dataDir: string | undefined
  readonly version: { readonly version: string; readonly commit: string }
  readonly report: DoctorReport
  readonly status: GatewayStatus | null
  /** Undefined: no daemon runs. */
  readonly metrics: string | undefined
  /** Text of `journal()`. */
  readonly log: string
  readonly hidden: Hidden
  readonly nowMs: number
}

const alertsShown = 200

/** Returns the files of a bundle, each without secrets and people. Reads the ledger as its own user; changes nothing. */
export function collectBundle(sources: BundleSources): ZipEntry[] {
  const { checked, dataDir, version, report, status, metrics, log, hidden, nowMs } = sources
  const redact = redactorOf(hidden)
  const entries: ZipEntry[] = [
    { name: 'about.json', text: json({ ...version, made: isoTime(nowMs), ...machine() }) },
    {
      name: 'config.yaml',
      text: checked.config ? stringify(withoutSecrets(checked.config, ''), { lineWidth: 0 }) : '',
    },
    { name: 'config-problems.txt', text: problems(checked) },
    { name: 'doctor.txt', text: reportWords(report, true, paintFor({ isTTY: false })) },
    { name: 'doctor.json', text: json(report) },
    { name: 'status.json', text: json(status) },
    { name: 'metrics.txt', text: metrics ?? 'no daemon runs\n' },
    { name: 'log.txt', text: log },
    ...(dataDir === undefined ? [] : ledgerEntries(dataDir)),
  ]
  const redacted = entries.map(({ name, text }) => ({ name, text: terminalText(redact(text)) }))
  return [{ name: 'README.txt', text: readme(redacted) }, ...redacted]
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

function readme(entries: readonly ZipEntry[]): string {
  return `Made by "gatehouse support-bundle". Look through it before you send it.

Taken out: passwords, tokens and keys of the config, its secret files and the data folder, wherever they appear; the query of every
URL; user names of people ([person]). Left in: names of the site, of cameras and of warehouses, addresses of the network.

${entries.map(({ name }) => `${name}\n`).join('')}`
}

function machine() {
  return {
    node: process.versions.node,
    system: `${release()} ${arch()}`,
    distribution: /^PRETTY_NAME="?([^"\n]*)/m.exec(readText('/etc/os-release'))?.[1] ?? null,
    processors: cpus().map(({ model }) => model),
    memoryBytes: totalmem(),
    uptimeSeconds: Math.round(uptime()),
  }
}

function problems({ problems: bad, faults, warnings, files }: Checked): string {
  const lines = [...bad, ...faults, ...warnings].map(formatProblem)
  return `${files.join('\n')}\n\n${lines.length === 0 ? 'no problems' : lines.join('\n')}\n`
}

/** Returns a config without what is secret by its key. Names of accounts go with the other people. */
function withoutSecrets(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, key))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutSecrets(inner, name)]))
  }
  const isSecret = /secret|passw|token/i.test(key) && !/File$/.test(key)
  return isSecret && typeof value === 'string' ? '[secret]' : value
}

function ledgerEntries(dataDir: string): ZipEntry[] {
  const reader = opened(dataDir)
  if (reader instanceof Error) return [{ name: 'database.json', text: json({ problem: reader.message }) }]
  try {
    return [
      { name: 'database.json', text: json(inventoryOf(reader)) },
      { name: 'alerts.json', text: json(recentAlerts(executor(reader), alertsShown)) },
    ]
  } finally {
    reader.close()
  }
}

function opened(dataDir: string): ReturnType<typeof openReader> | Error {
  try {
    return openReader(databaseFile(dataDir))
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

const journalArgs = ['--unit', 'gatehouse', '--lines', '3000', '--no-pager', '--output', 'short-iso', '--quiet']
const journalLimits = { timeout: 30_000, maxBuffer: 64 * 1024 * 1024 }

/** Returns the newest lines of the daemon's log. Only root may read all of them. */
export function journal(): Promise<string> {
  return new Promise((resolve) => {
    execFile('journalctl', journalArgs, journalLimits, (error, stdout) =>
      resolve(
        stdout === '' ? `the journal cannot be read: ${error?.message ?? 'it has nothing of gatehouse'}\n` : stdout,
      ),
    )
  })
}

/** Finds the secrets in the config, in the files that it names, and in the data folder, as far as this process may read them. */
export function hiddenIn({ config, files }: Checked, file: string | undefined): Hidden {
  const own = files.map((path) => resolve(path))
  const inline = own.map(readText).flatMap(secretsInText)
  const named = config ? settingsFiles(config, file) : own.flatMap(filesNamedIn)
  const keys = config ? filesIn(join(config.dataDir, 'keys')) : []
  const admin = config ? [join(config.dataDir, 'first-admin')] : []
  const secret = [...named.filter((path) => !own.includes(path)), ...keys, ...admin]
  const secrets = [...inline, ...secret.map(readText).flatMap(linesOf)]
  if (!config) return { secrets, people: [] }
  const people = [...config.auth.users.map(({ username }) => username), ...Object.keys(config.rateLimit.users)]
  return { secrets: [...secrets, ...accountsOf(config)], people }
}

/** Finds the files that a config with problems names. */
function filesNamedIn(file: string): string[] {
  const named = [...readText(file).matchAll(/\b\w+File["']?\s*:\s*["']?([^\s"',}]+)/g)]
  return named.map(([, path = '']) => resolve(dirname(file), path))
}

/** User names at cameras and servers are half of a sign-in. */
function accountsOf({ cameras, storage }: Config): string[] {
  return [...cameras.map(({ username }) => username), storage.upload?.username].filter(
    (name) => typeof name === 'string',
  )
}

/** Finds user info of URLs and values of secret keys in the text of a config, also of one that has problems. */
function secretsInText(text: string): string[] {
  const urls = [...text.matchAll(/[a-z][a-z0-9+.-]*:\/\/([^\s/@"']+)@/gi)].flatMap(([, info = '']) => info.split(':'))
  const values = [...text.matchAll(/\b\w*(?:secret|passw|token)\w*["']?\s*:\s*["']?([^\s"',}#]+)/gi)]
  return [...urls.flatMap((part) => [part, decoded(part)]), ...values.map(([, value = '']) => value)]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A certificate is public; of everything else each line with more than a heading is a secret. */
function linesOf(text: string): string[] {
  if (/-----BEGIN CERTIFICATE-----/.test(text)) return []
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line.length > 2 && !line.startsWith('-----'))
}

/** Finds people in the ledger: their names are in its tables of people and accounts alone. */
export function hiddenInLedger(dataDir: string | undefined): Hidden {
  const none: Hidden = { secrets: [], people: [] }
  if (dataDir === undefined) return none
  const reader = opened(dataDir)
  if (reader instanceof Error) return none
  try {
    const receivers = textsOf(reader, 'url', ['webhook']).map((url) => new URL(url))
    const people = [...textsOf(reader, 'username'), ...textsOf(reader, 'name', ['person'])]
    return { secrets: receivers.flatMap(secretsOfReceiver), people }
  } finally {
    reader.close()
  }
}

/** The path of a receiver's address may hold a token; a short word of it does not. */
function secretsOfReceiver({ pathname, search }: URL): string[] {
  const parts = pathname.split('/').filter((part) => part.length >= 12 || (part.length >= 8 && /\d/.test(part)))
  return [...parts, ...(search.length > 1 ? [search] : [])]
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
