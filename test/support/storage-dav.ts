import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import * as faults from './storage-faults.ts'
import { askedOf, type Listed, listedPath, multistatus, type Properties } from './storage-properties.ts'

/** A header that is sent twice has both values. */
type DavHeaders = Readonly<Record<string, string | string[]>>

/** The part of a response that the files need. A lost answer is written nowhere. */
export type DavResponse = {
  writeHead(status: number, headers?: Record<string, string | string[]>): { end(body?: string | Buffer): unknown }
}

export type DavRequest = {
  readonly method: string
  /** Below /remote.php/dav, decoded, without a final slash: `files/otto/a.mp4`, `uploads/otto/ID/00001`. */
  readonly path: string
  /** Who asks. */
  readonly user: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

type Answer = {
  readonly status: number
  readonly headers: DavHeaders
  readonly body?: string | Buffer | undefined
  readonly isEarly?: boolean
}
type Node = Buffer | 'folder'
/** Facts that the server stores of a file or folder besides its bytes. */
type Facts = { readonly id: number; node: Node; etag: string; checksum: string | undefined; atMs: number }

/** A place below `files`. `key`: in `files`; a shared folder is stored at its owner's. */
type Place = {
  readonly account: string | undefined
  readonly key: string
  /** From the folder of the account on: `/a/b`, or nothing. */
  readonly path: string
  readonly isForeign: boolean
  readonly share: Share | undefined
}

/** A folder of another account. */
type Share = { readonly owner: string; readonly folder: string; readonly mayWrite: boolean }

export const davHeader =
  '1, 3, extended-mkcol, access-control, calendarserver-principal-property-search, nc-paginate, nextcloud-checksum-update, nc-calendar-search, nc-enable-birthday-calendar'
const allowed = 'OPTIONS, GET, HEAD, DELETE, PROPFIND, PUT, PROPPATCH, COPY, MOVE, REPORT'
const xmlType = 'application/xml; charset=utf-8'
const instance = 'oc3pa1f7'
const longestName = 250
/** The Content-Type of a file, by the ending of its name. */
const types: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  json: 'text/plain;charset=UTF-8',
  png: 'image/png',
  jpg: 'image/jpeg',
}
const algorithms: Readonly<Record<string, string>> = { sha256: 'X-Hash-SHA256', sha1: 'X-Hash-SHA1', md5: 'X-Hash-MD5' }
const known = ['PROPFIND', 'MKCOL', 'PUT', 'GET', 'HEAD', 'PATCH', 'DELETE', 'MOVE', 'OPTIONS']

const hashOf = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex')
const parentOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 0))
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

/**
 * The files of a Nextcloud. `test/upload/storage-table.test.ts` compares it with recorded answers of a real one, and lists the
 * differences.
 */
export class DavFiles {
  /** Files and folders by account and path: `otto/a/b.mp4`. */
  readonly files = new Map<string, Node>()
  /** Pieces of large files by `USER/ID/NAME`, and the folders `USER/ID`. */
  readonly uploads = new Map<string, Node>()
  /** Shared folders by where they are for the account that uses them: `otto/Evidence`. */
  readonly shares = new Map<string, Share>()
  /** Room for all files of an account together. */
  quotaBytes = Number.POSITIVE_INFINITY
  /** Room of single accounts. */
  readonly quotas = new Map<string, number>()
  /** Says of every file that it has this hash. */
  saysHash: string | undefined
  /** An older server: it computes no hashes. */
  isOld = false
  /** Paths that somebody is writing. */
  readonly locked = new Set<string>()
  /** The account of a name in a path: in another case, or an e-mail address. */
  accountOf: (name: string) => string | undefined = (name) => name
  now: () => number = Date.now
  readonly #facts = new Map<string, Facts>()
  #lastId = 100

  answer(request: DavRequest, response: DavResponse): unknown {
    const { status, headers, body, isEarly } = this.#reply(request)
    const isHead = request.method === 'HEAD'
    const who = isEarly ? {} : { 'X-User-Id': request.user }
    return response.writeHead(status, { ...headers, ...who }).end(isHead ? undefined : body)
  }

