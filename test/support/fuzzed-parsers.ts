import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SealedFileFault } from '../../src/backup/sealing/pieces.ts'
import { FileSealer, openSealedFile } from '../../src/backup/sealing/sealed-file.ts'
import { readMembers, TarFault, tarEnd, tarHeader, tarPadding } from '../../src/backup/tar.ts'
import { readDocument } from '../../src/config/document.ts'
import { readCheckpointText, readNote, readVkey } from '../../src/evidence/transparency/note.ts'
import { readTilePath } from '../../src/evidence/transparency/tile-path.ts'
import { readPolygon } from '../../src/imports/cells.ts'
import { Problems } from '../../src/imports/problems.ts'
import { readSheet } from '../../src/imports/sheet.ts'
import { readPhotoTime } from '../../src/photos/photo-time.ts'
import { exifOf, readPictureBytes } from '../../src/photos/picture.ts'
import { xmlEvents } from '../../src/platform/xml.ts'
import { checkBundle } from '../../src/proof/index.ts'
import { entriesIn, filesIn, propertyIn } from '../../src/upload/dav/multistatus.ts'
import { picturesOfMp4, shownByMp4 } from '../../src/video/format/mp4-shown.ts'
import { sequenceFacts } from '../../src/video/format/sequence-parameters.ts'
import { payloadOf, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { addressOf, cleanText, nameIn } from '../../src/video/onvif/devices.ts'
import { lastPng } from '../../src/video/stream/snapshot.ts'
import { DamageSigns } from '../../src/video/stream/stream.ts'
import { readBarcode } from '../../src/warehouse/barcodes/barcode.ts'
import { readLink } from '../../src/warehouse/barcodes/digital-link.ts'
import { readEpc } from '../../src/warehouse/barcodes/epc.ts'
import { readSvg } from '../../src/warehouse/plans/svg-picture.ts'
import type { Fuzzed } from './fuzz.ts'
import { tinyPng } from './gateway.ts'
import { jpeg, webp } from './photo.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures', name))
const json = (name: string) => JSON.parse(fixture(name).toString('utf8'))
const texts = (...all: readonly string[]) => all.map((text) => Buffer.from(text))
/** The parser gets text as UTF-8 decodes it. */
const ofText = (parse: (text: string) => unknown) => (bytes: Buffer) => parse(bytes.toString('utf8'))
const asFile = (bytes: Buffer) => ({
  sizeBytes: bytes.length,
  read: (at: number, length: number) => Buffer.from(bytes.subarray(at, at + length)),
})

const recoveryKey = Buffer.alloc(32, 7)

function sealed(size: number): Buffer {
  const pieces: Buffer[] = []
  const sealer = new FileSealer({
    recoveryKey,
    random: (n) => Buffer.alloc(n, 3),
    write: (bytes) => void pieces.push(Buffer.from(bytes)),
    name: '',
  })
  sealer.add(Buffer.alloc(size, 'ledger '))
  sealer.finish()
  return Buffer.concat(pieces)
}

const member = (name: string, content: string) => [
  tarHeader(name, content.length, Date.UTC(2026, 2, 2)),
  Buffer.from(content),
  tarPadding(content.length),
]
const tar = Buffer.concat([...member('gatehouse.db', 'rows'), ...member('keys/log.key', 'key'), tarEnd])

const config = `site: { id: dc-7, url: "https://gate.example:8480" }
listen: [{ host: 127.0.0.1, port: 8480 }]
auth: &auth
  users:
    - { username: ada, role: admin, secretHash: "scrypt:2:1:1:YQ:YQ" }
cameras: [{ id: 1, name: Dock, url: "rtsp://cam/1", history: { hours: 1 } }]
other: *auth
`
const svg = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="10" height="20mm" viewBox="0 0 10 20">
<style>.a{fill:red}</style><g class="a"><path d="M0 0L1 1"/><text>Hall &amp; yard</text></g></svg>`
const multistatus = `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>/dav/a%20b.mp4</d:href><d:propstat>
<d:prop><d:getcontentlength>12</d:getcontentlength><d:resourcetype><d:collection/></d:resourcetype></d:prop>
<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`
const list = 'slot_id;zone;width;note\r\nA-1;S;1,5;"a ""b""\nc"\r\nA-2;S;2;\r\n'
const complaints = `[h264 @ 0x55] error while decoding MB 12 3, bytestream -5
[rtsp @ 0x55] max delay reached. need to consume packet
frame=  120 fps= 25 q=-1.0 size=N/A time=00:00:04.80 bitrate=N/A speed=1.01x
Input #0, rtsp, from 'rtsp://user:secret@cam/1': Stream #0:0: Video: h264 (High), yuv420p(progressive), 1920x1080, 25 fps`

const boxOf = (bytes: Buffer, type: string) => bytes.subarray(bytes.indexOf(type) + 4)
const movies = ['h264', 'hevc'].map((codec) => boxOf(fixture(`fuzz/${codec}.mp4`), 'moov'))
/** As lists of units of a parameter set in each codec. */
const sets = {
  h264: Buffer.from('674d400a9a6423 4d80880000030008000003014 0784893c0'.replaceAll(' ', ''), 'hex'),
  hevc: Buffer.from('420101016000000300900000030000030 01ea0208101a5'.replaceAll(' ', ''), 'hex'),
}

function split(bytes: Buffer): void {
  const splitter = new UnitSplitter()
  for (let at = 0; at < bytes.length; at += 1000) {
    for (const unit of splitter.push(bytes.subarray(at, at + 1000), at)) payloadOf(unit)
  }
  void [splitter.tables, splitter.codec]
}

const isRangeError = (error: unknown) => error instanceof RangeError

