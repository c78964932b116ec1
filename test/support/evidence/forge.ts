/** Makes proof bundles of small logs with fresh keys, and every forgery of them that a checker must refuse. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type Bundle, canonical, type MediaItem, type Opening, type Step } from './bundle.ts'
import { formatTlogProof } from './checkpoint.ts'
import { type NaiveTree, naiveTree, sha256 } from './merkle.ts'
import { formatVkey, keyId, type SignatureType, subtreeMessage, timedMessage, uint64 } from './note.ts'
import { tilePath, tilesOf } from './tiles.ts'

export type Signer = {
  readonly name: string
  readonly type: SignatureType
  readonly vkey: string
  /** Returns the signature line for a note's text. Types 4 and 6 state the time. */
  line(text: string, atSeconds?: bigint): string
}

/** The time that a line states unless another one is given: 2 March 2026, 08:05 UTC. */
const usualTime = 1_772_438_700n

/** Makes a key with a name. Type 1 and 4 are Ed25519, 6 is ML-DSA-44. */
export function newSigner(name: string, type: SignatureType): Signer {
  const pair = type === 6 ? generateKeyPairSync('ml-dsa-44') : generateKeyPairSync('ed25519')
  return signerOf(name, type, pair)
}

function signerOf(
  name: string,
  type: SignatureType,
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
): Signer {
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(type === 6 ? -1312 : -32)
  const line = (text: string, atSeconds = usualTime) => {
    const signature =
      type === 1
        ? [sign(null, Buffer.from(text), privateKey)]
        : [uint64(atSeconds), sign(null, messageOf(type, name, text, atSeconds), privateKey)]
    return signatureLine(name, Buffer.concat([Buffer.from(keyId(name, type, key), 'hex'), ...signature]))
  }
  return { name, type, vkey: formatVkey({ name, type, key }), line }
}

const messageOf = (type: 4 | 6, name: string, text: string, atSeconds: bigint): Buffer =>
  type === 4 ? timedMessage(text, atSeconds) : subtreeMessage(name, text, atSeconds)

const signatureLine = (name: string, bytes: Uint8Array): string =>
  `— ${name} ${Buffer.from(bytes).toString('base64')}\n`

export const checkpointText = (origin: string, size: number, root: Uint8Array): string =>
  `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`

/** Returns the signed note of a text. */
export const noteOf = (text: string, signers: readonly Signer[]): string =>
  `${text}\n${signers.map((signer) => signer.line(text)).join('')}`

export type TestLog = {
  readonly siteId: string
  readonly logId: string
  readonly origin: string
  readonly leaves: readonly Buffer[]
  readonly tree: NaiveTree
  /** The log's Ed25519 and ML-DSA-44 keys. */
  readonly signers: readonly [Signer, Signer]
  /** The signed checkpoint of the first `size` leaves. */
  checkpoint(size?: number, witnesses?: readonly Signer[]): string
  /** Returns the resource of the log below its prefix; undefined for a missing one. */
  serve(path: string): Promise<Buffer | undefined>
}

export type LogOptions = {
  readonly siteId?: string
  readonly logId?: string
  readonly size?: number
  /** Facts of single leaves by their index. */
  readonly facts?: Readonly<Record<number, Record<string, unknown>>>
  /** Takes these leaves instead of making them. */
  readonly leaves?: readonly Buffer[]
}

/** Makes a log with fresh keys; its leaves are placements. */
export function testLog(options: LogOptions = {}): TestLog {
  const { siteId = 'dc-7', logId = '0190a5c4-3c00-7000-8000-000000000001', size = 57, facts = {} } = options
  const origin = `gatehouse/${siteId}/${logId}`
  const makeLeaf = (index: number) => Buffer.from(canonical({ ...placement(index, siteId, logId), ...facts[index] }))
  const leaves = options.leaves ?? Array.from({ length: size }, (_, index) => makeLeaf(index))
  const tree = naiveTree(leaves)
  const signers = [newSigner(origin, 1), newSigner(origin, 6)] as const
  const checkpoint = (of = tree.size, witnesses: readonly Signer[] = []) =>
    noteOf(checkpointText(origin, of, tree.root(of)), [...signers, ...witnesses])
  const served = new Map<string, () => Buffer>()
  serveLog(served, leaves, () => checkpoint())
  return {
    siteId,
    logId,
    origin,
    leaves,
    tree,
    signers,
    checkpoint,
    serve: async (path) => served.get(path)?.(),
  }
}