  #reply(request: DavRequest): Answer {
    try {
      return this.#answered(request)
    } catch (error) {
      if (error instanceof faults.DavFault) return faultAnswer(error, request.method)
      throw error
    }
  }

  #answered(request: DavRequest): Answer {
    const { method, path, user, headers } = request
    const [area = '', name = '', ...rest] = path.split('/')
    if (!known.includes(method)) throw faults.noPlugin(method)
    if (method === 'OPTIONS') return optionsAnswer
    if (area === 'uploads')
      return new Parts(this, request, { name, id: rest[0], part: rest.slice(1).join('/') }).answer()
    if (area !== 'files') throw faults.notFound(`/${path}`)
    const place = this.place(user, name, rest)
    if (this.locked.has(place.key)) throw faults.locked(place.path)
    switch (method) {
      case 'PROPFIND':
        return this.#list(place, path, headers, request.body)
      case 'MKCOL':
        return this.#makeFolder(place, name, request.body)
      case 'PUT':
        return this.#put(place, name, request)
      case 'GET':
      case 'HEAD':
        return this.#read(place, name, headers, method)
      case 'PATCH':
        return this.#hash(place, name, headers)
      case 'DELETE':
        return this.#remove(place, name)
      default:
        return this.#rename(place, request)
    }
  }

  place(user: string, name: string, segments: readonly string[]): Place {
    const account = this.accountOf(name)
    const [first = ''] = segments
    const share = account === user ? this.shares.get(`${user}/${first}`) : undefined
    const below = share ? [share.owner, share.folder, ...segments.slice(1)] : [account ?? name, ...segments]
    const path = segments.map((one) => `/${one}`).join('')
    return { account, key: below.join('/'), path, isForeign: account !== undefined && account !== user, share }
  }

  /** Undefined where nothing is; the folder of an account is always there. */
  nodeAt({ account, key, path, isForeign, share }: Place): Node | undefined {
    if (account === undefined) return undefined
    if (path === '') return 'folder'
    if (isForeign) return undefined
    if (share && key === `${share.owner}/${share.folder}`) return 'folder'
    return this.files.get(key)
  }

  parent(place: Place): Place {
    return { ...place, key: parentOf(place.key), path: parentOf(place.path) }
  }

  /** Throws the answer to a request for a missing file. */
  demand(place: Place, name: string): Node {
    const node = this.nodeAt(place)
    if (node !== undefined) return node
    throw this.#missing(place, name)
  }

  #missing({ account, path, isForeign }: Place, name: string): faults.DavFault {
    if (account === undefined) return faults.noPrincipal(name)
    if (isForeign) return faults.noNode(`File not found: ${path.split('/')[1]} in '${name}'`)
    return faults.notFound(path)
  }

  /** Returns the facts of an existing file; a file that a test has put there gets them now. */
  facts(key: string, node: Node): Facts {
    const there = this.#facts.get(key)
    if (there?.node === node) return there
    const etag = node === 'folder' ? hashOf('md5', Buffer.from(key)).slice(0, 13) : hashOf('md5', node)
    if (!there) this.#lastId += 1
    const id = there?.id ?? this.#lastId
    const facts = { id, node, etag, checksum: undefined, atMs: this.now() }
    this.#facts.set(key, facts)
    return facts
  }

  used(account: string): number {
    const own = [...this.files].filter(([key]) => key.startsWith(`${account}/`))
    return own.reduce((sum, [, node]) => sum + (node === 'folder' ? 0 : node.length), 0)
  }

  /** Bytes that are free for this place; the quota is that of the owner. */
  free({ account = '', share }: Place): number {
    const owner = share?.owner ?? account
    return Math.max((this.quotas.get(owner) ?? this.quotaBytes) - this.used(owner), 0)
  }

  #list(place: Place, path: string, headers: IncomingHttpHeaders, body: Buffer): Answer {
    const asked = askedOf(body)
    const node = this.nodeAt(place)
    const name = path.split('/')[1] ?? ''
    if (node === undefined) throw withDav(this.#missing(place, name))
    const base = `/remote.php/dav/${path}`
    const rows: Listed[] = [this.#listed(place, node, base)]
    if (node === 'folder' && headers['depth'] !== '0') {
      for (const child of this.#children(place.key)) {
        const inside = { ...place, key: `${place.key}/${child}`, path: `${place.path}/${child}` }
        const found = this.nodeAt(inside)
        if (found !== undefined) rows.push(this.#listed(inside, found, `${base}/${child}`))
      }
    }
    return listAnswer(multistatus(rows, asked))
  }

  #children(key: string): string[] {
    const names = [...this.files.keys(), ...this.shares.keys()].flatMap((one) => {
      const rest = one.startsWith(`${key}/`) ? one.slice(key.length + 1) : ''
      return rest === '' || rest.includes('/') ? [] : [rest]
    })
    return [...new Set(names)].sort()
  }

  #listed(place: Place, node: Node, path: string): Listed {
    const isFolder = node === 'folder'
    return { href: listedPath(isFolder ? `${path}/` : path), properties: this.#properties(place, node) }
  }

  #properties(place: Place, node: Node): Properties {
    const { account = '', key, share } = place
    const { id, etag, checksum, atMs } = this.facts(key, node)
    const owner = share?.owner ?? account
    const free = this.free(place)
    const fileId = `${String(id).padStart(8, '0')}${instance}`
    const shared = {
      'd:getlastmodified': dateOf(atMs),
      'd:getetag': `"${etag}"`,
      'd:displayname': place.path === '' ? account : nameOf(place.path),
      'oc:fileid': String(id),
      'oc:id': fileId,
      'oc:owner-id': owner,
      'oc:owner-display-name': owner,
      ...(checksum !== undefined && { 'oc:checksums': checksum }),
    }
    if (node !== 'folder') {
      return {
        ...shared,
        'd:getcontentlength': String(node.length),
        'd:getcontenttype': typeOf(key),
        'd:resourcetype': '',
        'oc:permissions': `${share ? 'S' : ''}${share && !share.mayWrite ? 'GD' : 'RGDNVW'}`,
        'oc:size': String(node.length),
      }
    }
    const size = String(place.path === '' ? this.used(owner) : this.used(key))
    return {
      ...shared,
      'd:resourcetype': '<d:collection/>',
      'oc:permissions': `${share ? 'S' : ''}${share && !share.mayWrite ? 'GD' : 'RGDNVCK'}`,
      'oc:size': size,
      'd:quota-used-bytes': size,
      'd:quota-available-bytes': Number.isFinite(free) ? String(free) : '-3',
    }
  }

  #makeFolder(place: Place, name: string, body: Buffer): Answer {
    if (body.length > 0) throw faults.noXmlBody()
    if (this.nodeAt(place) !== undefined) throw faults.notAllowed('The resource you tried to create already exists')
    if (place.path === '') throw faults.forbidden('Permission denied to create directory')
    const parent = this.parent(place)
    const above = this.nodeAt(parent)
    if (above === undefined) throw faults.conflict('Parent node does not exist')
    if (above !== 'folder') throw faults.conflict('Parent node is not a collection')
    this.#demandWritable(place, name)
    demandName(nameOf(place.path))
    if (this.free(place) <= 0) throw faults.noRoom(`Insufficient space in ${parent.path}. Cannot create directory`)
    this.files.set(place.key, 'folder')
    return done(201, { 'OC-FileId': this.#fileId(place.key, 'folder') })
  }

  #demandWritable({ share, isForeign }: Place, name: string): void {
    if (isForeign) throw faults.forbidden(`Permission denied to create file (filename ${name})`)
    if (share && !share.mayWrite) throw faults.forbidden()
  }

  #put(place: Place, name: string, { headers, body }: DavRequest): Answer {
    const there = this.nodeAt(place)
    demandPreconditions(headers, there !== undefined)
    if (there !== undefined && headers['content-range'] !== undefined)
      throw faults.badRequest('Content-Range on PUT requests are forbidden.')
    if (place.path === '' && place.account === undefined)
      throw faults.forbidden(`Permission denied to create file (filename ${name})`)
    if (there === 'folder') throw faults.conflict('PUT is not allowed on non-files.')
    if (nameOf(place.path) === '.htaccess') throw faults.earlyHiddenFile(place.path)
    this.#demandParent(place, name, headers['x-nc-webdav-auto-mkcol'] === '1')
    this.#demandWritable(place, name)
    demandName(nameOf(place.path))
    const total = Number(headers['oc-total-length'] ?? 0)
    if (Math.max(total || 0, body.length) > this.free(place)) throw faults.noRoom(`Insufficient space in ${place.path}`)
    return this.store(place, body, headers)
  }

  /** Makes the folders above where the request asks for it. */
  #demandParent(place: Place, name: string, mayMake: boolean): void {
    const parent = this.parent(place)
    const above = this.nodeAt(parent)
    if (above === 'folder') return
    if (above !== undefined) throw faults.noNode(`Node with name '${nameOf(parent.path)}' could not be found`)
    if (!mayMake) throw this.#missing(parent, name)
    if (place.isForeign) throw faults.forbidden('Permission denied to create directory')
    if (place.share && !place.share.mayWrite) throw faults.forbidden()
    if (this.free(place) <= 0) throw faults.forbidden(`Could not create directory ${parent.path}`)
    for (let up = parent; this.nodeAt(up) === undefined; up = this.parent(up)) this.files.set(up.key, 'folder')
  }

  /** Stores the bytes of a PUT or of a MOVE, and returns the values that the server computed of them. */
  store({ key }: Place, bytes: Buffer, headers: IncomingHttpHeaders): Answer {
    const isNew = this.files.get(key) === undefined
    this.files.set(key, bytes)
    const facts = this.facts(key, bytes)
    facts.checksum = text(headers['oc-checksum'])
    const mtime = text(headers['x-oc-mtime'])
    if (mtime !== undefined && Number(mtime) > 86_400) facts.atMs = Number(mtime) * 1000
    else if (mtime !== undefined) throw faults.badMtime(mtime)
    return done(isNew ? 201 : 204, {
      ...this.etags(key, bytes),
      'OC-FileId': this.#fileId(key, bytes),
      ...(mtime !== undefined && { 'X-OC-MTime': 'accepted' }),
      ...this.hashes(bytes, headers),
    })
  }

  #fileId(key: string, node: Node): string {
    return `${String(this.facts(key, node).id).padStart(8, '0')}${instance}`
  }

  etags(key: string, node: Node) {
    const etag = `"${this.facts(key, node).etag}"`
    return { ETag: etag, 'OC-ETag': etag }
  }

  hashes(bytes: Buffer, headers: IncomingHttpHeaders): Record<string, string> {
    if (this.isOld) return {}
    const asked = Object.entries(algorithms).filter(([name]) => ['all', name].includes(text(headers['x-hash']) ?? ''))
    return Object.fromEntries(asked.map(([name, header]) => [header, this.#hashNow(name, bytes)]))
  }

  #hashNow(algorithm: string, bytes: Buffer): string {
    return algorithm === 'sha256' && this.saysHash !== undefined ? this.saysHash : hashOf(algorithm, bytes)
  }

  #read(place: Place, name: string, headers: IncomingHttpHeaders, method: string): Answer {
    const node = this.demand(place, name)
    if (headers['if-none-match'] === '*') return { status: 304, headers: {} }
    if (node === 'folder') {
      const words = 'This is the WebDAV interface. It can only be accessed by WebDAV clients.'
      return { status: 200, headers: { 'Content-Type': 'text/html; charset=UTF-8' }, body: words }
    }
    const facts = this.facts(place.key, node)
    const range = rangeOf(text(headers['range']), node.length)
    const stamps = { ETag: `"${facts.etag}"`, 'Last-Modified': dateOf(facts.atMs) }
    if (range && range.from >= node.length)
      return {
        ...faultAnswer(faults.outOfRange(range.from, node.length), method),
        ...{ headers: { 'Content-Type': xmlType, ...stamps } },
      }
    const bytes = range ? node.subarray(range.from, range.to + 1) : node
    const file = nameOf(place.key)
    return {
      status: range ? 206 : 200,
      headers: {
        ...stamps,
        'OC-ETag': stamps.ETag,
        ...(facts.checksum !== undefined && { 'OC-Checksum': [facts.checksum, facts.checksum] }),
        'Content-Type': typeOf(place.key),
        ...(bytes.length > 0 && { 'Content-Length': String(bytes.length) }),
        ...(range && { 'Content-Range': `bytes ${range.from}-${range.to}/${node.length}` }),
        'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file)}; filename="${encodeURIComponent(file)}"`,
      },
      body: bytes,
    }
  }

  #hash(place: Place, name: string, headers: IncomingHttpHeaders): Answer {
    const node = this.demand(place, name)
    if (node === 'folder' || this.isOld) throw faults.noPlugin('PATCH')
    const algorithm = text(headers['x-recalculate-hash']) ?? ''
    if (!['md5', 'sha1', 'sha256', 'sha512'].includes(algorithm)) throw faults.noAlgorithm()
    const checksum = `${algorithm.toUpperCase()}:${this.#hashNow(algorithm, node)}`
    this.facts(place.key, node).checksum = checksum
    return done(204, { 'OC-Checksum': checksum })
  }

  #remove(place: Place, name: string): Answer {
    if (place.path === '') throw faults.forbidden('Permission denied to delete home folder')
    this.demand(place, name)
    this.#demandWritable(place, name)
    this.forget(place.key)
    return done(204)
  }

  /** Removes a file, or a folder with all in it. */
  forget(key: string): void {
    for (const path of [...this.files.keys()]) {
      if (!`${path}/`.startsWith(`${key}/`)) continue
      this.files.delete(path)
      this.#facts.delete(path)
    }
  }

  #rename(place: Place, request: DavRequest): Answer {
    const there = this.nodeAt(place)
    const to = this.destination(request, there !== undefined)
    const node = this.demand(place, request.path.split('/')[1] ?? '')
    this.#demandWritable(to, nameOf(to.path))
    demandName(nameOf(to.path))
    this.forget(place.key)
    if (node !== 'folder') return this.store(to, node, request.headers)
    this.files.set(to.key, node)
    return done(201)
  }

  /** Where a MOVE goes. Throws for preconditions, which are held against the source, and for a name that is taken. */
  destination({ user, headers }: DavRequest, isSourceThere: boolean): Place {
    demandPreconditions(headers, isSourceThere)
    const wanted = text(headers['destination'])
    if (wanted === undefined) throw faults.badRequest('The destination header was not supplied')
    const path = decoded(wanted.replace(/^https?:\/\/[^/]+/, ''))
    const overwrite = text(headers['overwrite']) ?? 'T'
    if (!['T', 'F'].includes(overwrite)) throw faults.badRequest('The HTTP Overwrite header should be either T or F')
    if (!path.startsWith('/remote.php/dav/'))
      throw faults.forbidden(`Requested uri (${path}) is out of base uri (/remote.php/dav/)`)
    const [, , , , name = '', ...segments] = path.split('/')
    const to = this.place(user, name, segments)
    if (this.nodeAt(this.parent(to)) !== 'folder') throw faults.conflict('The destination node is not found')
    if (overwrite === 'F' && this.nodeAt(to) !== undefined) throw faults.taken()
    return to
  }

  /** The same for the parts of a large file: its folder must be there. Undefined without a destination. */
  destinationOfPart({ user, headers }: DavRequest): Place | undefined {
    const wanted = text(headers['destination'])
    if (wanted === undefined) return undefined
    const [, , , , name = '', ...segments] = decoded(wanted.replace(/^https?:\/\/[^/]+/, '')).split('/')
    const to = this.place(user, name, segments)
    this.demand(this.parent(to), name)
    return to
  }
}

