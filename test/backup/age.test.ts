import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient, Stanza } from 'age-encryption'
import t from 'tap'
import { readRecoveryLine, recoveryLine, restoreBackup } from '../../src/backup/index.ts'
import { openSealedFile } from '../../src/backup/sealing/sealed-file.ts'
import { Seal } from '../../src/backup/segments/seal.ts'
import { systemRandom, uuidv7Maker } from '../../src/platform/index.ts'
import { newFolder, place } from '../support/backups.ts'
import { needs } from '../support/needs.ts'
import { recoveryKeyOf, restoredFrom, segmenting, segmentsIn, written } from '../support/segments.ts'

const frozen = (name: string) => new URL(`../fixtures/backups/${name}`, import.meta.url)
const keyOf = (name: string) => readRecoveryLine(readFileSync(frozen(name), 'utf8')) ?? Buffer.alloc(0)
const bytesOf = (file: Uint8Array) => ({
  sizeBytes: file.length,
  read: (at: number, length: number) => Buffer.from(file.subarray(at, at + length)),
})

function restored(dataDir: string, file: string, recoveryKey: Buffer) {
  const nowMs = Date.parse('2026-03-09T08:00:00Z')
  return restoreBackup({
    dataDir,
    siteId: 'test-site',
    backup: file,
    recoveryKey,
    acceptFork: false,
    reserveBytes: 0,
    nowMs,
    makeId: uuidv7Maker({ now: () => nowMs }, systemRandom),
    erase: async () => {},
  })
}

t.test('a sealed backup that an earlier version made is restored', async (t) => {
  const box = newFolder(t)
  const file = join(box, 'older.tar.sealed')
  cpSync(frozen('sealed-file-1.tar.sealed'), file)
  const recoveryKey = keyOf('sealed-file-1.key')
  t.match(await restored(join(box, 'state'), file, recoveryKey), { events: 1 })
  await t.rejects(restored(join(box, 'other'), file, Buffer.alloc(32, 7)), { message: /under another recovery key/ })
  const bytes = readFileSync(file)
  bytes[2000] = (bytes[2000] ?? 0) ^ 1
  writeFileSync(file, bytes)
  await t.rejects(restored(join(box, 'other'), file, recoveryKey), { message: /does not open at byte 73/ })
})

t.test('segments that an earlier version made are restored', async (t) => {
  const folder = newFolder(t)
  cpSync(frozen('sealed-1'), folder, { recursive: true })
  const recoveryKey = keyOf('sealed-1.key')
  t.match(await restoredFrom(folder, join(newFolder(t), 'state'), { recoveryKey }), { events: 2 })
  await t.rejects(restoredFrom(folder, join(newFolder(t), 'state'), { recoveryKey: Buffer.alloc(32, 7) }), {
    message: /under another recovery key: its mark is [0-9a-f]{16}/,
  })
})

t.test('the recovery key is an age identity, and its earlier line is the same key', async (t) => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
  const line = recoveryLine(key)
  t.same(readRecoveryLine(`# created by hand\n# public key: age1…\n${line}\n`), key)
  t.same(readRecoveryLine(`gatehouse-recovery-1:${key.toString('base64url')}\n`), key)
  t.same(readRecoveryLine(line.toLowerCase()), key, 'bech32 has one case or the other')
  const made = await generateX25519Identity()
  t.equal(recoveryLine(readRecoveryLine(made) ?? Buffer.alloc(0)), made)
  const wrong = line.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'))
  for (const text of ['', line.slice(0, -1), wrong, `${line}\n${line}`, 'gatehouse-recovery-1:AAAA', 'age1x'])
    t.equal(readRecoveryLine(text), undefined, text)
})

t.test('age opens what the gateway seals: files of every length around the end of a piece', async (t) => {
  const recoveryKey = systemRandom(32)
  const seal = new Seal(recoveryKey)
  const age = new Decrypter()
  age.addIdentity(recoveryLine(recoveryKey))
  for (const length of [0, 1, 65_535, 65_536, 65_537, 200_000]) {
    const plain = systemRandom(length)
    const file = seal.seal(plain, 'dc-7/segments/1.seg', systemRandom)
    t.same(zstdDecompressSync(await age.decrypt(file)), plain, `age opens ${length} bytes`)
    t.same(seal.open(file, 'dc-7/segments/1.seg'), plain)
    t.throws(() => seal.open(file, 'dc-7/segments/2.seg'), { message: /cut, changed or renamed/ })
  }
})

t.test('the program age opens a segment of the gateway', needs('age'), async (t) => {
  const { gateway, folder } = await segmenting(t)
  await place(gateway, 2)
  await written(gateway)
  const box = newFolder(t)
  writeFileSync(join(box, 'key'), `${recoveryLine(recoveryKeyOf(gateway))}\n`)
  const [file = ''] = segmentsIn(folder)
  const plain = execFileSync('age', ['-d', '-i', join(box, 'key'), file])
  t.match(zstdDecompressSync(plain).toString('latin1'), /gatehouse-segment\/1/)
  t.same(readdirSync(box), ['key'])
})

t.test('a file that the public half of the key alone could make is refused', async (t) => {
  const recoveryKey = systemRandom(32)
  const recipient = await identityToRecipient(recoveryLine(recoveryKey))
  const byStranger = new Encrypter()
  byStranger.addRecipient(recipient)
  const open = (file: Uint8Array) => () => openSealedFile(bytesOf(file), recoveryKey)
  t.throws(open(await byStranger.encrypt('a ledger')), { message: /was not sealed by a gatehouse/ })

  const [, mark = ''] =
    /-> gatehouse ([0-9a-f]{16})\n/.exec(
      new Seal(recoveryKey).seal(Buffer.of(1), '', systemRandom).toString('latin1'),
    ) ?? []
  const forger = new Encrypter()
  forger.addRecipient(recipient)
  forger.addRecipient({ wrapFileKey: () => [new Stanza(['gatehouse', mark], systemRandom(32))] })
  const forged = await forger.encrypt('a ledger')
  t.match(Buffer.from(forged).toString('latin1'), `-> gatehouse ${mark}\n`)
  t.throws(open(forged), { message: /its header was cut, changed or renamed/ })
})
