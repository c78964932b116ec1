import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { compareWithKept, readVkey, verifyLedger } from '../../src/evidence/index.ts'
import { checkBundle } from '../../src/proof/index.ts'
import { verifyBundle as verifyIndependently } from '../support/evidence/bundle.ts'
import { formatAddCheckpoint, formatTlogProof, parseTlogProof } from '../support/evidence/checkpoint.ts'
import { checkpointText, goodBundle, newSigner, noteOf } from '../support/evidence/forge.ts'
import { type ReferenceWitness, referenceWitness } from '../support/evidence/witness.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { forgetSignatures, place, rewriteEvent, signedLedger, withoutGuards } from '../support/tamper.ts'

const by = people.vera

/** Evidence that an outsider stored of a signed ledger: keys, the newest checkpoint, the proof of event 3, a witness. */
async function outside(gateway: TestGateway) {
  const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const keys: string[] = [logKey, logKeyPostQuantum]
  const { text: note } = await gateway.ask('GET', '/api/log/checkpoint', { by })
  const { text: proof } = await gateway.ask('GET', '/api/whms/events/3/proof', { by })
  const signers = [newSigner('witness.example/w1', 4)]
  const witness = referenceWitness({ logs: keys, signers, nowSeconds: () => 1_772_438_700n })
  const first = witness.addCheckpoint(formatAddCheckpoint({ old: 0, proof: [], note }))
  if (first.status !== 200) throw new Error(`the witness answered ${first.status}`)
  return { keys, note, proof, witness }
}

/** Sends the newest checkpoint to the witness, with a proof from the size that the witness has seen. */
async function showTo(witness: ReferenceWitness, gateway: TestGateway): Promise<number> {
  const { text: note } = await gateway.ask('GET', '/api/log/checkpoint', { by })
  const size = Number(note.split('\n')[1])
  const old = witness.latest(note.split('\n')[0] ?? '')?.size ?? 0
  const { body } = await gateway.ask('GET', `/api/log/consistency?from=${old}&to=${size}`, { by })
  const proof = (body.proof ?? []).map((hash: string) => Buffer.from(hash, 'base64'))
  return witness.addCheckpoint(formatAddCheckpoint({ old, proof, note })).status
}

const compare = (dataDir: string, note: string, keys: readonly string[]) =>
  compareWithKept(
    dataDir,
    note,
    keys.flatMap((vkey) => readVkey(vkey) ?? []),
  )

const failing = async (text: string, keys: readonly string[]) => {
  const { findings } = await checkBundle(crypto.subtle, text, { keys, file: () => undefined })
  const { step, words } = findings.find(({ state }) => state === 'fails') ?? {}
  return `${step}: ${words}`
}

t.test(
  'a log that was written anew with all hashes, tiles and heads is seen by a kept checkpoint and a witness',
  async (t) => {
    const gateway = await signedLedger(t)
    const { dataDir } = gateway
    const { keys, note, proof, witness } = await outside(gateway)
    gateway.close()
    withoutGuards(dataDir, (db) => {
      rewriteEvent(db, 3, { assetBarcode: 'P-9', assetKey: 'P-9' }, `asset_barcode = 'P-9', asset_key = 'P-9'`)
      forgetSignatures(db)
    })
    rmSync(join(dataDir, 'keys', 'log.head'))
    t.match(verifyLedger(dataDir), { ok: true, mismatches: { length: 0 } }, 'inside, everything matches')
    t.match(await compare(dataDir, note, keys), {
      holds: false,
      words: /first 7 leaves have another root than the kept/,
    })

    const again = await gateway.restart()
    t.teardown(() => again.end())
    await place(again, 8)
    await again.checkpoints.make()
    t.match(verifyLedger(dataDir), { ok: true, size: 8 }, 'also when it was signed')
    t.equal(await showTo(witness, again), 422, 'a witness refuses to cosign')
    const kept = JSON.parse(proof)
    t.ok(verifyIndependently(kept, { keys }).ok, 'a proof that was given away still proves what was')
    t.match(JSON.parse(Buffer.from(kept.leaf, 'base64').toString()), { assetBarcode: 'P-3' })
    await again.jobs.stop()
  },
)