const placement = (index: number, siteId: string, logId: string) => ({
  v: 2,
  kind: 'placement',
  siteId,
  logId,
  seq: index + 1,
  eventId: `0190a5c4-3c01-7000-8000-${String(index).padStart(12, '0')}`,
  eventType: 'PLACED',
  slotCode: `Halle Süd ${index % 90}`,
  assetBarcode: `P-${index}`,
  timestamp: '2026-03-02T08:00:00.000Z',
  warnings: [],
})

/** Lays the leaves out as tlog-tiles says, from the definition of a tile's hashes. */
function serveLog(served: Map<string, () => Buffer>, leaves: readonly Buffer[], checkpoint: () => string): void {
  served.set('checkpoint', () => Buffer.from(checkpoint()))
  for (let level = 0; 256 ** level <= leaves.length; level++)
    for (const { n, width } of tilesOf(level, leaves.length)) {
      const of = (i: number) => leaves.slice((n * 256 + i) * 256 ** level, (n * 256 + i + 1) * 256 ** level)
      const hashes = () => Buffer.concat(Array.from({ length: width }, (_, i) => naiveTree(of(i)).root()))
      served.set(tilePath(level, n, width), hashes)
      if (level === 0)
        served.set(tilePath('entries', n, width), () => entryBundle(leaves.slice(n * 256, n * 256 + width)))
    }
}

const entryBundle = (entries: readonly Buffer[]): Buffer =>
  Buffer.concat(entries.flatMap((entry) => [Buffer.of(entry.length >> 8, entry.length & 255), entry]))

export type BundleParts = {
  readonly log: TestLog
  readonly index: number
  /** Size of the tree that the proof is of; all leaves by default. */
  readonly size?: number
  readonly witnesses?: readonly Signer[]
  readonly openings?: Opening[]
  readonly media?: MediaItem[]
  readonly anchors?: Bundle['anchors']
}

/** Makes the bundle of one leaf. */
export function makeBundle({ log, index, size = log.tree.size, witnesses = [], ...rest }: BundleParts): Bundle {
  const { openings = [], media = [], anchors = [] } = rest
  const note = log.checkpoint(size, witnesses)
  return {
    format: 'gatehouse-proof/1',
    leaf: (log.leaves[index] ?? Buffer.alloc(0)).toString('base64'),
    tlogProof: formatTlogProof({ index, path: log.tree.path(index, size), note }),
    keys: [...log.signers, ...witnesses].map(({ vkey }) => vkey),
    openings,
    media,
    anchors,
  }
}

/** Returns the commitment of a text under a salt, as a leaf holds it. */
export const commitmentOf = (salt: Uint8Array, text: string): string => sha256(salt, Buffer.from(text)).toString('hex')

export type GoodBundle = {
  readonly bundle: Bundle
  readonly log: TestLog
  readonly witnesses: readonly Signer[]
  /** The log's keys as a reader knows them from elsewhere. */
  readonly keys: readonly string[]
  readonly media: Readonly<Record<string, Buffer>>
}

const photo = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 10, 13, ...Buffer.from('a photo with € and \0 in it')])
/** Texts that careless programs change: several lines, a blank at both ends, an umlaut, a byte order mark, a backslash. */
const texts = {
  operator: 'dana@https://cloud.example.com',
  actor: 'dana@https://cloud.example.com',
  verificationNotes: '  Ecke eingedrückt\n\n\ttwo lines 👍 \\n %s $(id) `id`\ufeff \n',
}

/**
 * Makes a good bundle with everything in it: openings, a photo, two witnesses (one of each type).
 *
 * @param size leaves of the log
 * @param index of the leaf that is proven
 */
