import { readFile } from 'node:fs/promises'
import { type AssetName, assetPath, makeAsset } from '../platform/bundle.ts'

export type ConsoleFile = {
  /** Content-Type. */
  readonly type: string
  /** Its name holds a hash of its content. */
  readonly immutable: boolean
  readonly text: string
  /** It runs in a worker, under a separate content security policy. */
  readonly isWorker?: true
  /** The path of a file that holds its content, packed with gzip; `text` is empty then. */
  readonly packed?: string
}

type Built = Omit<ConsoleFile, 'packed'> & { readonly packed?: AssetName }

let reading: Promise<ReadonlyMap<string, ConsoleFile>> | undefined

/**
 * Returns the page and its files by name (`index.html`, `assets/main-HASH.js`), read at the first request and kept. In
 * the source tree they are built first when the sources are newer. Rejects when that fails; the next request tries
 * again.
 */
export function consoleFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  reading ??= read().catch((error: unknown) => {
    reading = undefined
    throw error
  })
  return reading
}

async function read(): Promise<ReadonlyMap<string, ConsoleFile>> {
  await makeAsset('console.json')
  const files = JSON.parse(await readFile(assetPath('console.json'), 'utf8')) as Record<string, Built>
  return new Map(
    Object.entries(files).map(([name, { packed, ...file }]) => [
      name,
      packed === undefined ? file : { ...file, packed: assetPath(packed) },
    ]),
  )
}
