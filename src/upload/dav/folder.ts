import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { StorageAgents, type StorageInstance } from '../../auth/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { answerBounds, OutsideTimeout, outsideRequest, systemClock, wholeAnswer } from '../../platform/index.ts'
import { entriesIn } from './multistatus.ts'
import { inUrl } from './paths.ts'
import { type Account, authorizationOf, filesUrl } from './probe.ts'
import type { Remote } from './remote.ts'

/** A folder on a WebDAV server, and how to be let in. */
export type DavFolderAccess = {
  /** Without a slash at the end. */
  readonly url: string
  /** Values of the header Authorization, in the order in which they are tried; none for a server that asks for none. */
  readonly authorizations: readonly string[]
  readonly caFile: string | null
  readonly version: string
}

/** How the bytes of a password may be sent. */
export const authorizationsOf = (username: string, password: string): string[] =>
  (['bearer', 'basic'] as const).map((scheme) => authorizationOf(scheme, { username, password }))

/** Limits of one answer. The server is another one's: it must neither keep this program waiting nor fill its memory. */
export type DavFolderLimits = {
  /** Without a byte for this long, a question is given up. */
  readonly silenceMs: number
  /** From a question to the end of its answer; for a file that is read into memory. */
  readonly fileMs: number
  /** The same for other answers, such as lists of tens of thousands of names. */
  readonly otherMs: number
  /** A copy of a large file may take `fileMs`, and beyond it as long as this many bytes a second would. */
  readonly leastBytesPerSecond: number
  /** Delay before each try. */
  readonly waitsMs: readonly number[]
}

const usualLimits: DavFolderLimits = {
  silenceMs: 60_000,
  fileMs: answerBounds.storageFile.totalMs,
  otherMs: answerBounds.storageList.totalMs,
  leastBytesPerSecond: 64 * 1024,
  waitsMs: [0, 1000, 4000],
}

const maxBytes = { file: answerBounds.storageFile.bytes, other: answerBounds.storageList.bytes }

class AnswerTooLarge extends Error {}
/** The answer had begun. Another try would wait as long. */
class AnswerTooSlow extends Error {}

type Answer = { readonly statusCode: number; readonly body: Buffer; readonly sizeBytes: number }

/** Reads and removes files below one folder of a WebDAV server. Each method rejects with an Error in words. */
export class DavFolder {
  readonly name: string
  readonly #access: DavFolderAccess
  readonly #agents = new StorageAgents()
  readonly #limits: DavFolderLimits
  #authorization: string | undefined

  constructor(access: DavFolderAccess, limits: Partial<DavFolderLimits> = {}) {
    this.#access = access
    this.#limits = { ...usualLimits, ...limits }
    this.name = access.url
  }

  /** Names in a folder, those of folders with a slash at the end; none when it is not there. */
  async list(folder: string): Promise<string[]> {
    const { statusCode, body } = await this.#ask('PROPFIND', folder === '' ? '/' : `/${inUrl(folder)}/`, { depth: '1' })
    if (statusCode === 404) return []
    if (statusCode !== 207) throw new Error(`${this.name}/${folder} cannot be listed: HTTP ${statusCode}`)
    try {
      return entriesIn(body.toString('utf8'), new URL(`${this.#access.url}/${inUrl(folder)}`).pathname)
    } catch (error) {
      throw new Error(`${this.name}/${folder} is no list: ${errorMessage(error)}`, { cause: error })
    }
  }

  async read(path: string): Promise<Buffer> {
    const { statusCode, body } = await this.#ask('GET', `/${inUrl(path)}`)
    if (statusCode === 200) return body
    throw new Error(statusCode === 404 ? 'it is not there' : `HTTP ${statusCode}`)
  }

  /**
   * Copies a file of any size to a new file here (mode 0600); memory holds one piece at a time. First calls `demand` with the size,
   * which throws when so many bytes must not come. Removes the rest of a failed copy.
   */
  async download(path: string, to: string, demand: (sizeBytes: number) => void): Promise<void> {
    const { statusCode, sizeBytes } = await this.#ask('HEAD', `/${inUrl(path)}`)
    if (statusCode !== 200) throw new Error(statusCode === 404 ? 'it is not there' : `HTTP ${statusCode}`)
    demand(sizeBytes)
    const totalMs = this.#limits.fileMs + (sizeBytes / this.#limits.leastBytesPerSecond) * 1000
    try {
      const authorization = this.#authorization
      await pipeline(
        outsideRequest(`${this.#access.url}/${inUrl(path)}`, {
          ...this.#options(authorization ? { authorization } : {}),
          throwHttpErrors: true,
          timeout: this.#within(totalMs),
        }),
        (pieces) => ofSize(pieces, sizeBytes),
        createWriteStream(to, { flags: 'wx', mode: 0o600 }),
      )
    } catch (error) {
      await rm(to, { force: true })
      throw this.#inWords(error as Error, totalMs)
    }
  }