export function goodBundle({ size = 57, index = 41 }: { size?: number; index?: number } = {}): GoodBundle {
  const opened = Object.entries(texts).map(([field, text], i): Opening => {
    const salt = sha256(Buffer.from(`salt ${i}`))
    return { field, commitment: commitmentOf(salt, text), salt: salt.toString('base64'), text }
  })
  const commitments = Object.fromEntries(opened.map(({ field, commitment }) => [field, commitment]))
  const hash = sha256(photo).toString('hex')
  const log = testLog({ size, facts: { [index]: { ...commitments, photoEvidence: 'held', photoSha256: hash } } })
  const witnesses = [newSigner('witness.example/w1', 4), newSigner('hub.example/w2', 6)]
  const item = { sha256: hash, kind: 'photo', contentType: 'image/jpeg', sizeBytes: photo.length, name: 'photo.jpg' }
  const bundle = makeBundle({ log, index, witnesses, openings: opened, media: [item] })
  return { bundle, log, witnesses, keys: log.signers.map(({ vkey }) => vkey), media: { 'photo.jpg': photo } }
}

export type Forgery = {
  /** The forgery, as a sentence. */
  readonly name: string
  /** The step that must fail, first. */
  readonly step: Step
  /** The bytes of the file. */
  readonly file: string | Buffer
  /** Keys that the reader must bring to see it; without them it looks good. */
  readonly keys?: readonly string[]
  /** Media files as the reader has them; those of the good bundle by default. */
  readonly media?: Readonly<Record<string, Buffer>>
  /** True when it takes ML-DSA to see it, which OpenSSL has from 3.5 on. */
  readonly needsMlDsa?: boolean
}

/** Returns every forgery of a good bundle, each with the step that gives it away. */
export function forgeries(good: GoodBundle): Forgery[] {
  return [
    ...forgedLeaves(good),
    ...forgedProofs(good),
    ...forgedSignatures(good),
    ...forgedParts(good),
    ...forgedFiles(good),
    ...forgedEncodings(good),
  ]
}

const json = (bundle: unknown): string => `${JSON.stringify(bundle, null, 2)}\n`

/** Changes the proof's text; everything else stays. */
const withProof = ({ bundle }: GoodBundle, change: (text: string) => string): string =>
  json({ ...bundle, tlogProof: change(bundle.tlogProof) })

const indexOf = (tlogProof: string): number => Number(tlogProof.match(/^index (\d+)$/m)?.[1])

const pathOf = (tlogProof: string): string[] => tlogProof.slice(0, tlogProof.indexOf('\n\n')).split('\n').slice(2)

const withPath = (good: GoodBundle, change: (path: string[]) => string[]): string =>
  withProof(good, (text) => {
    const [title, index] = text.split('\n')
    return `${[title, index, ...change(pathOf(text))].join('\n')}${text.slice(text.indexOf('\n\n'))}`
  })

/** Changes the checkpoint's note; index and path stay. */
const withNote = (good: GoodBundle, change: (note: string) => string): string =>
  withProof(good, (text) => {
    const end = text.indexOf('\n\n') + 2
    return text.slice(0, end) + change(text.slice(end))
  })

/** Makes the same bundle again from a log with another leaf at its place, signed by the log's own keys. */
function withSignedLeaf({ bundle, log, witnesses }: GoodBundle, leaf: Buffer): string {
  const index = indexOf(bundle.tlogProof)
  const tree = naiveTree(log.leaves.with(index, leaf))
  const note = noteOf(checkpointText(log.origin, tree.size, tree.root()), [...log.signers, ...witnesses])
  const tlogProof = formatTlogProof({ index, path: tree.path(index), note })
  return json({ ...bundle, leaf: leaf.toString('base64'), tlogProof })
}