t.test(
  'a tail that was cut off with every signature on the box is seen by a kept checkpoint and a witness',
  async (t) => {
    const gateway = await signedLedger(t)
    const { dataDir } = gateway
    const { keys, note, witness } = await outside(gateway)
    gateway.close()
    withoutGuards(dataDir, (db) => {
      db.exec(`DELETE FROM placement_event WHERE id > 4; DELETE FROM placement_person WHERE event_id > 4;
      DELETE FROM detection_event; DELETE FROM log_leaf WHERE seq > 4`)
      forgetSignatures(db)
    })
    rmSync(join(dataDir, 'keys', 'log.head'))
    t.strictSame(verifyLedger(dataDir).mismatches, [], 'inside, everything matches')
    t.match(await compare(dataDir, note, keys), {
      holds: false,
      words: /7 leaves were signed, the log has only 4: its end was cut/,
    })
    t.match(await compare(dataDir, note.replace('\n7\n', '\n4\n'), keys), { holds: false, words: /it is a forgery/ })

    const refused = await gateway.restart().catch((error: unknown) => error)
    t.match(refused, { exitCode: 78 }, 'the count of leaves is also on the box')
    rmSync(join(dataDir, 'keys', 'log.count'))
    const again = await gateway.restart()
    t.teardown(() => again.end())
    for (const n of [5, 6, 7, 8]) await place(again, n)
    await again.checkpoints.make()
    t.equal(await showTo(witness, again), 422, 'also when other events were recorded in their place')
    await again.jobs.stop()
  },
)

t.test(
  'a log that was written anew is seen by the checkpoint in a notification that a receiver has kept',
  async (t) => {
    const gateway = await signedLedger(t)
    const { dataDir } = gateway
    const { keys } = await outside(gateway)
    const webhook = { url: 'https://erp.example/', events: ['whms.placement'], checkpoint: true }
    const paused = { ...webhook, active: false, hold: true }
    t.equal((await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: paused })).status, 201)
    await place(gateway, 8)
    gateway.webhooks.worker.start()
    await gateway.webhooks.worker.settled()
    await gateway.webhooks.worker.stop()
    const db = new BetterSqlite3(databaseFile(dataDir), { readonly: true })
    const carried = db.prepare('SELECT checkpoint FROM webhook_checkpoint ORDER BY from_seq DESC LIMIT 1').pluck().get()
    db.close()
    const checkpoint = JSON.parse(carried as string)
    t.match(checkpoint, { logId: gateway.logIdentity.logId, size: 7 })
    t.match(await compare(dataDir, checkpoint.note, keys), { holds: true })
    withoutGuards(dataDir, (file) => {
      rewriteEvent(file, 3, { assetBarcode: 'P-9', assetKey: 'P-9' }, `asset_barcode = 'P-9', asset_key = 'P-9'`)
      forgetSignatures(file)
    })
    rmSync(join(dataDir, 'keys', 'log.head'))
    t.strictSame(verifyLedger(dataDir).mismatches, [], 'inside, everything matches')
    t.match(await compare(dataDir, checkpoint.note, keys), { holds: false, words: /first 7 leaves have another root/ })
  },
)

t.test('a bundle that was signed again by another key fails for a reader who knows the key', async (t) => {
  const gateway = await signedLedger(t)
  const { keys, proof } = await outside(gateway)
  const bundle = JSON.parse(proof)
  const { index, path, note } = parseTlogProof(bundle.tlogProof)
  const [origin = '', size, root = ''] = note.split('\n')
  const signers = [newSigner(origin, 1), newSigner(origin, 6)]
  const forged = noteOf(checkpointText(origin, Number(size), Buffer.from(root, 'base64')), signers)
  const again = {
    ...bundle,
    tlogProof: formatTlogProof({ index, path, note: forged }),
    keys: signers.map(({ vkey }) => vkey),
  }
  t.match(
    await failing(JSON.stringify(again), keys),
    /^signature: no key of gatehouse\/test-site\/.* that is known here signed/,
  )
  t.equal(verifyIndependently(again, { keys }).failed, 'signature')
  t.equal(verifyIndependently(again).failed, undefined, 'only a key from elsewhere shows it')
})

