import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import yauzl from 'yauzl'
import yazl from 'yazl'
import { ExitError } from '../../errors/index.ts'
import { assetPath } from '../../platform/bundle.ts'
import { errorMessage } from '../../platform/faults.ts'
import { type HashedFile, largestBundleBytes } from '../../proof/index.ts'
import type { Proof } from './proofs.ts'

const mostEntries = 10_000
const pieceBytes = 1024 * 1024

/** Returns the script that checks a bundle with openssl and jq. */
export function recipe(): string {
  return readFileSync(assetPath('recipe.sh'), 'utf8')
}

/**
 * Returns a zip of a proof as a stream. It has the bundle as `NAME.proof.json`, its files that are on this box, the recipe, and a
 * README.txt with the steps of a check.
 */
export function packProof({ bundle, files }: Proof, name: string): Readable {
  const zip = new yazl.ZipFile()
  const bundleName = `${name}.proof.json`
  zip.addBuffer(Buffer.from(`${JSON.stringify(bundle, undefined, 2)}\n`), bundleName)
  zip.addBuffer(Buffer.from(readme(bundleName)), 'README.txt')
  zip.addBuffer(Buffer.from(recipe()), 'recipe.sh')
  for (const { path, name: file } of files) {
    // Video and pictures are compressed already.
    if (path !== null) zip.addReadStreamLazy(file, { compress: false }, (take) => take(null, createReadStream(path)))
  }
  zip.on('error', (error) => zip.outputStream.emit('error', error))
  zip.end()
  return Readable.from(zip.outputStream)
}

function readme(bundleName: string): string {
  return `This package proves one row of the ledger of a gatehouse gateway.

${bundleName} holds the row as it was recorded (the leaf), the path from it to the root of the log, and the root with the
signatures of the gateway and of its witnesses. Photos and clips lie beside it.

Check it on any Linux with base64, sha256sum, xxd, openssl and jq:

    sh recipe.sh ${bundleName}

recipe.sh is the script below. Compare the key that it prints at the end with the one that you know from elsewhere: from an
earlier checkpoint, from a webhook, or from the operator's "gatehouse ledger key".

With gatehouse: gatehouse ledger verify FILE

${recipe()}`
}

/** A proof bundle that was read from a file, with the files beside it. */
export type ReadProof = {
  readonly name: string
  readonly text: string
  readonly file: (name: string) => HashedFile | undefined
}

/**
 * Reads the proof bundles of a file: a `.proof.json` with files beside it, or a zip with any number of them. Files are hashed
 * piece by piece and never kept in memory. Throws ExitError when there is none, or it cannot be read.
 */
export async function readProofs(path: string): Promise<readonly ReadProof[]> {
  try {
    if (isZip(path)) return await readZip(path)
    if (statSync(path).size > largestBundleBytes) throw new ExitError(1, `${path} is larger than a proof bundle can be`)
    const file = (name: string) => hashedFile(join(dirname(path), basename(name)))
    return [{ name: basename(path), text: readFileSync(path, 'utf8'), file }]
  } catch (error) {
    if (error instanceof ExitError) throw error
    throw new ExitError(1, `${path} cannot be read: ${errorMessage(error)}`)
  }
}

function isZip(path: string): boolean {
  const fd = openSync(path, 'r')
  try {
    const start = Buffer.alloc(4)
    readSync(fd, start)
    return start.equals(Buffer.from('PK\x03\x04', 'latin1'))
  } finally {
    closeSync(fd)
  }
}

function hashedFile(path: string): HashedFile | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
  const fd = openSync(path, 'r')
  try {
    const hash = createHash('sha256')
    const piece = Buffer.alloc(pieceBytes)
    let sizeBytes = 0
    for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece)) {
      hash.update(piece.subarray(0, read))
      sizeBytes += read
    }
    return { sha256: hash.digest('hex'), sizeBytes }
  } finally {
    closeSync(fd)
  }
}

async function readZip(path: string): Promise<ReadProof[]> {
  const files = new Map<string, HashedFile>()
  const bundles = new Map<string, string>()
  let entries = 0
  const zip = await yauzl.openPromise(path)
  for await (const entry of zip.eachEntry()) {
    entries += 1
    if (entries > mostEntries) throw new ExitError(1, `${path} has more than ${mostEntries} files`)
    const stream = await zip.openReadStreamPromise(entry)
    if (entry.fileName.endsWith('.proof.json')) {
      if (entry.uncompressedSize > largestBundleBytes) {
        throw new ExitError(1, `${entry.fileName} in ${path} is larger than a proof bundle can be`)
      }
      bundles.set(entry.fileName, (await buffer(stream)).toString('utf8'))
    } else files.set(entry.fileName, await hashedStream(stream))
  }
  if (bundles.size === 0)
    throw new ExitError(1, `${path} holds no proof bundle (a file whose name ends with .proof.json)`)
  return [...bundles].map(([name, text]) => ({
    name,
    text,
    file: (beside) => files.get(posix.join(posix.dirname(name), beside)),
  }))
}

async function hashedStream(stream: Readable): Promise<HashedFile> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    hash.update(piece)
    sizeBytes += piece.length
  }
  return { sha256: hash.digest('hex'), sizeBytes }
}
