import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import got from 'got'
import { StorageAgents, type StorageInstance } from '../auth/index.ts'
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

const waitsMs = [0, 1000, 4000]
const answerMs = 60_000

/** What one answer may take. The server is another one's: it must neither keep this program waiting nor fill its memory. */
const limits = {
  file: { totalMs: 30 * 60_000, bytes: 256 * 1024 * 1024 },
  /** Lists of tens of thousands of names. */
  other: { totalMs: 120_000, bytes: 32 * 1024 * 1024 },
}

class AnswerTooLarge extends Error {}

type Answer = { readonly statusCode: number; readonly body: Buffer; readonly sizeBytes: number }

/** Reads and removes files below one folder of a WebDAV server. Each method rejects with an Error in words. */
export class DavFolder {
  readonly name: string
  readonly #access: DavFolderAccess
  readonly #agents = new StorageAgents()
  #authorization: string | undefined

  constructor(access: DavFolderAccess) {
    this.#access = access
    this.name = access.url
  }

  /** Names in a folder, those of folders with a slash at the end; none when it is not there. */
  async list(folder: string): Promise<string[]> {
    const { statusCode, body } = await this.#ask('PROPFIND', folder === '' ? '/' : `/${inUrl(folder)}/`, { depth: '1' })
    if (statusCode === 404) return []
    if (statusCode !== 207) throw new Error(`${this.name}/${folder} can't be listed: HTTP ${statusCode}`)
    return entriesIn(body.toString('utf8'), new URL(`${this.#access.url}/${inUrl(folder)}`).pathname)
  }

  async read(path: string): Promise<Buffer> {
    const { statusCode, body } = await this.#ask('GET', `/${inUrl(path)}`)
    if (statusCode === 200) return body
    throw new Error(statusCode === 404 ? 'it is not there' : `HTTP ${statusCode}`)
  }

  /**
   * Copies a file of any size to a new file here (mode 0600); a piece at a time is in memory. `demand` is asked first whether so
   * many bytes may come, and throws when not. What is left of a failed copy is removed.
   */
  async download(path: string, to: string, demand: (sizeBytes: number) => void): Promise<void> {
    const { statusCode, sizeBytes } = await this.#ask('HEAD', `/${inUrl(path)}`)
    if (statusCode !== 200) throw new Error(statusCode === 404 ? 'it is not there' : `HTTP ${statusCode}`)
    demand(sizeBytes)
    try {
      const authorization = this.#authorization
      await pipeline(
        got.stream(`${this.#access.url}/${inUrl(path)}`, {
          ...this.#options(authorization ? { authorization } : {}),
          throwHttpErrors: true,
          timeout: { response: answerMs, socket: answerMs },
        }),
        (pieces) => ofSize(pieces, sizeBytes),
        createWriteStream(to, { flags: 'wx', mode: 0o600 }),
      )
    } catch (error) {
      await rm(to, { force: true })
      throw error
    }
  }

  /** Removes a file or a folder with all in it. One that is not there is no fault. */
  async remove(path: string): Promise<void> {
    const { statusCode } = await this.#ask('DELETE', `/${inUrl(path)}`)
    if (statusCode === 404 || (statusCode >= 200 && statusCode < 300)) return
    throw new Error(`${this.name}/${path} can't be removed: HTTP ${statusCode}`)
  }

  /** Asks again after a moment when the server is busy. */
  async #ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
    let last: Answer | Error = new Error('not asked')
    for (const waitMs of waitsMs) {
      if (waitMs > 0) await delay(waitMs)
      last = await this.#signedIn(method, path, headers).catch((error: Error) => error)
      if (last instanceof AnswerTooLarge) throw last
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
    const limit = method === 'GET' ? limits.file : limits.other
    const tooLarge = new AbortController()
    const asking = got(`${this.#access.url}${path}`, {
      method: method as 'GET',
      ...this.#options(headers),
      responseType: 'buffer',
      throwHttpErrors: false,
      timeout: { response: answerMs, socket: answerMs, request: limit.totalMs },
      signal: tooLarge.signal,
    })
    void asking.on('downloadProgress', ({ transferred }) => {
      if (transferred > limit.bytes) tooLarge.abort()
    })
    const answer = await asking.catch((error: Error) => {
      if (!tooLarge.signal.aborted) throw error
      throw new AnswerTooLarge(`${this.name} answers with more than ${limit.bytes} bytes`)
    })
    const { statusCode, body } = answer
    return { statusCode, body: Buffer.from(body), sizeBytes: Number(answer.headers['content-length'] ?? 0) }
  }

  #options(headers: Record<string, string>) {
    const { url, caFile, version } = this.#access
    const instance: StorageInstance = { url, caFile }
    return {
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': `gatehouse/${version}` },
      agent: this.#agents.of(instance),
      retry: { limit: 0 },
      followRedirect: false,
      decompress: false,
    }
  }
}

/** Passes the pieces of a file on. Throws when they are more or fewer bytes than the server said. */
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
