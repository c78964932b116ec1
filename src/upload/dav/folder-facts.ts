import { bodyOfBytes } from '../local-file.ts'
import type { DavRequest } from './dav.ts'
import { propertyIn } from './multistatus.ts'

/** Which folder it is on the server: renamed, it keeps its number; withdrawn from the account, another one has its name. */
export type FolderId = { readonly fileId: string; readonly ownerId: string }

/** The folder in which everything is stored, as the first upload found it. */
export type FolderBook = {
  readonly first: () => FolderId | undefined
  readonly remember: (id: FolderId) => Promise<void>
}

const wanted = Buffer.from(
  '<?xml version="1.0"?><d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop>' +
    '<d:quota-available-bytes/><oc:fileid/><oc:owner-id/></d:prop></d:propfind>',
)

/** Asks for the facts of a folder: whose it is (a Nextcloud), and how much room it has (RFC 4331). */
export const folderFactsRequest = (url: string): DavRequest => ({
  ...{ method: 'PROPFIND', url, headers: { depth: '0', 'content-type': 'application/xml' } },
  body: bodyOfBytes(wanted),
})

/** Returns which folder it is; undefined where the server does not say. */
export function folderIdIn(body: string): FolderId | undefined {
  const [fileId, ownerId] = [propertyIn(body, 'fileid'), propertyIn(body, 'owner-id')]
  return fileId === undefined || ownerId === undefined ? undefined : { fileId, ownerId }
}

/** Returns the bytes that are free; null where the server does not say. A Nextcloud without a limit says -3. */
export function freeBytesIn(body: string): number | null {
  const text = propertyIn(body, 'quota-available-bytes')
  if (text === undefined || !/^-?\d+$/.test(text)) return null
  if (text === '-3') return Number.POSITIVE_INFINITY
  return Number(text) < 0 ? null : Number(text)
}