  /** Removes a file or a folder with all in it. One that is not there is no fault. */
  async remove(path: string): Promise<void> {
    const { statusCode } = await this.#ask('DELETE', `/${inUrl(path)}`)
    if (statusCode === 404 || (statusCode >= 200 && statusCode < 300)) return
    throw new Error(`${this.name}/${path} cannot be removed: HTTP ${statusCode}`)
  }

  /** Asks again after a moment when the server is busy. */
  async #ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
    let last: Answer | Error = new Error('not asked')
    for (const waitMs of this.#limits.waitsMs) {
      if (waitMs > 0) await delay(waitMs)
      last = await this.#signedIn(method, path, headers).catch((error: Error) => error)
      if (last instanceof AnswerTooLarge) throw last
      if (last instanceof AnswerTooSlow) break
      if (!(last instanceof Error) && last.statusCode !== 423 && last.statusCode !== 429 && last.statusCode < 500) {
        return last
      }
    }
    if (last instanceof Error) throw new Error(`${this.name} does not answer: ${last.message}`, { cause: last })
    return last
  }

  async #signedIn(method: string, path: string, headers: Record<string, string>): Promise<Answer> {
    const known = this.#authorization
    const candidates = known === undefined ? this.#access.authorizations : [known]
    for (const authorization of candidates.length === 0 ? [''] : candidates) {
      const answer = await this.#send(method, path, { ...headers, ...(authorization && { authorization }) })
      if (answer.statusCode === 401) continue
      if (answer.statusCode < 400) this.#authorization = authorization
      return answer
    }
    throw new Error('HTTP 401: it does not know the user or the password')
  }

  async #send(method: string, path: string, headers: Record<string, string>): Promise<Answer> {
    const kind = method === 'GET' ? 'file' : 'other'
    const totalMs = this.#limits[`${kind}Ms`]
    const request = outsideRequest(`${this.#access.url}${path}`, {
      method: method as 'GET',
      ...this.#options(headers),
      ...(method !== 'GET' && method !== 'HEAD' && { body: '' }),
      timeout: this.#within(totalMs),
    })
    const answer = await wholeAnswer(request, { bytes: maxBytes[kind] }, { clock: systemClock })
    if (answer.kind === 'answer') {
      const { head, body } = answer
      return { statusCode: head.statusCode, body, sizeBytes: Number(head.headers['content-length'] ?? 0) }
    }
    if (answer.limit === 'bytes')
      throw new AnswerTooLarge(`${this.name} answers with more than ${maxBytes[kind]} bytes`)
    throw answer.error instanceof Error ? this.#inWords(answer.error, totalMs) : new Error(answer.why)
  }

  #within(totalMs: number) {
    const { silenceMs } = this.#limits
    return { response: silenceMs, socket: silenceMs, request: totalMs }
  }

  /** Says of a question that took too long which limit it met. */
  #inWords(error: Error, totalMs: number): Error {
    if (!(error instanceof OutsideTimeout)) return error
    const seconds = (ms: number) => `${Math.round(ms) / 1000} s`
    if (error.event !== 'request') {
      return new Error(`nothing came from it for ${seconds(this.#limits.silenceMs)}`, { cause: error })
    }
    const words = `its answer did not end within ${seconds(totalMs)}`
    return new AnswerTooSlow(words, { cause: error })
  }

  #options(headers: Record<string, string>) {
    const { url, caFile, version } = this.#access
    const instance: StorageInstance = { url, caFile }
    return {
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': `gatehouse/${version}` },
      agent: this.#agents.of(instance),
    }
  }
}

/** Passes the pieces of a file on. Throws when they are more or fewer bytes than the server announced. */
async function* ofSize(pieces: AsyncIterable<Buffer>, sizeBytes: number): AsyncGenerator<Buffer> {
  let got = 0
  for await (const piece of pieces) {
    got += piece.length
    if (got > sizeBytes) throw new Error(`the server sends more than the ${sizeBytes} bytes that it announced`)
    yield piece
  }
  if (got < sizeBytes) throw new Error(`the server sent ${got} of ${sizeBytes} bytes`)
}

/**
 * Returns the way to the folder in which an account has its uploads. Asks the server who it is. Throws an Error in words when it
 * does not answer, or refuses the password.
 */
export async function uploadsFolder(
  remote: Pick<Remote, 'probe'>,
  account: Account,
  { root, version }: { root: string; version: string },
): Promise<DavFolderAccess> {
  const probed = await remote.probe(account)
  if (probed.kind !== 'up') throw new Error(`the storage server takes no questions: ${probed.error}`)
  return {
    url: `${filesUrl(probed.flavor, account)}${inUrl(root)}`,
    authorizations: [authorizationOf(probed.scheme, account)],
    caFile: account.instance.caFile,
    version,
  }
}
