import { type Dav, type DavRequest, FileError } from './dav/dav.ts'
import { type FolderBook, folderFactsRequest, folderIdIn, freeBytesIn } from './dav/folder-facts.ts'
import { entriesIn, filesIn } from './dav/multistatus.ts'
import { asidePath, inUrl } from './dav/paths.ts'
import { type Account, authorizationOf, filesUrl } from './dav/probe.ts'
import type { Flavor, Refusal, Scheme } from './line.ts'
import { bodyOf, hashOf } from './local-file.ts'
import {
  folderOf,
  inMemory,
  isCutOff,
  type Job,
  partBytes,
  partPath,
  partsName,
  partsOf,
  type Sendable,
} from './parts.ts'
import type { Verified } from './tables.ts'
import { judge, type Reply, type Step, type UploadVerdict } from './verdict.ts'

/** A piece of a clip that is still being recorded, which goes before everything else. */
export type Part = Pick<Job, 'path' | 'about'> & { readonly bytes: Buffer }

/** How an attempt ended. */
export type Outcome = { readonly kind: 'uploaded'; readonly verified: Verified; readonly url: string } | Failure

type Failure = Extract<UploadVerdict, { kind: 'wait' | 'pause' | 'unauthorized' | 'refused' | 'park' }>

/** A copy that is on the server. */
export type Copy = Pick<Job, 'path' | 'sha256' | 'sizeBytes'>

/** How a copy is that was compared again. */
export type Compared =
  | { readonly kind: 'same'; readonly verified: Verified }
  | { readonly kind: 'missing' }
  /** The server has other bytes under its name. */
  | { readonly kind: 'different'; readonly error: string }
  | Failure

/** Ends an attempt: nothing more can be done for the file now. */
class Ended extends Error {
  readonly outcome: Failure

  constructor(outcome: Failure) {
    super(outcome.kind)
    this.outcome = outcome
  }
}

const wait = (error: string) => new Ended({ kind: 'wait', error })
const park = (why: 'hash' | 'file', error: string) => new Ended({ kind: 'park', why, error })

type Stepped = {
  readonly verdict: 'done' | 'there' | 'gone' | 'folders' | 'cannot'
  readonly reply: Reply & { kind: 'answer' }
}

export type Connection = {
  readonly flavor: Flavor
  readonly scheme: Scheme
  readonly account: Account
  /** The folder in which all files are, which must stay the same one. Absent where the account's own folder will do. */
  readonly folder?: { readonly root: string; readonly book: FolderBook }
}

/**
 * Copies files to the server over one connection's facts. Overwrites and removes nothing there, except the parts of a clip that is
 * there as a whole. A file counts as uploaded only when the server's copy has been compared.
 */
export class Transfer {
  readonly #dav: Dav
  readonly #connection: Connection
  readonly #base: string
  /** Folders that are known to be there. */
  readonly #folders = new Set<string>()

  constructor(dav: Dav, connection: Connection) {
    this.#dav = dav
    this.#connection = connection
    this.#base = filesUrl(connection.flavor, connection.account)
  }

  /** Where a file of this path is. */
  urlOf(path: string): string {
    return `${this.#base}${inUrl(path)}`
  }