function forgedLeaves(good: GoodBundle): Forgery[] {
  const { bundle, log } = good
  const leaf = Buffer.from(bundle.leaf, 'base64')
  const index = indexOf(bundle.tlogProof)
  const value = JSON.parse(leaf.toString())
  const edited = (change: Record<string, unknown>) => Buffer.from(canonical({ ...value, ...change }))
  const withLeaf = (bytes: Buffer) => json({ ...bundle, leaf: bytes.toString('base64') })
  const otherLog = '0190a5c4-3c00-7000-8000-00000000000b'
  const neighbor = log.leaves[index === 0 ? 1 : index - 1]
  return [
    ...(neighbor
      ? [{ name: 'the leaf is another one of the log', step: 'path', file: withLeaf(neighbor) } as const]
      : []),
    { name: 'the leaf names another pallet', step: 'root', file: withLeaf(edited({ assetBarcode: 'P-forged' })) },
    {
      name: 'the leaf names another time',
      step: 'root',
      file: withLeaf(edited({ timestamp: '2026-03-02T09:00:00.000Z' })),
    },
    { name: 'one bit of the leaf is turned', step: 'root', file: withLeaf(edited({ slotCode: 'Halle Süe 1' })) },
    { name: 'the leaf is cut', step: 'leaf', file: withLeaf(leaf.subarray(0, -9)) },
    { name: 'the leaf is empty', step: 'leaf', file: withLeaf(Buffer.alloc(0)) },
    { name: 'the leaf is of another log', step: 'leaf', file: withSignedLeaf(good, edited({ logId: otherLog })) },
    { name: 'the leaf is of another site', step: 'leaf', file: withSignedLeaf(good, edited({ siteId: 'dc-8' })) },
    { name: 'the leaf has another number', step: 'path', file: withSignedLeaf(good, edited({ seq: index + 2 })) },
    {
      name: 'the leaf is larger than a leaf can be',
      step: 'leaf',
      file: withSignedLeaf(good, edited({ assetBarcode: 'P'.repeat(66_000) })),
    },
    {
      name: 'the leaf is signed and not JSON',
      step: 'leaf',
      file: withSignedLeaf(good, Buffer.from('\xff\0leaf', 'latin1')),
    },
    { name: 'the bundle is of another log', step: 'leaf', file: ofAnotherLog(good, otherLog) },
  ]
}

/** The leaf, truly contained in another log with its own keys. */
function ofAnotherLog({ bundle, log }: GoodBundle, logId: string): string {
  const other = testLog({ logId, leaves: log.leaves })
  const { tlogProof, keys } = makeBundle({ log: other, index: indexOf(bundle.tlogProof) })
  return json({ ...bundle, tlogProof, keys })
}

function forgedProofs(good: GoodBundle): Forgery[] {
  const { bundle, log, witnesses } = good
  const index = indexOf(bundle.tlogProof)
  const { size } = log.tree
  const all = [...log.signers, ...witnesses]
  const otherTree = naiveTree(log.leaves.map((leaf) => Buffer.concat([leaf, Buffer.from(' ')])))
  const wrongRoot = noteOf(checkpointText(log.origin, size, otherTree.root()), all)
  const otherIndex = index === 0 ? 1 : index - 1
  const stray = sha256(Buffer.from('stray')).toString('base64')
  const forged: Forgery[] = [
    {
      name: 'the proof is for another index',
      step: 'path',
      file: withProof(good, (text) => text.replace(/^index .*$/m, `index ${otherIndex}`)),
    },
    {
      name: 'the index is behind the end of the log',
      step: 'path',
      file: withProof(good, (text) => text.replace(/^index .*$/m, `index ${size}`)),
    },
    { name: 'the path has one hash more', step: 'path', file: withPath(good, (path) => [...path, stray]) },
    { name: 'the root is of another tree', step: 'root', file: withNote(good, () => wrongRoot) },
  ]
  if (size > 1)
    forged.push(
      { name: 'the path has one hash less', step: 'path', file: withPath(good, (path) => path.slice(1)) },
      {
        name: 'a hash of the path is another',
        step: 'root',
        file: withPath(good, (path) => path.with(-1, stray)),
      },
    )
  const neighborsPath = size > 2 ? log.tree.path(otherIndex).map((hash) => hash.toString('base64')) : []
  if (neighborsPath.length > 0 && neighborsPath.length === pathOf(bundle.tlogProof).length)
    forged.push({ name: 'the path is of another leaf', step: 'root', file: withPath(good, () => neighborsPath) })
  return forged
}

