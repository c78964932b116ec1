import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type KnownOutsiders, verifyWithOutsiders } from '../../src/evidence/index.ts'
import { newSigner } from '../support/evidence/forge.ts'
import { stampAuthority } from '../support/evidence/stamps.ts'
import { people } from '../support/gateway.ts'
import { fileNeeds } from '../support/needs.ts'
import { signedLedger, withoutGuards } from '../support/tamper.ts'

fileNeeds(t, 'openssl')

const witness = newSigner('witness.example/w1', 4)
const atSeconds = 1_772_438_700n
const url = 'http://tsa.example/tsr'

type Countersigned = { readonly dataDir: string; readonly known: KnownOutsiders }

/** A ledger of which each head is cosigned and the last one stamped, by rows as the gateway writes them. */
async function countersigned(t: Test): Promise<Countersigned> {
  const gateway = await signedLedger(t)
  const authority = stampAuthority(t)
  const { body } = await gateway.ask('GET', '/api/log/checkpoints', { by: people.vera })
  const heads: { size: number; text: string }[] = body.data.map(({ size, note }: { size: number; note: string }) => ({
    ...{ size, text: note.slice(0, note.indexOf('\n\n') + 1) },
  }))
  const [newest] = heads
  if (!newest) throw new Error('no head was signed')
  const token = authority.stamp(newest.text)
  withoutGuards(gateway.dataDir, (db) => {
    const cosignature = db.prepare('INSERT INTO log_cosignature VALUES (?, 1, ?, ?, ?, ?, ?)')
    heads.toReversed().forEach(({ size, text }, i) => {
      const ms = Number(atSeconds) * 1000
      cosignature.run(i + 1, size, witness.name, witness.line(text, atSeconds), ms, ms)
    })
    db.prepare('INSERT INTO log_timestamp VALUES (1, 1, ?, ?, ?, ?, ?)').run(
      newest.size,
      url,
      token,
      timeOf(gateway.folder, token),
      1,
    )
  })
  const known: KnownOutsiders = { witnesses: [witness.vkey], authorities: [{ url, caFile: authority.file }] }
  gateway.close()
  return { dataDir: gateway.dataDir, known }
}

/** The time in a token, as openssl prints it. */
function timeOf(folder: string, token: Buffer): number {
  const file = join(folder, 'token')
  writeFileSync(file, token)
  const text = execFileSync('openssl', ['ts', '-reply', '-in', file, '-token_in', '-text'], {
    stdio: 'pipe',
  }).toString()
  return Date.parse(/^Time stamp: (.+)$/m.exec(text)?.[1] ?? '')
}

let original: Countersigned
t.before(async () => {
  original = await countersigned(t)
})

/** A copy of the ledger, changed by somebody who takes the guards away and puts them back. */
function changed(t: Test, sql: string): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-countersigned-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  cpSync(original.dataDir, dataDir, { recursive: true })
  withoutGuards(dataDir, (db) => db.exec(sql))
  return dataDir
}

t.test('cosignatures and time stamps that nobody has touched verify, as far as their signers are known', async (t) => {
  const { dataDir, known } = original
  const nobody = { witnesses: [], authorities: [] }
  const counts = { cosignatures: 3, timestamps: 1 }
  t.match(await verifyWithOutsiders(dataDir, known), {
    ...{ ok: true, mismatches: { length: 0 } },
    countersigned: { ...counts, unverified: { length: 0 } },
  })
  const [, id] = witness.vkey.split('+')
  t.match(await verifyWithOutsiders(dataDir, nobody), {
    ...{ ok: true, mismatches: { length: 0 } },
    countersigned: {
      ...counts,
      unverified: [
        { by: `${witness.name}+${id}`, count: 3 },
        { by: url, count: 1 },
      ],
    },
  })
})

const line = `(SELECT line FROM log_cosignature WHERE row = 2)`
const byName = 'cosignature of witness.example/w1 over 7 leaves'
const stamped = 'time stamp of http://tsa.example/tsr over 7 leaves'
const changes: [string, string, string, RegExp][] = [
  ['a time', 'UPDATE log_cosignature SET cosigned_at_ms = 1 WHERE row = 3', byName, /another time than its signature/],
  ['a line of another head', `UPDATE log_cosignature SET line = ${line} WHERE row = 3`, byName, /does not verify/],
  [
    'a line of somebody else',
    `UPDATE log_cosignature SET line = replace(line, 'w1', 'w2') WHERE row = 3`,
    ...[byName, /is not a signature line of that witness/],
  ] as never,
  ['a line that is none', `UPDATE log_cosignature SET line = 'x' WHERE row = 3`, byName, /not a signature line/],
  ['a stamped time', 'UPDATE log_timestamp SET stamped_at_ms = 1', stamped, /another time than its token/],
  ['a token', `UPDATE log_timestamp SET token = x'00'`, stamped, /cannot be read/],
  ['the size of a token', 'UPDATE log_timestamp SET size = 4', stamped.replace('7', '4'), /stamps another hash/],
]

for (const [what, sql, where, words] of changes) {
  t.test(`of what others signed, ${what} that was changed is named with its row`, async (t) => {
    const { ok, mismatches } = await verifyWithOutsiders(changed(t, sql), original.known)
    t.notOk(ok)
    t.equal(mismatches.length, 1)
    t.ok(mismatches[0]?.where.startsWith(where), `it is at ${mismatches[0]?.where}`)
    t.match(mismatches[0]?.what, words)
  })
}