  /** Makes one attempt for a file and the JSON beside it. Never rejects. */
  async run(job: Job): Promise<Outcome> {
    const refusal = await this.refusalOfFolder()
    if (refusal) return refusal
    return this.#attempt(
      {
        ...job,
        body: (from, to) => bodyOf(job.file, job.sizeBytes, from, to),
        hashNow: () => hashOf(job.file, job.sizeBytes),
      },
      job.about,
    )
  }

  /** Makes one attempt for bytes in memory and the JSON beside them. Never rejects. */
  send({ path, bytes, about }: Part): Promise<Outcome> {
    return this.#attempt(inMemory(path, bytes, true), about)
  }

  /**
   * Removes files of a folder and the parts of an attempt that was cut off. Removes the folder too when it is empty then. Returns
   * `cannot` when the server lets this account remove nothing. Never rejects.
   */
  async clear(folder: string, names: readonly string[]): Promise<'done' | 'cannot' | Failure> {
    try {
      for (const name of names) {
        if ((await this.#remove(`${folder}/${name}`)) === 'cannot') return 'cannot'
      }
      const { verdict, reply } = await this.#step('list', {
        ...{ method: 'PROPFIND', url: `${this.urlOf(folder)}/`, headers: { depth: '1' } },
      })
      const entries = verdict === 'done' ? this.#entries(reply.body, folder) : []
      for (const name of entries.filter(isCutOff)) {
        if ((await this.#remove(`${folder}/${name}`)) === 'cannot') return 'cannot'
      }
      if (verdict === 'done' && entries.every(isCutOff)) await this.#remove(folder)
      this.#folders.delete(folder)
      return 'done'
    } catch (error) {
      if (error instanceof Ended) return error.outcome
      throw error
    }
  }

  /**
   * Says why nothing may be stored: the folder is not the one of the first upload. A share that was withdrawn leaves no trace, and
   * files would go to the account's own folder. Undefined while all is well. Never rejects.
   */
  refusalOfFolder(): Promise<Failure | undefined> {
    return this.#unlessEnded(async () => {
      const { root, book } = this.#connection.folder ?? {}
      const first = book?.first()
      if (root === undefined || !first || this.#connection.flavor === 'webdav') return undefined
      const { verdict, reply } = await this.#step('folder facts', folderFactsRequest(this.urlOf(root)))
      const now = verdict === 'done' ? folderIdIn(reply.body) : undefined
      const isUnsaid = verdict !== 'gone' && !now
      const isSame = now?.fileId === first.fileId && now.ownerId === first.ownerId
      return isUnsaid || isSame ? undefined : otherFolder(root, first.ownerId, now?.ownerId)
    })
  }

  /** Returns the bytes that are free in the folder; null where the server does not say. Never rejects. */
  freeBytes(): Promise<number | null | Failure> {
    return this.#unlessEnded(() => this.#freeBytes())
  }

  async #freeBytes(): Promise<number | null> {
    for (const path of [this.#connection.folder?.root ?? '', '/']) {
      const { verdict, reply } = await this.#step('folder facts', folderFactsRequest(this.urlOf(path)))
      if (verdict === 'done') return freeBytesIn(reply.body)
    }
    return null
  }

  /** Compares a copy with the uploaded file, by the bytes that are on the server's disk now. Sends no file. Never rejects. */
  compareAgain(copy: Copy): Promise<Compared> {
    return this.#unlessEnded(async () => {
      const found = await this.#comparedNow(copy)
      // Without its folder nothing is where it was.
      const refusal = found.kind === 'missing' ? await this.refusalOfFolder() : undefined
      return refusal ?? found
    })
  }

  async #comparedNow({ path, sha256, sizeBytes }: Copy): Promise<Compared> {
    if (this.#connection.flavor === 'nextcloud') {
      const { verdict, reply } = await this.#askHash(path)
      if (verdict === 'gone') return { kind: 'missing' }
      if (verdict === 'done' && reply.hash !== null) {
        const isSame = reply.hash === sha256
        return isSame ? { kind: 'same', verified: 'hash' } : { kind: 'different', error: otherBytes(reply.hash) }
      }
    }
    const size = await this.#look(path)
    if (size === undefined) return { kind: 'missing' }
    const isSame = size === sizeBytes
    return isSame ? { kind: 'same', verified: 'size' } : { kind: 'different', error: otherSize(size, sizeBytes) }
  }

  async #unlessEnded<T>(work: () => Promise<T>): Promise<T | Failure> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Ended) return error.outcome
      throw error
    }
  }

  #entries(listing: string, folder: string): string[] {
    try {
      return entriesIn(listing, new URL(this.urlOf(folder)).pathname)
    } catch {
      throw wait(`the server's list of the folder ${folder} cannot be read`)
    }
  }

  async #remove(path: string): Promise<Stepped['verdict']> {
    return (await this.#step('remove', { method: 'DELETE', url: this.urlOf(path) })).verdict
  }

  async #attempt(file: Sendable, about: string | null): Promise<Outcome> {
    try {
      const verified = await this.#store(file)
      if (about !== null) await this.#store(inMemory(asidePath(file.path), Buffer.from(about), file.urgent))
      await this.#rememberFolder()
      return { kind: 'uploaded', verified, url: this.urlOf(file.path) }
    } catch (error) {
      if (error instanceof Ended) return this.#unlessFull(file, error.outcome)
      if (error instanceof FileError) return this.#withoutFile(file, error)
      throw error
    }
  }

  /** A Nextcloud whose account is full answers 403 where a folder is missing: it cannot be made. */
  async #unlessFull({ sizeBytes }: Sendable, failure: Failure): Promise<Failure> {
    if (failure.kind !== 'park' || !failure.isForbidden) return failure
    const free = await this.freeBytes()
    if (typeof free !== 'number' || free >= sizeBytes) return failure
    return { kind: 'park', why: 'quota', error: `${failure.error}: the storage server has room for ${free} bytes` }
  }

  /** A file that is not here any more is uploaded when the server has it. */
  async #withoutFile(file: Sendable, { message }: FileError): Promise<Outcome> {
    const found = await this.compareAgain(file)
    if (found.kind !== 'same') return { kind: 'park', why: 'file', error: message }
    return { kind: 'uploaded', verified: found.verified, url: this.urlOf(file.path) }
  }

  /** After the first upload: from then on files go into this folder alone. */
  async #rememberFolder(): Promise<void> {
    const { flavor, folder } = this.#connection
    if (!folder || flavor === 'webdav' || folder.book.first()) return
    const { verdict, reply } = await this.#step('folder facts', folderFactsRequest(this.urlOf(folder.root)))
    const id = verdict === 'done' ? folderIdIn(reply.body) : undefined
    if (id) await folder.book.remember(id)
  }

  #store(file: Sendable): Promise<Verified> {
    if (this.#connection.flavor === 'webdav') return this.#byPart(file)
    return file.sizeBytes <= partBytes ? this.#whole(file) : this.#chunked(file)
  }

  /** Nextcloud, a small file: one request. An upload that was cut off leaves nothing there. */
  async #whole(file: Sendable): Promise<Verified> {
    const ask = {
      method: 'PUT',
      url: this.urlOf(file.path),
      headers: {
        ...{ 'if-none-match': '*', 'x-hash': 'sha256' },
        // Later on, the folder of the first upload must not be made anew.
        ...(!this.#isFolderKnown && { 'x-nc-webdav-auto-mkcol': '1' }),
      },
      body: file.body(),
      urgent: file.urgent,
    } as const
    const { verdict, reply } = await this.#withFolders(file.path, () => this.#step('put', ask))
    return verdict === 'there' ? this.#conclude(file) : this.#compare(file, reply)
  }

  get #isFolderKnown(): boolean {
    return this.#connection.folder?.book.first() !== undefined
  }

  /** Nextcloud, a large file: parts in a separate folder, from the first one that is missing. */
  async #chunked(file: Sendable): Promise<Verified> {
    const folder = `${this.#connection.account.instance.url}/remote.php/dav/uploads/${inUrl(this.#connection.account.username)}/${partsName(file)}`
    const destination = { destination: this.urlOf(file.path), 'oc-total-length': String(file.sizeBytes) }
    const arrived = await this.#arrived(folder, file, destination)
    if (!arrived) return this.#conclude(file)
    // The server takes no part for a folder that is not there.
    await this.#makeFolder(folderOf(file.path))
    for (const part of partsOf(file.sizeBytes)) {
      if (arrived.get(part.name) === part.to - part.from) continue
      const body = file.body(part.from, part.to)
      const url = `${folder}/${part.name}`
      const ask = { method: 'PUT', url, headers: destination, body, urgent: file.urgent } as const
      const { verdict } = await this.#step('part', ask)
      if (verdict === 'gone') throw wait('the server has removed the parts that had arrived')
    }
    // If-None-Match would be held against the parts, which are there.
    const headers = { ...destination, 'x-hash': 'sha256', overwrite: 'F' }
    const move = { method: 'MOVE', url: `${folder}/.file`, headers } as const
    const { verdict, reply } = await this.#withFolders(file.path, () => this.#step('move', move))
    return verdict === 'there' ? this.#conclude(file) : this.#compare(file, reply)
  }

  /** Returns the parts that have arrived; undefined when the file itself is there, as after a lost answer to MOVE. */
  async #arrived(folder: string, file: Sendable, headers: Record<string, string>) {
    const list = { method: 'PROPFIND', url: `${folder}/`, headers: { depth: '1' } } as const
    const { verdict, reply } = await this.#step('list', list)
    if (verdict === 'done') return filesIn(reply.body)
    if ((await this.#look(file.path)) !== undefined) return undefined
    await this.#step('folder', { method: 'MKCOL', url: folder, headers })
    return new Map<string, number>()
  }

  /**
   * Any other WebDAV server: the file gets another name first. A cut may leave a file that looks complete, and some servers ignore
   * `If-None-Match`. MOVE follows, because it overwrites nothing.
   */
  async #byPart(file: Sendable): Promise<Verified> {
    if ((await this.#look(file.path)) !== undefined) return this.#compareSize(file)
    const part = partPath(file)
    // Made before: a server that refuses in the middle of a file cuts the connection, and its answer is lost.
    await this.#makeFolder(folderOf(file.path))
    const put = { method: 'PUT', url: this.urlOf(part), body: file.body(), urgent: file.urgent } as const
    await this.#withFolders(file.path, () => this.#step('put', put))
    const sizeBytes = await this.#look(part)
    if (sizeBytes !== file.sizeBytes) throw wait(`the server has ${sizeBytes ?? 0} of ${file.sizeBytes} bytes`)
    const headers = { destination: this.urlOf(file.path), overwrite: 'F' }
    await this.#withFolders(file.path, () => this.#step('move', { method: 'MOVE', url: this.urlOf(part), headers }))
    return this.#compareSize(file)
  }

  /** A file of this name is there: it is ours if the server computes the same hash of it. */
  async #conclude(file: Sendable): Promise<Verified> {
    const { verdict, reply } = await this.#askHash(file.path)
    if (verdict === 'gone') throw wait('the server said that the file is there, and it is not')
    return verdict === 'done' && reply.hash !== null ? this.#compareHash(file, reply.hash) : this.#compareSize(file)
  }

  #askHash(path: string): Promise<Stepped> {
    const headers = { 'x-recalculate-hash': 'sha256' }
    return this.#step('hash', { method: 'PATCH', url: this.urlOf(path), headers })
  }

  #compare(file: Sendable, { hash }: { hash: string | null }): Promise<Verified> {
    return hash === null ? this.#conclude(file) : this.#compareHash(file, hash)
  }

  async #compareHash(file: Sendable, hash: string): Promise<Verified> {
    if (hash === file.sha256) return 'hash'
    if ((await file.hashNow()) !== file.sha256)
      throw park('file', 'the file on this box is not the one that was recorded')
    throw park('hash', otherBytes(hash))
  }

  async #compareSize(file: Sendable): Promise<Verified> {
    const sizeBytes = await this.#look(file.path)
    if (sizeBytes === file.sizeBytes) return 'size'
    if (sizeBytes === undefined) throw wait('the server said that the file is there, and it is not')
    throw park('hash', otherSize(sizeBytes, file.sizeBytes))
  }

  /** Returns the size of a file on the server; undefined when it is not there. */
  async #look(path: string): Promise<number | undefined> {
    const { verdict, reply } = await this.#step('look', { method: 'HEAD', url: this.urlOf(path) })
    return verdict === 'gone' ? undefined : (reply.sizeBytes ?? -1)
  }

  /** Makes the folders when the server says that they are missing, and tries once more. */
  async #withFolders(path: string, send: () => Promise<Stepped>) {
    const first = await send()
    if (first.verdict !== 'folders') return first
    this.#folders.clear()
    await this.#makeFolder(folderOf(path))
    const second = await send()
    if (second.verdict === 'folders') throw wait(`HTTP ${second.reply.status}: the folders are there, and it refuses`)
    return second
  }

  /** Makes a folder and, where they are missing, those above it. */
  async #makeFolder(path: string): Promise<void> {
    if (path === '' || this.#folders.has(path)) return
    if (this.#isFolderKnown && path === this.#connection.folder?.root) {
      throw new Ended((await this.refusalOfFolder()) ?? wait(`the folder ${path} takes no folders`).outcome)
    }
    const make = () => this.#step('folder', { method: 'MKCOL', url: this.urlOf(path) })
    if ((await make()).verdict === 'folders') {
      await this.#makeFolder(folderOf(path))
      if ((await make()).verdict === 'folders') throw wait(`the folder ${path} cannot be made`)
    }
    this.#folders.add(path)
  }

  /** Sends a request and judges the answer. Throws Ended when it ends the attempt. */
  async #step(step: Step, ask: DavRequest): Promise<Stepped> {
    const { account, scheme } = this.#connection
    const reply = await this.#dav.send(account.instance, authorizationOf(scheme, account), ask)
    const verdict = judge(step, reply)
    switch (verdict.kind) {
      case 'wait':
      case 'pause':
      case 'unauthorized':
      case 'refused':
      case 'park':
        throw new Ended(verdict)
      case 'done':
      case 'there':
      case 'gone':
      case 'folders':
      case 'cannot':
        return { verdict: verdict.kind, reply: reply as Reply & { kind: 'answer' } }
    }
  }
}

const otherBytes = (hash: string) => `the server has other bytes under this name: their SHA-256 is ${hash}`
const otherSize = (size: number, wanted: number) => `the server has ${size} bytes under this name and not ${wanted}`

const otherFolder = (root: string, ownerId: string, ownerNow: string | undefined): Refusal => ({
  ...{ kind: 'refused', isPassword: false },
  error: `the folder ${root} of the first upload, which belongs to "${ownerId}", ${
    ownerNow === undefined ? 'is not there' : `is another one now, which belongs to "${ownerNow}"`
  }`,
  remedy: `Share the folder with the account again, or restore it. For a new folder, set storage.upload.root to another name, and reload.`,
})