function forgedSignatures(good: GoodBundle): Forgery[] {
  const { bundle, log, witnesses } = good
  const [ed, mlDsa] = log.signers
  const text = checkpointText(log.origin, log.tree.size, log.tree.root())
  const stranger = testLog({ leaves: log.leaves })
  const strangersNote = noteOf(text, [...stranger.signers, ...witnesses])
  const strangersKeys = [...stranger.signers, ...witnesses].map(({ vkey }) => vkey)
  const signedBy = (...signers: Signer[]) => withNote(good, () => noteOf(text, signers))
  const withKeys = (keys: string[]) => json({ ...bundle, keys })
  const badLine = (signer: Signer) => badSignature(signer, text)
  const badNote = (...lines: string[]) => withNote(good, () => `${text}\n${lines.join('')}`)
  const line = (signer: Signer) => signer.line(text)
  const [w1, w2] = witnesses as [Signer, Signer]
  const impostor = newSigner(w1.name, 4)
  return [
    {
      name: 'another key signed, and its vkey is in the file',
      step: 'signature',
      keys: good.keys,
      file: json({ ...bundle, keys: strangersKeys, tlogProof: withoutNote(bundle.tlogProof) + strangersNote }),
    },
    { name: 'another key signed', step: 'signature', file: withNote(good, () => strangersNote) },
    { name: 'only witnesses signed', step: 'signature', file: signedBy(...witnesses) },
    {
      name: 'the Ed25519 signature is changed',
      step: 'signature',
      file: badNote(badLine(ed), line(mlDsa), line(w1), line(w2)),
    },
    {
      name: 'the ML-DSA signature is changed',
      step: 'signature',
      file: badNote(line(ed), badLine(mlDsa), line(w1), line(w2)),
      needsMlDsa: true,
    },
    {
      name: 'the signature is of another size',
      step: 'signature',
      file: withNote(
        good,
        () =>
          `${text}\n${ed.line(checkpointText(log.origin, log.tree.size + 1, log.tree.root()))}${line(w1)}${line(w2)}`,
      ),
    },
    { name: 'no key of the log is in the file', step: 'signature', file: withKeys(witnesses.map(({ vkey }) => vkey)) },
    {
      name: 'the key has the id of another',
      step: 'signature',
      file: withKeys(bundle.keys.map((key) => key.replace(/\+[0-9a-f]{8}\+/, '+00000000+'))),
    },
    { name: 'the key is cut', step: 'signature', file: withKeys(bundle.keys.map((key) => key.slice(0, -8))) },
    { name: 'the keys are no keys', step: 'signature', file: withKeys(['', 'key', 'a+b+c']) },
    {
      name: 'the checkpoint has a fourth line',
      step: 'root',
      file: withNote(good, () => noteOf(`${text}note\n`, [...log.signers, ...witnesses])),
    },
    { name: 'the signatures are cut off', step: 'root', file: withNote(good, () => text) },
    {
      name: 'a cosignature is changed',
      step: 'cosignatures',
      file: badNote(line(ed), line(mlDsa), badLine(w1), line(w2)),
    },
    {
      name: 'a cosignature states another time',
      step: 'cosignatures',
      file: badNote(line(ed), line(mlDsa), laterLine(w1, text), line(w2)),
    },
    {
      name: 'the ML-DSA cosignature is changed',
      step: 'cosignatures',
      file: badNote(line(ed), line(mlDsa), line(w1), badLine(w2)),
      needsMlDsa: true,
    },
    {
      name: 'an impostor cosigned',
      step: 'cosignatures',
      file: badNote(line(ed), line(mlDsa), line(impostor), line(w2)),
    },
    { name: 'the witness in the file did not sign', step: 'cosignatures', file: signedBy(ed, mlDsa, w2) },
  ]
}

const withoutNote = (tlogProof: string): string => tlogProof.slice(0, tlogProof.indexOf('\n\n') + 2)

/** A signature line with one bit turned, behind the key id. */
function badSignature(signer: Signer, text: string): string {
  const bytes = Buffer.from(signer.line(text).split(' ')[2] ?? '', 'base64')
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
  return signatureLine(signer.name, bytes)
}

/** A cosignature whose time was moved by an hour after signing. */
function laterLine(signer: Signer, text: string): string {
  const bytes = Buffer.from(signer.line(text).split(' ')[2] ?? '', 'base64')
  bytes.writeBigUInt64BE(bytes.readBigUInt64BE(4) + 3600n, 4)
  return signatureLine(signer.name, bytes)
}

