import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifyBundle } from '../support/evidence/bundle.ts'
import {
  formatAddCheckpoint,
  openCheckpoint,
  parseAddCheckpoint,
  parseCheckpoint,
  parseTlogProof,
} from '../support/evidence/checkpoint.ts'
import { checkpointText, forgeries, goodBundle, newSigner, noteOf, testLog } from '../support/evidence/forge.ts'
import { leafHash, naiveTree, verifyConsistency, verifyInclusion } from '../support/evidence/merkle.ts'
import { formatVkey, openNote, parseNote, parseVkey } from '../support/evidence/note.ts'
import { mirrorLog, readEntries, tileIndex, tilePath } from '../support/evidence/tiles.ts'
import { referenceWitness } from '../support/evidence/witness.ts'

// The verifier of the tests is itself held against published vectors; see test/fixtures/evidence/README.md.
const vector = (name: string) => readFileSync(new URL(`../fixtures/evidence/${name}`, import.meta.url), 'utf8')
const published = JSON.parse(vector('rfc6962.json'))
const hex = (text: string) => Buffer.from(text, 'hex')
const certificates = naiveTree(published.leaves.map(hex))

t.test('roots, inclusion and consistency paths are those that certificate transparency publishes', (t) => {
  published.roots.forEach((root: string, size: number) => {
    t.equal(certificates.root(size).toString('hex'), root, `root of ${size}`)
  })
  for (const { index, size, path } of published.inclusion) {
    t.strictSame(certificates.path(index, size), path.map(hex), `path of ${index} in ${size}`)
    const hash = leafHash(hex(published.leaves[index]))
    t.ok(verifyInclusion({ hash, index, size, path: path.map(hex) }, hex(published.roots[size])))
  }
  for (const { from, to, proof } of published.consistency) {
    t.strictSame(certificates.proof(from, to), proof.map(hex), `proof from ${from} to ${to}`)
    const [fromRoot, toRoot] = [hex(published.roots[from]), hex(published.roots[to])]
    t.ok(verifyConsistency({ from, to, fromRoot, toRoot, proof: proof.map(hex) }))
  }
  t.end()
})

t.test('in every tree of up to 130 leaves the naive proofs verify, and no changed one does', (t) => {
  const tree = naiveTree(Array.from({ length: 130 }, (_, i) => Buffer.from(`leaf ${i}`)))
  const roots = Array.from({ length: 131 }, (_, size) => tree.root(size))
  const wrong: string[] = []
  const expect = (is: boolean, expected: boolean, what: string) => is === expected || wrong.push(what)
  for (let size = 1; size <= 130; size++) {
    const root = roots[size] as Buffer
    for (let index = 0; index < size; index++) {
      const proof = { hash: tree.hashes[index] as Buffer, index, size, path: tree.path(index, size) }
      expect(verifyInclusion(proof, root), true, `${index} in ${size}`)
      expect(verifyInclusion({ ...proof, index: index + 1 }, root), false, `${index} as ${index + 1} in ${size}`)
      expect(verifyInclusion({ ...proof, path: [...proof.path, root] }, root), false, `${index} in ${size}, longer`)
      expect(verifyInclusion(proof, roots[size - 1] as Buffer), false, `${index} in ${size}, older root`)
    }
    for (let from = 1; from <= size; from++) {
      const [fromRoot, toRoot] = [roots[from] as Buffer, root]
      const proof = { from, to: size, fromRoot, toRoot, proof: tree.proof(from, size) }
      expect(verifyConsistency(proof), true, `${from} to ${size}`)
      expect(
        verifyConsistency({ ...proof, fromRoot: roots[from - 1] as Buffer }),
        false,
        `${from} to ${size}, other root`,
      )
      expect(
        verifyConsistency({ ...proof, proof: proof.proof.slice(1) }),
        proof.proof.length === 0,
        `${from} to ${size}, cut`,
      )
    }
  }
  t.strictSame(wrong, [])
  t.end()
})

t.test('in large trees of chance the naive proofs verify', (t) => {
  const seed = 20_260_302
  let state = seed
  const below = (n: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % n
  }
  const tree = naiveTree(Array.from({ length: 5000 }, (_, i) => Buffer.from(`leaf ${i}`)))
  for (let round = 0; round < 25; round++) {
    const size = 131 + below(4870)
    const [index, from] = [below(size), 1 + below(size)]
    const root = tree.root(size)
    const proof = { hash: tree.hashes[index] as Buffer, index, size, path: tree.path(index, size) }
    t.ok(verifyInclusion(proof, root), `seed ${seed}: ${index} in ${size}`)
    const toRoot = root
    const consistency = { from, to: size, fromRoot: tree.root(from), toRoot, proof: tree.proof(from, size) }
    t.ok(verifyConsistency(consistency), `seed ${seed}: ${from} to ${size}`)
  }
  t.end()
})