/** Chunked upload, second version: a folder, parts, and a MOVE of `.file`. It is always that of the account that asks. */
class Parts {
  readonly #dav: DavFiles
  readonly #request: DavRequest
  readonly #name: string
  readonly #id: string | undefined
  readonly #part: string
  readonly #folder: string

  constructor(
    dav: DavFiles,
    request: DavRequest,
    { name, id, part }: { name: string; id: string | undefined; part: string },
  ) {
    this.#dav = dav
    this.#request = request
    this.#name = name
    this.#id = id
    this.#part = part
    this.#folder = `${request.user}/${id}`
  }

  answer(): Answer {
    const { method, user } = this.#request
    const account = this.#dav.accountOf(this.#name)
    const isMaking = method === 'MKCOL' && this.#part === ''
    if (account === undefined)
      throw isMaking ? faults.conflict('Parent node does not exist') : this.#lost(faults.noPrincipal(this.#name))
    if (this.#id === undefined) return this.#listAll(account === user)
    if (isMaking) return this.#make()
    const isThere = this.#dav.uploads.has(this.#folder)
    if (method === 'MOVE') return this.#move(isThere)
    if (!isThere) throw this.#missing()
    switch (method) {
      case 'PROPFIND':
        return this.#list()
      case 'PUT':
        return this.#put()
      case 'MKCOL':
        throw faults.forbidden(`Permission denied to create file (filename ${this.#part})`)
      case 'DELETE':
        return this.#remove()
      case 'PATCH':
        throw faults.noPlugin(method)
      default:
        throw faults.notAllowed('Reading intermediate uploads is not allowed')
    }
  }

  #lost(fault: faults.DavFault): faults.DavFault {
    return this.#request.method === 'PROPFIND' ? withDav(fault) : fault
  }