function forgedParts(good: GoodBundle): Forgery[] {
  const { bundle, media } = good
  const [operator, actor, notes] = bundle.openings as [Opening, Opening, Opening]
  const [photoItem] = bundle.media as [MediaItem]
  const withOpenings = (...openings: Opening[]) => json({ ...bundle, openings })
  const withMedia = (item: MediaItem) => json({ ...bundle, media: [item] })
  const salt = sha256(Buffer.from('another salt'))
  // As long as the real one, so that only its hash gives it away.
  const replaced = Buffer.from(photo).fill(0, 10)
  const anchor = { kind: 'rfc3161', size: 1, rootHash: sha256().toString('base64'), token: 'AAAA' }
  return [
    {
      name: 'an opening has another text',
      step: 'openings',
      file: withOpenings({ ...operator, text: 'erin@https://cloud.example.com' }),
    },
    {
      name: 'an opening lost its last newline',
      step: 'openings',
      file: withOpenings({ ...notes, text: notes.text.slice(0, -1) }),
    },
    {
      name: 'an opening has another salt',
      step: 'openings',
      file: withOpenings({ ...operator, salt: salt.toString('base64') }),
    },
    {
      name: 'an opening opens what is not in the leaf',
      step: 'openings',
      file: withOpenings({
        ...operator,
        text: 'erin',
        salt: salt.toString('base64'),
        commitment: commitmentOf(salt, 'erin'),
      }),
    },
    { name: 'an opening is of another field', step: 'openings', file: withOpenings({ ...actor, field: 'operator' }) },
    { name: 'an opening is of no field', step: 'openings', file: withOpenings({ ...actor, field: 'nobody' }) },
    { name: 'the photo was replaced', step: 'media', file: json(bundle), media: { ...media, 'photo.jpg': replaced } },
    {
      name: 'the photo and its hash were replaced',
      step: 'media',
      file: withMedia({ ...photoItem, sha256: sha256(replaced).toString('hex'), sizeBytes: replaced.length }),
      media: { ...media, 'photo.jpg': replaced },
    },
    {
      name: 'the photo has another size',
      step: 'media',
      file: withMedia({ ...photoItem, sizeBytes: photoItem.sizeBytes + 1 }),
    },
    {
      name: 'the photo leads out of its folder',
      step: 'media',
      file: withMedia({ ...photoItem, name: '../photo.jpg' }),
    },
    { name: 'a time stamp is of another size', step: 'anchors', file: json({ ...bundle, anchors: [anchor] }) },
    {
      name: 'a time stamp is of something else',
      step: 'anchors',
      file: json({ ...bundle, anchors: [{ ...anchor, ...ownAnchor(good) }] }),
    },
  ]
}

const ownAnchor = ({ log }: GoodBundle) => ({ size: log.tree.size, rootHash: log.tree.root().toString('base64') })

function forgedFiles(good: GoodBundle): Forgery[] {
  const { bundle } = good
  const whole = json(bundle)
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const inLeaf = (leaf: unknown) => json({ ...bundle, leaf })
  return [
    { name: 'the file is empty', step: 'leaf', file: '' },
    { name: 'the file is cut in the middle', step: 'leaf', file: whole.slice(0, whole.length / 2) },
    { name: 'the file is cut before its last brace', step: 'leaf', file: whole.slice(0, -3) },
    { name: 'the file has a second bundle behind it', step: 'leaf', file: whole + whole },
    { name: 'the bundle is in a list', step: 'leaf', file: json([bundle]) },
    { name: 'the bundle is in a bundle', step: 'leaf', file: inLeaf(bundle) },
    { name: 'the leaf is in a list', step: 'leaf', file: inLeaf([bundle.leaf]) },
    { name: 'the file nests ten thousand lists', step: 'leaf', file: nested(10_000) },
    { name: 'the keys are one text', step: 'leaf', file: json({ ...bundle, keys: bundle.keys.join('\n') }) },
    { name: 'a key is a list', step: 'leaf', file: json({ ...bundle, keys: [bundle.keys] }) },
    { name: 'the openings are missing', step: 'leaf', file: json({ ...bundle, openings: undefined }) },
    { name: 'the format is another', step: 'leaf', file: json({ ...bundle, format: 'gatehouse-proof/2' }) },
    { name: 'the file is five megabytes', step: 'leaf', file: json({ ...bundle, padding: 'x'.repeat(5 * 2 ** 20) }) },
    {
      name: 'the file has more than a thousand openings',
      step: 'leaf',
      file: json({ ...bundle, openings: Array(1001).fill(bundle.openings[0]) }),
    },
    {
      name: 'the file has more than a thousand anchors',
      step: 'leaf',
      file: json({ ...bundle, anchors: Array(1001).fill({ kind: 'webhook', host: 'erp.example' }) }),
    },
    { name: 'the path has ten thousand hashes', step: 'path', file: withPath(good, (path) => longer(path)) },
    { name: 'the note has a thousand signatures', step: 'root', file: withNote(good, manySignatures) },
  ]
}

