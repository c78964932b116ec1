import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyLedger } from '../../../src/evidence/index.ts'
import { nodesOf, rootOf } from '../../../src/log/index.ts'
import { people, type TestGateway, testGateway } from '../gateway.ts'
import { allOf } from '../plain-sql.ts'
import { type Acknowledged, backupsFolder, secondBox, segmentsFolder } from './acknowledged.ts'
import { lifeConfig } from './config.ts'

/** Photos that no event may name yet, and some more. */
const newestPhotos = 12

type Of<Kind extends Acknowledged['kind']> = Extract<Acknowledged, { kind: Kind }>

/**
 * Starts what a power cut left, and compares it with the acknowledged facts before. Throws an Error that names the first loss.
 * @param folder holds the data folder `state`; it is changed
 */
export async function checkAfterCut(folder: string, facts: readonly Acknowledged[]): Promise<void> {
  const of = <Kind extends Acknowledged['kind']>(kind: Kind) =>
    facts.filter((one): one is Of<Kind> => one.kind === kind)
  demandFile(folder, 'gatehouse.db')
  const gateway = await testGateway({ folder, config: lifeConfig(folder), onlyWhenOwed: true })
  try {
    demandEvents(gateway, of('event'))
    for (const one of of('checkpoint')) demandContinued(gateway, one)
    for (const one of of('upload owed')) demandUpload(gateway, one)
    // The verification below reads the older ones.
    for (const { path, sha256 } of of('photo').slice(-newestPhotos)) {
      const answer = await gateway.ask('GET', path, { by: people.ada })
      if (answer.status !== 200 || hash('sha256', answer.bytes) !== sha256) throw new Error(`photo ${path} is lost`)
    }
    demandClips(gateway, facts)
    await demandSessions(gateway, of('session'))
    await demandSettings(gateway, of('setting'))
    const made = await gateway.checkpoints.make()
    if (gateway.checkpoints.stopped) throw new Error(`the log is not signed: ${gateway.checkpoints.stopped}`)
    demandKeys(made.note, of('keys'))
    const verified = verifyLedger(gateway.live.config.dataDir)
    if (!verified.ok) throw new Error(`the ledger does not verify: ${JSON.stringify(verified.mismatches[0])}`)
  } finally {
    gateway.close()
  }
  for (const { name, sha256 } of of('backup')) {
    const file = join(folder, backupsFolder, name)
    if (!existsSync(file) || hash('sha256', readFileSync(file)) !== sha256) throw new Error(`backup ${name} is lost`)
  }
  demandSegments(folder, of('segments'))
  await demandSecondBox(folder, facts)
}

function demandFile(folder: string, name: string): void {
  // A restore moves it away for an instant; its note is there then.
  const state = join(folder, 'state')
  if (!existsSync(join(state, name)) && !existsSync(join(state, 'restore.json'))) throw new Error(`${name} is lost`)
}

type Row = { readonly id: number; readonly client: string; readonly hash: string }

function demandEvents(gateway: TestGateway, facts: readonly Of<'event'>[]): void {
  const sql = 'SELECT id, client_event_id AS client, evidence_hash AS hash FROM placement_event'
  const rows = gateway.work.read((tx) => allOf<Row>(tx, sql))
  const byClient = new Map(rows.map((row) => [row.client, row]))
  if (byClient.size !== rows.length) throw new Error('an event is there twice')
  for (const { id, clientId, hash } of facts) {
    const row = byClient.get(clientId)
    if (!row) throw new Error(`event ${clientId} of ${facts.length} is lost`)
    if (row.id !== id || row.hash !== hash) throw new Error(`event ${clientId} is another one`)
  }
}

function demandContinued(gateway: TestGateway, { log, size, root }: Of<'checkpoint'>): void {
  const now = gateway.work.read((tx) => {
    const [known] = allOf<{ size: number }>(tx, `SELECT max(seq) AS size FROM log_leaf WHERE log_id = ${log}`)
    return (known?.size ?? 0) < size ? undefined : rootOf(size, nodesOf(tx, log, size)).toString('hex')
  })
  if (now === undefined) throw new Error(`the log is shorter than the ${size} leaves of a checkpoint`)
  if (now !== root) throw new Error(`the checkpoint over ${size} leaves is not continued`)
}

function demandUpload(gateway: TestGateway, { path, sha256 }: Of<'upload owed'>): void {
  const sql = 'SELECT id FROM upload WHERE path = ? AND sha256 = ?'
  if (gateway.work.read((tx) => allOf(tx, sql, [path, sha256])).length !== 1)
    throw new Error(`upload ${path} is not owed`)
}