  #missing(): faults.DavFault {
    return this.#lost(faults.notFound(`//${this.#id}`))
  }

  #listAll(isOwn: boolean): Answer {
    if (!isOwn || this.#request.headers['depth'] !== '0')
      throw withDav(faults.notAllowed('Listing members of this collection is disabled'))
    const href = `/remote.php/dav/${this.#request.path}/`
    return listAnswer(multistatus([{ href, properties: this.#folderProperties() }], askedOf(this.#request.body)))
  }

  #make(): Answer {
    if (this.#dav.uploads.has(this.#folder)) throw faults.notAllowed('The resource you tried to create already exists')
    this.#dav.uploads.set(this.#folder, 'folder')
    return done(201)
  }

  #parts(): [string, Buffer][] {
    return [...this.#dav.uploads]
      .flatMap(([key, bytes]): [string, Buffer][] =>
        key.startsWith(`${this.#folder}/`) && bytes !== 'folder' ? [[key.slice(this.#folder.length + 1), bytes]] : [],
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** The bytes of all parts, in the order of numbers. */
  #whole(): Buffer {
    const parts = this.#parts().sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    return Buffer.concat(parts.map(([, bytes]) => bytes))
  }

  #folderProperties(): Properties {
    return { 'd:getlastmodified': dateOf(this.#dav.now()), 'd:resourcetype': '<d:collection/>' }
  }

  #list(): Answer {
    const { path, body } = this.#request
    const base = `/remote.php/dav/${path}`
    const row = (name: string, size: number, etag: string): Listed => ({
      href: `${base}/${name}`,
      properties: {
        'd:getlastmodified': dateOf(this.#dav.now()),
        'd:getcontentlength': String(size),
        'd:resourcetype': '',
        'd:getetag': `"${etag}"`,
        'd:getcontenttype': 'application/octet-stream',
      },
    })
    const rows = [
      { href: `${base}/`, properties: this.#folderProperties() },
      row('.file', this.#whole().length, hashOf('md5', Buffer.from(path)).slice(0, 13)),
      ...this.#parts().map(([name, bytes]) => row(name, bytes.length, hashOf('md5', bytes))),
    ]
    return listAnswer(multistatus(rows, askedOf(body)))
  }

  #put(): Answer {
    const { headers, body } = this.#request
    if (this.#part === '.file') throw faults.forbidden('Permission denied to put into this file')
    const key = `${this.#folder}/${this.#part}`
    const there = this.#dav.uploads.get(key)
    demandPreconditions(headers, there !== undefined)
    const to = this.#dav.destinationOfPart(this.#request)
    const total = Number(headers['oc-total-length'] ?? 0)
    // When a part is sent again, its old bytes count as free.
    const isAgain = there !== undefined && there !== 'folder'
    if (to && total - (isAgain ? there.length : 0) > this.#dav.free(to))
      throw faults.noRoom(`Insufficient space in ${parentOf(to.path)}`)
    this.#dav.uploads.set(key, body)
    const hash = hashOf('md5', body)
    const etags = there === undefined ? {} : { ETag: `"${hash}"`, 'OC-ETag': `"${hash}"` }
    return done(there === undefined ? 201 : 204, { ...etags, ...this.#dav.hashes(body, headers) })
  }

  #remove(): Answer {
    const wanted = this.#part === '' ? this.#folder : `${this.#folder}/${this.#part}`
    for (const key of [...this.#dav.uploads.keys()]) {
      if (`${key}/`.startsWith(`${wanted}/`)) this.#dav.uploads.delete(key)
    }
    return done(204)
  }

  #move(isThere: boolean): Answer {
    const { headers } = this.#request
    const to = this.#dav.destination(this.#request, isThere)
    if (!isThere) throw this.#missing()
    const isWhole = this.#part === '.file'
    const bytes = isWhole ? this.#whole() : this.#dav.uploads.get(`${this.#folder}/${this.#part}`)
    if (bytes === undefined || bytes === 'folder') throw faults.notFound(`//${this.#id}/${this.#part}`)
    const total = text(headers['oc-total-length'])
    if (total !== undefined && total !== String(bytes.length))
      throw faults.badRequest(`Chunks on server do not sum up to ${total} but to ${bytes.length} bytes`)
    if (to.isForeign) throw faults.forbidden(`Permission denied to create file (filename ${nameOf(to.path)})`)
    if (this.#dav.nodeAt(to) === 'folder')
      throw faults.badRequest(`The given destination files/${this.#name}${to.path} is a directory.`)
    if (nameOf(to.path) === '.htaccess') throw faults.hiddenFile(to.path)
    if (to.share && !to.share.mayWrite) throw faults.forbidden()
    demandName(nameOf(to.path))
    if (bytes.length > this.#dav.free(to)) throw faults.noRoom(`Insufficient space in ${parentOf(to.path)}`)
    if (isWhole) this.#dropAll()
    else this.#dav.uploads.delete(`${this.#folder}/${this.#part}`)
    return this.#dav.store(to, bytes, headers)
  }

  #dropAll(): void {
    for (const key of [...this.#dav.uploads.keys()])
      if (`${key}/`.startsWith(`${this.#folder}/`)) this.#dav.uploads.delete(key)
  }
}

/** Checks them against the path that the request itself names: in a MOVE, against the source. */
function demandPreconditions(headers: IncomingHttpHeaders, isThere: boolean): void {
  const { 'if-match': match } = headers
  if (match !== undefined && !isThere) throw faults.unmatched(' and the resource did not exist')
  if (match !== undefined && match !== '*') throw faults.unmatched(', but none of the specified ETags matched.')
  if (headers['if-none-match'] === '*' && isThere) throw faults.matched()
}

function demandName(name: string): void {
  const type = name.match(/\.(part|filepart)$/)?.[0]
  if (type) throw faults.badPath(`"${type}" is a forbidden file type.`)
  if (name.includes('\\')) throw faults.badPath('"\\" is not allowed inside a file or folder name.')
  if (/[\0-\x1f]/.test(name)) throw faults.badPath('Filename contains at least one invalid character')
  if (Buffer.byteLength(name) > longestName) throw faults.badPath('Filename is too long')
}

function rangeOf(wanted: string | undefined, size: number): { from: number; to: number } | undefined {
  const [, from = '', to = ''] = wanted?.match(/^bytes=(\d*)-(\d*)$/) ?? []
  if (from === '' && to === '') return undefined
  if (from === '') return { from: Math.max(size - Number(to), 0), to: size - 1 }
  return { from: Number(from), to: to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}

/** Faults after which the header DAV is sent all the same: those of a PROPFIND that was read. */
const read = new WeakSet<faults.DavFault>()
function withDav(fault: faults.DavFault): faults.DavFault {
  read.add(fault)
  return fault
}

function faultAnswer(fault: faults.DavFault, method: string): Answer {
  const ofTaken = fault.text?.includes('none of the specified ETags')
    ? { ETag: `"${hashOf('md5', Buffer.from(method))}"` }
    : {}
  const headers = {
    ...(fault.status === 405 && { Allow: allowed }),
    ...(read.has(fault) && { DAV: davHeader }),
    ...ofTaken,
    'Content-Type': xmlType,
  }
  return { status: fault.status, headers, body: fault.xml, isEarly: fault.isEarly }
}

const done = (status: number, headers: DavHeaders = {}): Answer => ({
  status,
  headers: { ...headers, 'Content-Type': 'text/html; charset=UTF-8', 'Content-Length': '0' },
})
const listAnswer = (body: string): Answer => ({
  status: 207,
  headers: { DAV: davHeader, 'Content-Type': xmlType },
  body,
})
const optionsAnswer: Answer = {
  status: 200,
  headers: {
    ...{ DAV: davHeader, Allow: allowed, 'MS-Author-Via': 'DAV', 'Accept-Ranges': 'bytes' },
    ...{ 'Content-Type': 'text/html; charset=UTF-8', 'Content-Length': '0' },
  },
}

const typeOf = (key: string): string => types[key.match(/\.(\w+)$/)?.[1] ?? ''] ?? 'application/octet-stream'
const dateOf = (atMs: number): string => new Date(atMs).toUTCString()
const text = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

/** Bytes that are no UTF-8 are taken as Latin-1. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}