const longer = (path: string[]): string[] => {
  const stray = sha256(Buffer.from('stray')).toString('base64')
  return [...path, ...Array.from({ length: 10_000 }, () => stray)]
}

const manySignatures = (note: string): string => note + signatureLine('x.example', Buffer.alloc(68, 7)).repeat(1000)

function forgedEncodings(good: GoodBundle): Forgery[] {
  const { bundle } = good
  const whole = json(bundle)
  const withLeaf = (leaf: string) => json({ ...bundle, leaf })
  const [lines] = [bundle.leaf.match(/.{1,76}/g)?.join('\n') ?? '']
  const twice = Buffer.from(bundle.leaf).toString('base64')
  return [
    { name: 'the file is UTF-16', step: 'leaf', file: Buffer.from(`\ufeff${whole}`, 'utf16le') },
    { name: 'the file has a byte that is no UTF-8', step: 'leaf', file: badByte(whole) },
    { name: 'the leaf is base64 twice', step: 'leaf', file: withLeaf(twice) },
    { name: 'the leaf is base64 in lines', step: 'leaf', file: withLeaf(lines) },
    { name: 'the leaf has base64 with a blank', step: 'leaf', file: withLeaf(`${bundle.leaf} `) },
    { name: 'the leaf is hex', step: 'leaf', file: withLeaf(Buffer.from(bundle.leaf, 'base64').toString('hex')) },
    {
      name: 'the index has a leading zero',
      step: 'path',
      file: withProof(good, (text) => text.replace('index ', 'index 0')),
    },
    {
      name: 'the index is a power of ten',
      step: 'path',
      file: withProof(good, (text) => text.replace(/^(index .*)$/m, '$1e0')),
    },
    {
      name: 'the proof has the lines of Windows',
      step: 'path',
      file: withProof(good, (text) => text.replaceAll('\n', '\r\n')),
    },
    {
      name: 'the proof is of another version',
      step: 'path',
      file: withProof(good, (text) => text.replace('@v1', '@v2')),
    },
    { name: 'the note has a tab', step: 'root', file: withNote(good, (note) => note.replace('— ', '—\t')) },
    {
      name: 'the note has a hyphen for its dash',
      step: 'root',
      file: withNote(good, (note) => note.replaceAll('— ', '- ')),
    },
    { name: 'the size has a leading zero', step: 'root', file: withNote(good, (note) => note.replace(/\n/, '\n0')) },
    {
      name: 'the size is beyond all numbers',
      step: 'root',
      file: withNote(good, (note) => note.replace(/\n/, `\n${'9'.repeat(30)}`)),
    },
    { name: 'the root is hex', step: 'root', file: withNote(good, rootAsHex) },
    { name: 'the last newline is missing', step: 'root', file: withNote(good, (note) => note.slice(0, -1)) },
  ]
}

/** The file with a byte in its leaf's place that UTF-8 does not know. */
function badByte(whole: string): Buffer {
  const bytes = Buffer.from(whole)
  bytes.writeUInt8(0xff, bytes.indexOf('"leaf": "') + 12)
  return bytes
}

const rootAsHex = (note: string): string =>
  note.replace(
    /^([^\n]*\n[^\n]*\n)([^\n]*)/,
    (_, head: string, root: string) => head + Buffer.from(root, 'base64').toString('hex'),
  )