/** A clip is whole, or its facts are there, from which the next start makes it or states its loss. */
function demandClips(gateway: TestGateway, facts: readonly Acknowledged[]): void {
  const clips = join(gateway.live.config.dataDir, 'clips')
  const rows = gateway.work.read((tx) => allOf<{ id: number }>(tx, 'SELECT id FROM detection_event'))
  const isRecorded = (id: number) => rows.some((row) => row.id === id)
  for (const one of facts) {
    if (one.kind === 'clip begun' && !isRecorded(one.id) && !hasFacts(join(clips, `${one.id}.json`)))
      throw new Error(`the facts of clip ${one.id} are lost`)
    if (one.kind === 'clip recorded' && !isRecorded(one.id)) throw new Error(`the row of clip ${one.id} is lost`)
    if (one.kind !== 'clip finished') continue
    const file = join(clips, `${one.id}.mp4`)
    if (!existsSync(file) || hash('sha256', readFileSync(file)) !== one.sha256)
      throw new Error(`clip ${one.id} is lost`)
  }
}

function hasFacts(file: string): boolean {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).facts !== undefined
  } catch {
    return false
  }
}

async function demandSessions(gateway: TestGateway, facts: readonly Of<'session'>[]): Promise<void> {
  // The newest word about a cookie holds.
  for (const [cookie, isSignedIn] of new Map(facts.map((one) => [one.cookie, one.isSignedIn]))) {
    const { status } = await gateway.ask('GET', '/api/whms/slots', { headers: { Cookie: cookie } })
    if (isSignedIn && status !== 200) throw new Error(`a session is lost: ${status}`)
    if (!isSignedIn && status !== 401) throw new Error(`a session that was ended goes on: ${status}`)
  }
}

async function demandSettings(gateway: TestGateway, facts: readonly Of<'setting'>[]): Promise<void> {
  const { body } = await gateway.ask('GET', '/api/whms/slots?limit=500', { by: people.ada })
  for (const { slot } of facts) {
    if (!JSON.stringify(body.data).includes(`"${slot}"`)) throw new Error(`slot ${slot} is lost`)
  }
}

/** A rotation that was answered is not undone. The name of a key is in each of its signature lines. */
function demandKeys(note: string, facts: readonly Of<'keys'>[]): void {
  const newest = facts.at(-1)
  if (!newest) return
  for (const vkey of newest.vkeys) {
    const [name, id] = vkey.split('+')
    const line = note.split('\n').find((one) => {
      const [, by, signature] = one.split(' ')
      return (
        by === name &&
        Buffer.from(signature ?? '', 'base64')
          .subarray(0, 4)
          .toString('hex') === id
      )
    })
    if (line === undefined) throw new Error(`the checkpoint is not signed by the new key ${name}+${id}`)
  }
}

function demandSegments(folder: string, facts: readonly Of<'segments'>[]): void {
  const files = readdirSync(join(folder, segmentsFolder), { recursive: true }) as string[]
  const count = files.filter((name) => name.endsWith('.seg')).length
  if (count < (facts.at(-1)?.count ?? 0))
    throw new Error(`${facts.at(-1)?.count} segments were written, ${count} are there`)
}

/** A restore is whole, or the next start finishes it, or nothing of it is there. */
async function demandSecondBox(folder: string, facts: readonly Acknowledged[]): Promise<void> {
  const isReached = (chapter: string) => facts.some((one) => one.kind === 'chapter' && one.name === chapter)
  const isRestored = isReached('restore on another box')
  // Its files do not change any more.
  if (isReached('scans after a restore')) return
  const box = join(folder, secondBox)
  const isBegun = ['gatehouse.db', 'restore.json'].some((name) => existsSync(join(box, 'state', name)))
  if (!isBegun && isRestored) throw new Error('the restored box is lost')
  if (!isBegun) return
  const gateway = await testGateway({ folder: box, onlyWhenOwed: true })
  try {
    const events = gateway.work.read((tx) => allOf(tx, 'SELECT id FROM placement_event')).length
    if (events === 0) throw new Error('the restored box has no event')
    const verified = verifyLedger(gateway.live.config.dataDir)
    if (!verified.ok) throw new Error(`the restored ledger does not verify: ${JSON.stringify(verified.mismatches[0])}`)
  } finally {
    gateway.close()
  }
}