/** Each parser that reads what this program did not write. */
export const fuzzedParsers: readonly Fuzzed[] = [
  {
    name: 'config',
    corpus: texts(config),
    parse: ofText((text) => readDocument({ file: 'gatehouse.yaml', folder: '/etc', text })),
  },
  {
    name: 'GS1 barcodes',
    corpus: texts(
      ...json('barcodes/gs1.json').flatMap(({ vectors }: { vectors: { raw: string }[] }) =>
        vectors.map(({ raw }) => raw),
      ),
    ),
    parse: ofText((text) => [readBarcode(text), readLink(text), readEpc(text)]),
  },
  { name: 'transport stream', corpus: [fixture('fuzz/h264.mpegts'), fixture('fuzz/hevc.mpegts')], parse: split },
  {
    name: 'sequence parameters, H.264',
    corpus: [sets.h264],
    parse: (bytes) => sequenceFacts(bytes, 'h264'),
    isExpected: isRangeError,
  },
  {
    name: 'sequence parameters, HEVC',
    corpus: [sets.hevc],
    parse: (bytes) => sequenceFacts(bytes, 'hevc'),
    isExpected: isRangeError,
  },
  {
    name: 'MP4',
    corpus: movies,
    parse: (moov) => [shownByMp4(moov, [{ from: 0, to: 1e6 }]), picturesOfMp4(moov, [{ from: 0, to: 1e6 }])],
  },
  {
    name: 'messages of ffmpeg',
    corpus: texts(complaints),
    parse: ofText((text) => {
      const signs = new DamageSigns()
      for (const [n, line] of text.split('\n').entries()) signs.heard(line, n * 1000)
      return signs.isDamaged(10_000)
    }),
  },
  { name: 'pictures of ffmpeg', corpus: [Buffer.concat([tinyPng, tinyPng])], parse: lastPng },
  {
    name: 'paths of tiles',
    corpus: texts('tile/0/x001/067', 'tile/entries/067.p/3', 'tile/8/x999/x123/456.p/255'),
    parse: ofText(readTilePath),
  },
  {
    name: 'notes and keys',
    corpus: texts(...json('evidence/notes.json').flatMap(({ note, vkey }: Record<string, string>) => [note, vkey])),
    parse: ofText((text) => [readNote(text), readVkey(text), readCheckpointText(text)]),
  },
  {
    name: 'proof bundles',
    corpus: texts(
      JSON.stringify({
        format: 'gatehouse-proof/1',
        tlogProof: `c2sp.org/tlog-proof@v1\nindex 0\n\n${json('evidence/notes.json')[0].note}`,
        leaf: fixture('leaves/placement-full-v2.json').toString('base64'),
        openings: [],
        keys: [json('evidence/notes.json')[0].vkey],
        handOvers: [],
      }),
    ),
    parse: ofText((text) => checkBundle(crypto.subtle, text, { keys: [], file: () => undefined })),
  },
  {
    name: 'tar',
    corpus: [tar],
    parse: (bytes) => readMembers(asFile(bytes)),
    isExpected: (e) => e instanceof TarFault,
  },
  {
    name: 'sealed files',
    corpus: [sealed(100), sealed(3)],
    parse: (bytes) => {
      const opened = openSealedFile(asFile(bytes), recoveryKey)
      return opened.read(0, opened.sizeBytes)
    },
    isExpected: (error) => error instanceof SealedFileFault,
  },
  {
    name: 'lists of CSV',
    corpus: texts(list, `\ufeffsep=;\n${list}`, list.replaceAll(';', '\t')),
    parse: async (bytes) => {
      const problems = new Problems()
      const sheet = await readSheet(bytes, problems, (written) => (written.includes('_') ? written : undefined))
      return sheet && [...sheet.rows]
    },
  },
  {
    name: 'polygons',
    corpus: texts('0,0 1,0 1,1', '[{"x":0,"y":0},{"x":1,"y":0},{"x":1,"y":1}]'),
    parse: ofText(readPolygon),
  },
  {
    name: 'photos and EXIF',
    corpus: [tinyPng, jpeg({ taken: '2026:03:02 08:00:00', offset: '+01:00' }), webp('2026:03:02 08:00:00')],
    parse: async (bytes) => {
      const file = { length: bytes.length, at: (from: number, count: number) => bytes.subarray(from, from + count) }
      const found = readPictureBytes(bytes)
      return found && 'mediaType' in found ? readPhotoTime(exifOf(file, found.mediaType)) : undefined
    },
  },
  {
    name: 'XML of servers',
    corpus: texts(multistatus),
    parse: ofText((text) => [...xmlEvents(text)]),
    // Its documentation names no class.
    isExpected: (error) => error instanceof Error && error.constructor === Error,
  },
  {
    name: 'WebDAV answers',
    corpus: texts(multistatus),
    parse: ofText((text) => [filesIn(text), entriesIn(text, '/dav'), propertyIn(text, 'getcontentlength')]),
    // An address may be wrongly encoded. Each caller names the folder.
    isExpected: (error) => error instanceof URIError || (error instanceof Error && error.constructor === Error),
  },
  {
    name: 'answers of ONVIF devices',
    corpus: texts(
      'onvif://www.onvif.org/name/Dock%20West onvif://www.onvif.org/hardware/X-1',
      'http://192.0.2.7/onvif/device_service https://[2001:db8::7]:8443/onvif/device_service',
    ),
    parse: ofText((text) => [
      nameIn(text),
      cleanText(text),
      addressOf({ from: '192.0.2.7', scopes: text, xaddrs: text }),
    ]),
  },
  { name: 'SVG', corpus: texts(svg), parse: readSvg },
]
