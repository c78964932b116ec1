import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { badRequest, escaped } from './storage-faults.ts'

/** The properties of one file or folder: XML by name with its prefix; one that it does not have is not there. */
export type Properties = Readonly<Record<string, string>>
export type Listed = { readonly href: string; readonly properties: Properties }

const prefixes: Readonly<Record<string, string>> = {
  'DAV:': 'd',
  'http://owncloud.org/ns': 'oc',
  'http://nextcloud.org/ns': 'nc',
}

/** Names that a PROPFIND asks for, with the server's prefixes; undefined: those that are usual. Throws a DavFault. */
export function askedOf(body: Buffer): string[] | undefined {
  if (body.length === 0) return undefined
  const root = rootOf(body.toString('utf8'))
  const spaces = Object.entries(root?.attributes ?? {}).flatMap(([name, uri]) => {
    const [, , prefix = ''] = name.match(/^xmlns(:(.+))?$/) ?? []
    return name.startsWith('xmlns') ? [[prefix, prefixes[uri] ?? uri] as const] : []
  })
  const short = (name: string) => {
    const [, , prefix = '', own = ''] = name.match(/^((.+):)?(.+)$/) ?? []
    return `${new Map(spaces).get(prefix) ?? prefix}:${own}`
  }
  const prop = (root ? elements(root) : []).find(({ name }) => short(name) === 'd:prop')
  return prop && elements(prop).map(({ name }) => short(name))
}

function rootOf(xml: string): XmlElement | null {
  try {
    return parseXml(xml).root
  } catch {
    throw badRequest('StartTag: invalid element name\n on line 1, column 2')
  }
}

const elements = (of: XmlElement): XmlElement[] => of.children.filter((child) => child instanceof XmlElement)

/** The answer to a PROPFIND. */
export function multistatus(rows: readonly Listed[], asked: readonly string[] | undefined): string {
  const spaces =
    'xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'
  return `<?xml version="1.0"?><d:multistatus ${spaces}>${rows.map((row) => responseOf(row, asked)).join('')}</d:multistatus>`
}

function responseOf({ href, properties }: Listed, asked: readonly string[] | undefined): string {
  const has = (name: string) => properties[name] !== undefined
  const names = asked ?? usual.filter(has)
  const found = names.filter(has)
  const missing = names.filter((name) => !has(name))
  const block = (status: string, inner: string) =>
    inner === '' ? '' : `<d:propstat><d:prop>${inner}</d:prop><d:status>HTTP/1.1 ${status}</d:status></d:propstat>`
  const value = (name: string) => `<${name}>${properties[name]}</${name}>`
  return `<d:response><d:href>${escaped(href)}</d:href>${block('200 OK', found.map(value).join(''))}${block(
    '404 Not Found',
    missing.map((name) => `<${name}/>`).join(''),
  )}</d:response>`
}

/** Without a body in the request. */
const usual = [
  'd:getlastmodified',
  'd:getcontentlength',
  'd:resourcetype',
  'd:quota-used-bytes',
  'd:quota-available-bytes',
  'd:getetag',
  'd:getcontenttype',
]

/** A path as it is in a list: bytes that are no letters in lower case. */
export const listedPath = (path: string): string =>
  [...Buffer.from(path)]
    .map((byte) =>
      /[\w.~()@/-]/.test(String.fromCharCode(byte)) && byte < 128
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, '0')}`,
    )
    .join('')