t.test('a bundle of another log does not pass for one of this log', async (t) => {
  const gateway = await signedLedger(t)
  const { keys, proof } = await outside(gateway)
  const { bundle: other, keys: otherKeys } = goodBundle()
  t.match(
    await failing(JSON.stringify(other), keys),
    /^signature: no key of gatehouse\/dc-7\/.* that is known here signed/,
  )
  t.equal(verifyIndependently(other, { keys }).failed, 'signature')
  const mixed = { ...JSON.parse(proof), tlogProof: other.tlogProof }
  t.match(await failing(JSON.stringify(mixed), otherKeys), /^leaf: it is of another log than the checkpoint/)
  t.equal(verifyIndependently(mixed, { keys: otherKeys }).failed, 'leaf')
})

t.test('a proof for the wrong index fails at its path', async (t) => {
  const gateway = await signedLedger(t)
  const { keys, proof } = await outside(gateway)
  const bundle = JSON.parse(proof)
  const forged = { ...bundle, tlogProof: bundle.tlogProof.replace('\nindex 2\n', '\nindex 3\n') }
  t.match(await failing(JSON.stringify(forged), keys), /^path: the proof is for index 3, the leaf has number 3/)
  t.equal(verifyIndependently(forged, { keys }).failed, 'path')
})

t.test('a forged opening, an edited leaf and a photo of other bytes in a bundle fail at their steps', async (t) => {
  const gateway = await signedLedger(t)
  const { keys, proof } = await outside(gateway)
  const bundle = JSON.parse(proof)
  const openings = bundle.openings.map((one: { text: string }) => ({ ...one, text: 'nobody' }))
  t.match(await failing(JSON.stringify({ ...bundle, openings }), keys), /^openings: salt and text of .* do not open/)
  t.equal(verifyIndependently({ ...bundle, openings }, { keys }).failed, 'openings')
  const leaf = Buffer.from(Buffer.from(bundle.leaf, 'base64').toString().replace('P-3', 'P-9')).toString('base64')
  t.match(await failing(JSON.stringify({ ...bundle, leaf }), keys), /^root: the path leads to another root/)
  t.equal(verifyIndependently({ ...bundle, leaf }, { keys }).failed, 'root')
  const media = { [bundle.media[0].name]: Buffer.from('another photo') }
  t.equal(verifyIndependently(bundle, { keys, media }).failed, 'media')
})

t.test('a forged cosignature fails for a reader who knows the witness', async (t) => {
  const { bundle, keys, witnesses } = goodBundle()
  const [known] = witnesses
  if (!known) throw new Error('the bundle has no witness')
  const { index, path, note } = parseTlogProof(bundle.tlogProof)
  const line = note.split('\n').find((one) => one.startsWith(`— ${known.name} `)) ?? ''
  const [dash, name, base64 = ''] = line.split(' ')
  const bytes = Buffer.from(base64, 'base64')
  const later = Buffer.concat([bytes.subarray(0, 11), Buffer.of((bytes[11] ?? 0) ^ 1), bytes.subarray(12)])
  const forged = note.replace(line, [dash, name, later.toString('base64')].join(' '))
  const file = { ...bundle, tlogProof: formatTlogProof({ index, path, note: forged }) }
  t.match(
    await failing(JSON.stringify(file), [...keys, known.vkey]),
    /^cosignatures: the Ed25519 with a time signature of witness.example\/w1/,
  )
  t.equal(verifyIndependently(file, { keys: [...keys, known.vkey] }).failed, 'cosignatures')
})