t.test('the notes that others publish are read, and no changed byte of them is', (t) => {
  for (const { vkey, note, text } of JSON.parse(vector('notes.json'))) {
    const key = parseVkey(vkey)
    t.equal(formatVkey(key), vkey)
    t.equal(openNote(note, [key]).text, text)
    t.throws(() => openNote(note.replace(/[aeu]/, 'i'), [key]), /does not verify/)
    t.throws(() => openNote(note, [parseVkey(newSigner(key.name, 1).vkey)]), /no signature by a known key/)
    t.throws(() => parseVkey(vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+')), /the key id/)
    t.throws(() => parseVkey(vkey.slice(0, -4)))
  }
  t.end()
})

t.test('checkpoints and cosignatures of logs and witnesses that run today verify, of every type', (t) => {
  for (const { note, keys } of JSON.parse(vector('checkpoints.json'))) {
    const known: string[] = keys
    const opened = openCheckpoint(note, known.map(parseVkey))
    t.strictSame(
      opened.signed.map(({ vkey }) => formatVkey(vkey)),
      known,
    )
    for (const key of known) {
      const changed = note.replace(`\n${opened.size}\n`, `\n${opened.size + 1}\n`)
      t.throws(() => openCheckpoint(changed, [parseVkey(key)]), /does not verify/, key.slice(0, 40))
    }
  }
  t.end()
})

t.test('a note that breaks one rule of its format is refused with that rule', (t) => {
  const signer = newSigner('dc-7.example/log', 1)
  const note = noteOf('two lines\n\nand an empty one\n', [signer])
  const key = parseVkey(signer.vkey)
  t.equal(openNote(note, [key]).text, 'two lines\n\nand an empty one\n')
  const broken: [string, string | Buffer, RegExp][] = [
    ['no signature', 'text\n\n', /does not end|without signatures/],
    ['no empty line', note.replaceAll('\n\n', '\n'), /without an empty line/],
    ['a control character', note.replace('two', 'two\t'), /control character/],
    ['no last newline', note.slice(0, -1), /end with a newline/],
    ['a plus in the name', note.replace('— dc-7', '— dc+7'), /not a signature line/],
    ['a blank that is not ASCII in the name', note.replace('— dc-7', '— dc\u20037'), /not a signature line/],
    ['base64url', note.replace(/ [^ ]+\n$/, ' AAAA-AAA\n'), /base64/],
    ['a short signature', note.replace(/ [^ ]+\n$/, ' AAAAAA==\n'), /without a signature/],
    ['other bytes than UTF-8', Buffer.concat([Buffer.of(0xff), Buffer.from(note)]), /not valid/],
  ]
  for (const [what, text, why] of broken) t.throws(() => parseNote(text), why, what)
  // A stranger's signature is ignored, even under the same name; a known key's bad one refuses the note.
  const namesake = newSigner(signer.name, 1)
  t.equal(openNote(note + namesake.line('something else\n'), [key]).signed.length, 1)
  const both = [key, parseVkey(namesake.vkey)]
  t.throws(() => openNote(note + namesake.line('something else\n'), both), /does not verify/)
  t.equal(
    openNote(note + Array.from({ length: 15 }, () => newSigner('w', 4).line('x\n1\nAAAA\n')).join(''), [key]).signed
      .length,
    1,
  )
  t.end()
})

t.test('a checkpoint that breaks one rule of its format is refused', (t) => {
  const signer = newSigner('dc-7.example/log', 1)
  const root = Buffer.alloc(32, 7)
  const text = checkpointText(signer.name, 5, root)
  t.match(parseCheckpoint(noteOf(`${text}more\n`, [signer])), { size: 5, root, extensions: ['more'] })
  const broken = {
    'a leading zero': text.replace('\n5\n', '\n05\n'),
    'a sign': text.replace('\n5\n', '\n+5\n'),
    'no origin': text.replace(signer.name, ''),
    'a short root': checkpointText(signer.name, 5, root.subarray(1)),
    'an empty extension': `${text}\nmore\n`,
    'two lines': text.split('\n').slice(0, 2).join('\n').concat('\n'),
  }
  for (const [what, bad] of Object.entries(broken)) t.throws(() => parseCheckpoint(noteOf(bad, [signer])), what)
  const request = { old: 3, proof: [root], note: noteOf(text, [signer]) }
  t.strictSame(parseAddCheckpoint(formatAddCheckpoint(request)), request)
  t.throws(() => parseAddCheckpoint(formatAddCheckpoint({ ...request, proof: Array(64).fill(root) })), /64 hashes/)
  const withExtra = `c2sp.org/tlog-proof@v1\nextra AAAA\nindex 4\n\n${request.note}`
  t.match(parseTlogProof(withExtra), { index: 4, path: { length: 0 }, note: request.note })
  t.end()
})

t.test('tiles have the paths of the specification', (t) => {
  t.equal(tileIndex(1_234_067), 'x001/x234/067')
  t.equal(tilePath(0, 0, 7), 'tile/0/000.p/7')
  t.equal(tilePath(1, 1000), 'tile/1/x001/000')
  t.equal(tilePath('entries', 273, 112), 'tile/entries/273.p/112')
  t.strictSame(readEntries(Buffer.from('00016100000002626300', 'hex').subarray(0, 9), 3).map(String), ['a', '', 'bc'])
  t.throws(() => readEntries(Buffer.from('000261', 'hex'), 1), /ends within entry 0/)
  t.throws(() => readEntries(Buffer.from('000161', 'hex'), 2), /of 1 entries, not 2/)
  t.end()
})

t.test('an auditor mirrors a log by its tiles alone, and names the tile that does not fit', async (t) => {
  for (const size of [0, 1, 255, 256, 257, 700]) {
    const log = testLog({ size })
    const keys = [parseVkey(log.signers[0].vkey)]
    const mirror = await mirrorLog({ fetch: log.serve, keys })
    t.strictSame(mirror.leaves, log.leaves, `${size} leaves`)
    t.strictSame(mirror.root, log.tree.root())
    for (const path of mirror.fetched) {
      const without = async (asked: string) => (asked === path ? undefined : log.serve(asked))
      await t.rejects(mirrorLog({ fetch: without, keys }), new Error(`${path} is missing`))
      const changed = async (asked: string) => {
        const bytes = await log.serve(asked)
        if (asked === path && bytes) bytes.writeUInt8(bytes.readUInt8(bytes.length - 2) ^ 1, bytes.length - 2)
        return bytes && Buffer.from(bytes)
      }
      await t.rejects(mirrorLog({ fetch: changed, keys }), `a changed ${path} of ${size}`)
    }
  }
})

t.test('a witness answers each request as the protocol says, and only a consistent log gets its cosignature', (t) => {
  const log = testLog({ size: 20 })
  const fork = testLog({ size: 20, facts: { 3: { assetBarcode: 'P-forged' } } })
  const signers = [newSigner('w.example', 4), newSigner('w.example', 6)]
  const witness = referenceWitness({ logs: [log.signers[0].vkey], signers, nowSeconds: () => 1_772_438_700n })
  const ask = (old: number, size: number, { note = log.checkpoint(size), proof = log.tree.proof(old, size) } = {}) =>
    witness.addCheckpoint(formatAddCheckpoint({ old, proof, note }))
  const forked = noteOf(checkpointText(log.origin, 20, fork.tree.root()), log.signers)

  const first = ask(0, 7)
  t.match(first, { status: 200 })
  const keys = signers.map(({ vkey }) => parseVkey(vkey))
  const { signed } = openCheckpoint(log.checkpoint(7) + first.body, keys)
  t.strictSame(
    signed.map(({ vkey, atSeconds }) => [vkey.type, atSeconds]),
    [
      [4, 1_772_438_700n],
      [6, 1_772_438_700n],
    ],
  )
  t.equal(ask(7, 7).status, 200, 'the same again')
  t.match(ask(0, 20), { status: 409, type: 'text/x.tlog.size', body: '7\n' }, 'an older size than it knows')
  t.match(ask(9, 20), { status: 409, body: '7\n' }, 'a newer size than it knows')
  t.equal(ask(7, 5, { proof: [] }).status, 400, 'a smaller log')
  t.equal(ask(7, 20, { proof: [] }).status, 422, 'no proof')
  t.equal(ask(7, 20, { note: forked }).status, 422, 'a fork')
  t.equal(ask(7, 20, { note: fork.checkpoint() }).status, 403, 'another key')
  t.equal(ask(7, 20, { note: testLog({ siteId: 'dc-8' }).checkpoint(20) }).status, 404, 'another log')
  t.equal(witness.addCheckpoint('old 7\n').status, 400, 'half a request')
  t.match(witness.latest(log.origin), { size: 7, root: log.tree.root(7) }, 'nothing of these was taken')
  t.equal(ask(7, 20).status, 200)
  t.match(ask(20, 20, { note: forked }), { status: 409 }, 'another root at the same size')
  t.end()
})

// Sizes around powers of two and of tiles; the leaf at either end of the log and one within.
const places = [
  [1, 0],
  [2, 1],
  [3, 2],
  [7, 3],
  [8, 0],
  [57, 41],
  [257, 256],
] as const
for (const [size, index] of places)
  t.test(`a good bundle of leaf ${index} of ${size} holds at every step, and each forgery fails at its own`, (t) => {
    const good = goodBundle({ size, index })
    const { bundle, media, keys } = good
    const verdict = verifyBundle(bundle, { media, keys })
    t.match(verdict, { ok: true })
    t.strictSame(
      verdict.steps.filter(({ state }) => state !== 'holds').map(({ step, state }) => [step, state]),
      [['anchors', 'not claimed']],
    )
    for (const forgery of forgeries(good)) {
      const options = { media: forgery.media ?? media, ...(forgery.keys ? { keys: forgery.keys } : {}) }
      t.equal(verifyBundle(forgery.file, options).failed, forgery.step, forgery.name)
    }
    t.end()
  })

t.test('a bundle without its files is not taken for one whose files fit', (t) => {
  const { bundle } = goodBundle({ size: 3, index: 1 })
  t.match(verifyBundle(bundle).steps.at(-1), { step: 'media', state: 'not checked', because: 'not here: photo.jpg' })
  t.end()
})
