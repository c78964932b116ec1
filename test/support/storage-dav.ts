import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What of a response the files need; a lost answer is one that goes nowhere. */
export type DavResponse = {
  writeHead(status: number, headers?: Record<string, string>): { end(body?: string | Buffer): unknown }
}

export type DavRequest = {
  readonly method: string
  /** Below /remote.php/dav, decoded, without a final slash: `files/otto/a.mp4`, `uploads/otto/ID/00001`. */
  readonly path: string
  readonly user: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** The files of a Nextcloud as it was seen to answer, with its traps. */
export class DavFiles {
  /** Files and folders by their path below /remote.php/dav/files. */
  readonly files = new Map<string, Buffer | 'folder'>()
  /** Pieces of large files by `USER/ID/NAME`, and the folders `USER/ID`. */
  readonly uploads = new Map<string, Buffer | 'folder'>()
  /** Room for all files together. */
  quotaBytes = Number.POSITIVE_INFINITY
  /** Says of every file that it has this hash. */
  saysHash: string | undefined
  /** An older server: it computes no hashes. */
  isOld = false
  /** Paths that somebody is writing. */
  readonly locked = new Set<string>()

  answer(request: DavRequest, response: DavResponse): unknown {
    const [, area, own] = request.path.match(/^(files|uploads)\/(.+)$/) ?? []
    const status = (code: number) => response.writeHead(code).end()
    if (own === undefined || !`${own}/`.startsWith(`${request.user}/`)) return status(404)
    return area === 'files' ? this.#file(request, own, response) : this.#upload(request, own, response)
  }

  #file(request: DavRequest, file: string, response: DavResponse): unknown {
    const { method, headers, body } = request
    const there = this.files.get(file)
    const say = (status: number, extra: Record<string, string> = {}) => response.writeHead(status, extra).end()
    if (this.locked.has(file)) return say(423)
    if (method === 'PROPFIND') {
      if (file.includes('/') && there === undefined) return say(404)
      return multistatus(response, file, headers['depth'] === '1' ? this.#inside(file) : [])
    }
    if (method === 'DELETE') {
      if (there === undefined) return say(404)
      for (const path of [...this.files.keys()]) if (`${path}/`.startsWith(`${file}/`)) this.files.delete(path)
      return say(204)
    }
    if (method === 'MKCOL') {
      if (there !== undefined || !file.includes('/')) return say(405)
      if (!this.#hasParent(file)) return say(409)
      this.files.set(file, 'folder')
      return say(201)
    }
    if (method === 'HEAD' || method === 'GET') {
      if (!Buffer.isBuffer(there)) return say(404)
      return response.writeHead(200, { 'Content-Length': String(there.length) }).end(there)
    }
    if (method === 'PATCH') {
      if (!Buffer.isBuffer(there)) return say(404)
      if (this.isOld || headers['x-recalculate-hash'] !== 'sha256') return say(400)
      return say(204, { 'OC-Checksum': `SHA256:${this.saysHash ?? sha256(there)}` })
    }
    if (method !== 'PUT') return say(405)
    if (!this.#hasParent(file) && headers['x-nc-webdav-auto-mkcol'] !== '1') return say(409)
    // The trap: what comes without a length is stored as nothing at all.
    return this.#keep(file, headers['transfer-encoding'] === 'chunked' ? Buffer.alloc(0) : body, headers, response)
  }

  #keep(file: string, bytes: Buffer, headers: IncomingHttpHeaders, response: DavResponse): unknown {
    const say = (status: number, extra: Record<string, string> = {}) => response.writeHead(status, extra).end()
    const there = this.files.get(file)
    if (/(^|\/)\.htaccess$/.test(file)) return say(500)
    if (file.split('/').some((name) => name.length > 250)) return say(400)
    if (there !== undefined && headers['if-none-match'] === '*') return say(412)
    if (this.#used() + bytes.length > this.quotaBytes) return say(507)
    const parent = file.slice(0, file.lastIndexOf('/'))
    for (let folder = parent; folder.includes('/'); folder = folder.slice(0, folder.lastIndexOf('/')))
      this.files.set(folder, 'folder')
    this.files.set(file, bytes)
    const hash = this.saysHash ?? sha256(bytes)
    return say(there === undefined ? 201 : 204, {
      'OC-ETag': `"${hash.slice(0, 32)}"`,
      'OC-FileId': String(this.files.size),
      // Echoed as if it were true, and not compared with anything.
      ...(typeof headers['oc-checksum'] === 'string' && { 'OC-Checksum': headers['oc-checksum'] }),
      ...(headers['x-hash'] === 'sha256' && !this.isOld && { 'X-Hash-SHA256': hash }),
    })
  }

  /** Chunked upload, second version: a folder, pieces, and a MOVE of `.file`. */
  #upload({ method, headers, body }: DavRequest, path: string, response: DavResponse): unknown {
    const say = (status: number) => response.writeHead(status).end()
    const [user = '', id = '', name] = path.split('/')
    const folder = `${user}/${id}`
    if (method === 'MKCOL') {
      if (this.uploads.has(folder)) return say(405)
      this.uploads.set(folder, 'folder')
      return say(201)
    }
    if (!this.uploads.has(folder)) return say(404)
    const total = Number(headers['oc-total-length'])
    if (method === 'PROPFIND') return multistatus(response, `../uploads/${folder}`, this.#pieces(folder))
    if (method === 'PUT') {
      if (this.#used() + (total || 0) > this.quotaBytes) return say(507)
      this.uploads.set(path, body)
      return say(201)
    }
    if (method !== 'MOVE' || name !== '.file') return say(405)
    const whole = Buffer.concat(this.#pieces(folder).map(([, bytes]) => bytes))
    if (headers['oc-total-length'] !== undefined && total !== whole.length) return say(400)
    const file = targetOf(headers)
    if (!this.#hasParent(file)) return say(409)
    if (this.files.has(file) && (headers.overwrite === 'F' || headers['if-none-match'] === '*')) return say(412)
    for (const [key] of this.#pieces(folder)) this.uploads.delete(`${folder}/${key}`)
    this.uploads.delete(folder)
    return this.#keep(file, whole, headers, response)
  }

  #inside(folder: string): [string, Buffer | 'folder'][] {
    const below = [...this.files].filter(([path]) => path.startsWith(`${folder}/`))
    return below.flatMap(([path, bytes]): [string, Buffer | 'folder'][] => {
      const name = path.slice(folder.length + 1)
      return name.includes('/') ? [] : [[name, bytes]]
    })
  }

  #pieces(folder: string): [string, Buffer][] {
    return [...this.uploads]
      .flatMap(([key, bytes]): [string, Buffer][] =>
        key.startsWith(`${folder}/`) && Buffer.isBuffer(bytes) ? [[key.slice(folder.length + 1), bytes]] : [],
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #hasParent(file: string): boolean {
    const parent = file.slice(0, file.lastIndexOf('/'))
    return !parent.includes('/') || this.files.get(parent) === 'folder'
  }

  #used(): number {
    return [...this.files.values()].reduce((sum, bytes) => sum + (Buffer.isBuffer(bytes) ? bytes.length : 0), 0)
  }
}

function targetOf({ destination = '' }: IncomingHttpHeaders): string {
  return decodeURIComponent(new URL(String(destination)).pathname.replace('/remote.php/dav/files/', ''))
}

function multistatus(response: DavResponse, path: string, pieces: readonly [string, Buffer | 'folder'][]): unknown {
  const entry = (href: string, size: string) =>
    `<d:response><d:href>/remote.php/dav/files/${href}</d:href><d:propstat><d:prop>${size}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
  const rows = [
    entry(`${path}/`, '<d:resourcetype><d:collection/></d:resourcetype>'),
    ...pieces.map(([name, bytes]) =>
      bytes === 'folder'
        ? entry(`${path}/${name}/`, '<d:resourcetype><d:collection/></d:resourcetype>')
        : entry(`${path}/${name}`, `<d:getcontentlength>${bytes.length}</d:getcontentlength><d:resourcetype/>`),
    ),
  ]
  return response
    .writeHead(207, { 'Content-Type': 'application/xml; charset=utf-8' })
    .end(`<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${rows.join('')}</d:multistatus>`)
}