/** Each row of the manual's table, with the tests that do it to a real database or a real bundle. */
const doneBy: Record<string, readonly string[]> = {
  'A row or its time is edited, two rows are exchanged': [
    'an edited row is named with its keys',
    'a changed time is named with its event',
    'two rows that were exchanged are both named',
  ],
  'Bytes of a leaf are changed, leaves exchanged': [
    'bytes of a leaf that are no UTF-8 are found, also where readers show the same text for them',
    'two leaves that were exchanged are named, and so is the checkpoint over them',
  ],
  'A row is removed with its leaf, also with renumbering': [
    'a row that was removed with its leaf leaves a gap',
    'leaves that were numbered anew after a removal still say their old numbers',
  ],
  'An event is rewritten with its leaf and all hashes': [
    'an event that was written anew with its leaf and all hashes does not fit the checkpoints',
  ],
  'The end is cut off with rows and checkpoints, or an old database is put back': [
    'a tail that was cut off with its rows and checkpoints is missing behind keys/log.head',
    'a database that was put back by hand is named by verification and refused at the start',
  ],
  'The end is cut off, and `keys/log.head` is removed': [
    'a tail that was cut off with every signature on the box is seen by a kept checkpoint and a witness',
  ],
  'The whole log is rewritten and signed again': [
    'a log that was written anew with all hashes, tiles and heads is seen by a kept checkpoint and a witness',
    'a log that was written anew is seen by the checkpoint in a notification that a receiver has kept',
  ],
  'A clip or photo is replaced': ['a clip that was swapped and a photo that was replaced are named'],
  'A text behind a commitment is forged': ['a forged opening does not open its commitment'],
  'An audit entry is changed': [
    'an audit entry that was changed is named by its number',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the title as it is in the source
    'a forged audit trail is found, and where: ${what}',
  ],
  'The newest audit entries (under a hundred, at most an hour) are changed with their hashes': [
    'entries that no leaf covers yet are not missed when they are changed with their hashes',
  ],
  'Guards of the database are removed or replaced': [
    'guards that were dropped and put back with other words are named',
  ],
  'A checkpoint, its time, a signature or a tile is changed': [
    'a row of a checkpoint with another root is named',
    'a row of a checkpoint with another time is named',
    'a checkpoint that somebody else signed, or that was put in between, is named',
    'a signature of the right key over something else is named',
    'a changed tile is named by level and number, also when the hash of its leaf was changed with it',
  ],
  'A cosignature or time stamp on the box is changed': [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the title as it is in the source
    'of what others signed, ${what} that was changed is named with its row',
  ],
  'The log is handed over to a key that never signed': [
    'a leaf that hands the log over to a key that never signed is found, and nothing more is signed',
  ],
  'Files in `keys/` are removed, damaged or put back': [
    'keys and the file of the last checkpoint are missed when they are gone, and a damaged one is named',
  ],
  'A bundle is signed by another key, or is of another log': [
    'a bundle that was signed again by another key fails for a reader who knows the key',
    'a bundle of another log does not pass for one of this log',
  ],
  'A leaf, path, text or photo of a bundle is forged': [
    'a proof for the wrong index fails at its path',
    'a forged opening, an edited leaf and a photo of other bytes in a bundle fail at their steps',
  ],
  'A cosignature of a bundle is forged': ['a forged cosignature fails for a reader who knows the witness'],
}

t.test('each row of the table of tampering in the manual is done by a test, and no such test is left out', (t) => {
  const page = readFileSync('src/console/help/en/evidence.md', 'utf8')
  const section = /\n## Tampering\n(.*?)(\n## |$(?![\s\S]))/s.exec(page)?.[1] ?? ''
  const rows = [...section.matchAll(/^\| ([^|]+) \|[^|]+\|[^|]+\|$/gm)].map(([, done = '']) => done.trim()).slice(1)
  t.strictSame(rows, Object.keys(doneBy))
  const titlesOf = (file: string) => {
    const source = readFileSync(`test/evidence/${file}.test.ts`, 'utf8')
    return [...source.matchAll(/(?:^ {4}title: |^ *t\.test\()\s*['`]((?:[^'`\\]|\\.)+)['`]/gm)].map(
      ([, title = '']) => title,
    )
  }
  const own = ['tampering', 'tampering-outside'].flatMap(titlesOf)
  const elsewhere = ['audit-trail', 'countersigned', 'key-rotation'].flatMap(titlesOf)
  const named = Object.values(doneBy).flat()
  t.ok(own.length > 20)
  t.strictSame(
    own.filter((title) => !named.includes(title) && !title.startsWith('each row of the table of tampering')),
    [],
  )
  t.strictSame(
    named.filter((title) => !own.includes(title) && !elsewhere.includes(title)),
    [],
  )
  t.end()
})
