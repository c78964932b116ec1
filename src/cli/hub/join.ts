import { X509Certificate } from 'node:crypto'
import { chownSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import type { z } from 'zod'
import { type Config, loadConfig } from '../../config/index.ts'
import { databaseFile, executor, openReader } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import { logKeysOf, readVkey } from '../../evidence/index.ts'
import { authorityPath, EnrolAnswer, type EnrolBody, enrolPath } from '../../feed/index.ts'
import { fingerprintOf } from '../../hub/index.ts'
import { knownLogs } from '../../log/index.ts'
import {
  answerBounds,
  asDaemonUser,
  outsideJson,
  outsideRequest,
  systemClock,
  wholeAnswer,
  writeFileDurably,
} from '../../platform/index.ts'

export type Joined = {
  readonly url: string
  readonly tokenFile: string
  /** Null when public authorities vouch for the head office. */
  readonly caFile: string | null
  readonly vkey: string
  readonly dropIn: string
}

export type JoinOrder = {
  readonly url: string
  /** One of the two: the code itself, or the file that has it; `-` is standard input. */
  readonly code?: string | undefined
  readonly codeFile?: string | undefined
  readonly configFile: string
}

/**
 * Enrols the gateway of a config at a head office, and writes the files for its feed beside the config. The code names the
 * authority of the head office by its fingerprint, so nothing is sent to anybody else. Throws ExitError with the remedy.
 */
export async function joinHub(order: JoinOrder): Promise<Joined> {
  const url = addressOf(order.url)
  const code = codeOf(order)
  const [secret = '', fingerprint = ''] = code.split('.')
  if (secret === '')
    throw new ExitError(2, '--code takes the whole code that "gatehouse hub enrol" printed: SECRET.FINGERPRINT')
  const { config } = loadConfig(order.configFile)
  const ca = fingerprint === '' ? undefined : await authorityBy(url, fingerprint.toLowerCase())
  const body = asDaemonUser(config.dataDir, () => enrolmentOf(config, code))
  const answer = await enrol(url, ca, body)
  const folder = dirname(resolve(order.configFile))
  const files = {
    tokenFile: join(folder, 'secrets', 'hub-token'),
    caFile: ca === undefined ? null : join(folder, 'hub-ca.pem'),
    dropIn: join(folder, 'conf.d', 'hub.yaml'),
  }
  const owner = statSync(config.dataDir)
  write(files.tokenFile, `${answer.token}\n`, 0o640, owner)
  if (files.caFile !== null && ca !== undefined) write(files.caFile, ca, 0o644, owner)
  const hub = { url, tokenFile: files.tokenFile, caFile: files.caFile, vkey: answer.vkey }
  write(files.dropIn, `# Written by "gatehouse hub join".\n${stringify({ hub })}`, 0o644, owner)
  // A drop-in that does not fit the rest of the config is found now, not at the next start.
  loadConfig(order.configFile)
  return { url, vkey: answer.vkey, ...files }
}

function codeOf({ code, codeFile }: JoinOrder): string {
  if ((code === undefined) === (codeFile === undefined)) throw new ExitError(2, 'give either --code or --code-file')
  if (codeFile === undefined) return code ?? ''
  try {
    return readFileSync(codeFile === '-' ? 0 : codeFile, 'utf8').trim()
  } catch (cause) {
    throw new ExitError(2, `--code-file: ${codeFile} cannot be read`, cause)
  }
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHere = url !== undefined && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (!url || (url.protocol !== 'https:' && !isHere) || !/^https?:$/.test(url.protocol)) {
    throw new ExitError(2, `${text} is not the address of a head office: it begins with https://`)
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/**
 * Fetches the authority over a connection that no one vouches for yet; its fingerprint decides. Returns that certificate alone,
 * whatever else the answer has behind it.
 */
async function authorityBy(url: string, fingerprint: string): Promise<string> {
  if (!url.startsWith('https:')) throw new ExitError(2, 'the code names an authority, so the address begins with https')
  const pem = await ask(url, authorityPath, { https: { rejectUnauthorized: false } })
  const one = certificateIn(pem.body)
  const found = one && fingerprintOf(one)
  if (one && found === fingerprint) return one.toString()
  throw new ExitError(
    1,
    `${url} shows the certificate authority ${found ?? '(none)'}, and the code names ${fingerprint}; somebody intercepts the connection, or the code belongs to another head office`,
  )
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function enrolmentOf(config: Config, code: string): EnrolBody {
  const db = openReader(databaseFile(config.dataDir))
  try {
    const log = knownLogs(executor(db)).at(-1)
    if (!log) throw new ExitError(1, 'the database has no log yet; start the gateway once')
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
    const { id } = config.site
    return { code, siteId: id, name: id, timezone, logId: log.logId, vkeys: [...logKeysOf(config.dataDir)] }
  } finally {
    db.close()
  }
}

async function enrol(url: string, ca: string | undefined, body: EnrolBody): Promise<z.infer<typeof EnrolAnswer>> {
  const reply = await ask(url, enrolPath, {
    method: 'POST',
    json: body,
    ...(ca !== undefined && { https: { certificateAuthority: ca } }),
  })
  const answer = EnrolAnswer.safeParse(outsideJson(reply.body)).data
  if (reply.statusCode === 201 && answer && readVkey(answer.vkey)?.type === 4) return answer
  const said = (outsideJson(reply.body) as { error?: { message?: string } } | undefined)?.error?.message
  throw new ExitError(1, `${url} answers ${reply.statusCode}${said ? `: ${said}` : ''}`)
}

async function ask(
  url: string,
  path: string,
  options: Parameters<typeof outsideRequest>[1],
): Promise<{ statusCode: number; body: string }> {
  const answer = await wholeAnswer(outsideRequest(`${url}${path}`, options), answerBounds.enrolment, {
    clock: systemClock,
  })
  if (answer.kind === 'answer') return { statusCode: answer.head.statusCode, body: answer.body.toString('utf8') }
  throw new ExitError(1, `${url} cannot be reached: ${answer.why}`, answer.error)
}

/** Files that root writes get the owner of the data folder, because the gateway has to read them. */
function write(path: string, text: string, mode: number, owner: { uid: number; gid: number }): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileDurably(path, text, mode)
  if (process.getuid?.() === 0) chownSync(path, 0, owner.gid)
}
