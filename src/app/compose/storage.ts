import { hkdfSync } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { firstAdminFile, hasAccounts, newFirstAdmin, StoredAccounts, storeFirstAdmin } from '../../auth/index.ts'
import { removeLeftRestore, settleRestore } from '../../backup/index.ts'
import { ClockBook, ExpiryClock, expiryMarkedMs } from '../../clock/index.ts'
import type { Config } from '../../config/index.ts'
import {
  DiskRoom,
  databaseFile,
  executor,
  openReader,
  openWriter,
  type ReadTx,
  type Tx,
  UnitOfWork,
} from '../../database/index.ts'
import { hasBadges } from '../../devices/index.ts'
import { ExitError } from '../../errors/index.ts'
import { signedNote } from '../../evidence/index.ts'
import { AuditDigests, AuditTrail, type CheckpointNote, inspector, Outbox } from '../../journal/index.ts'
import { headOf, LedgerHead } from '../../ledger/index.ts'
import {
  EvidenceStates,
  identifyLog,
  Log,
  type LogIdentity,
  type NewestHead,
  newestCheckpoint,
  newestHeadOf,
  Openings,
  People,
} from '../../log/index.ts'
import {
  ClockSync,
  loadBoxKey,
  type RandomBytes,
  readFileIfThere,
  secretBox,
  uuidv7Maker,
} from '../../platform/index.ts'
import { removeLeftRehearsal } from '../../upgrade/index.ts'
import { isAnyoneOwed, usableSecrets } from '../../webhooks/index.ts'
import { notifications } from '../notifications.ts'
import type { Outside } from '../outside.ts'

const keyBytes = 32

/**
 * Reads the key of the box, or makes it at the first start. Throws ExitError (78) when the database has secrets or badges and the key
 * is missing, damaged or another one. The file `box.key.lost` accepts the loss. It is removed once the key opens a secret again.
 */
function boxKeyOf(dataDir: string, tx: ReadTx, random: RandomBytes): Buffer {
  const path = join(dataDir, 'keys', 'box.key')
  const lostMark = `${path}.lost`
  const isLost = existsSync(lostMark)
  const found = readFileIfThere(path)
  const bytes = found?.length
  if (isLost && bytes !== keyBytes) rmSync(path, { force: true })
  else if (bytes !== undefined && bytes !== keyBytes) throw refusal(path, `has ${bytes} bytes instead of ${keyBytes}`)
  const secrets = usableSecrets(tx, found?.length === keyBytes ? secretBox(found, random) : undefined)
  if (!isLost && found === undefined && (secrets !== 'none' || hasBadges(tx)))
    throw refusal(path, 'is missing, although webhook secrets or badges in the database need it')
  if (!isLost && secrets === 'unusable')
    throw refusal(path, 'is not the key that sealed the webhook secrets in the database; another box may have it')
  if (isLost && secrets === 'usable') rmSync(lostMark)
  return loadBoxKey(path, random)
}

function refusal(path: string, found: string): ExitError {
  return new ExitError(
    78,
    `${path} ${found}. Put it back from a backup. If it is lost, run "touch ${path}.lost" and start: the gateway makes a new key. Then rotate the secret of each webhook, and register each badge again`,
  )
}

/** No gatehouse existed before: a clock that shows an earlier time has lost its battery. */
const noClockBeforeMs = Date.UTC(2026, 0, 1)

export type ComposedStorage = Awaited<ReturnType<typeof composeStorage>>

/**
 * Opens the data folder: the database, the log, the records beside every fact, and the keys of this box. A reload replaces the
 * config in `live`.
 * @param withFirstAdmin a start without a config: an empty database gets an admin
 */
export async function composeStorage(live: { config: Config }, outside: Outside, withFirstAdmin: boolean) {
  const { config } = live
  const { clock, random } = outside
  settleRestore(config.dataDir)
  // An open database always has one.
  const hadWriteAheadLog = sizeOf(`${databaseFile(config.dataDir)}-wal`) > 0
  const { db, close: closeWriter } = openWriter({ dataDir: config.dataDir, nowMs: clock.now() })
  removeLeftRestore(config.dataDir)
  removeLeftRehearsal(config.dataDir)
  const reader = openReader(databaseFile(config.dataDir))
  const tx = executor(db)
  const boxKey = boxKeyOf(config.dataDir, tx, random)
  const makeId = uuidv7Maker(clock, random)
  const atOnce = <T>(change: (tx: Tx) => T): T => db.transaction(() => change(tx)).immediate()
  const identity = atOnce(() => identifyLog(tx, config.site.id, makeId, clock.now()))
  if (withFirstAdmin) await makeFirstAdmin(config, outside, tx, atOnce)
  const storedAccounts = new StoredAccounts(tx, withFirstAdmin)

  const work = new UnitOfWork({ writer: db, reader })
  const logRoom = Log.open(tx, identity)
  const people = new People({ random, log: identity })
  const head = new LedgerHead({ ...headOf(tx), builtAtMs: noClockBeforeMs })
  for (const follower of [logRoom, people, head, storedAccounts]) work.follow(follower)

  const audit = new AuditTrail({ people, clock })
  const clockSync = new ClockSync({ clock, builtAtMs: noClockBeforeMs, ...outside.timeServices })
  const expiryClock = new ExpiryClock(clock, expiryMarkedMs(tx))
  const clockBook = new ClockBook({
    work,
    clock,
    expiryClock,
    log: outside.log,
    audit,
    sync: clockSync,
    builtAtMs: noClockBeforeMs,
    ledgerMs: () => headOf(tx).receivedAtMs,
  })
  return {
    db,
    tx,
    atOnce,
    makeId,
    work,
    logRoom,
    people,
    head,
    storedAccounts,
    hadWriteAheadLog,
    room: new DiskRoom({
      folder: config.dataDir,
      reserveBytes: () => live.config.retention.ledgerReserveBytes,
    }),
    clockSync,
    clockBook,
    expiryClock,
    audit,
    evidenceStates: new EvidenceStates({
      policy: () => ({
        names: witnessNames(live.config),
        quorum: live.config.evidence.quorum,
      }),
    }),
    openings: new Openings({ random }),
    auditDigests: new AuditDigests({ work, log: logRoom, makeId, clock, logger: outside.log }),
    outbox: outboxOf(config, outside, makeId),
    newestCheckpoint: newestHead(tx, identity),
    box: secretBox(boxKey, random),
    derivedKey: (use: string) => new Uint8Array(hkdfSync('sha256', boxKey, '', use, 32)),
    close: () => {
      work.close()
      reader.close()
      closeWriter()
    },
  }
}

function outboxOf(config: Config, outside: Outside, makeId: () => string): Outbox {
  const { log, isOwed } = outside
  const onMismatch =
    outside.onMismatch ?? ((type, problem) => log.error({ type, problem }, 'a notification is not as documented'))
  return new Outbox({
    siteId: config.site.id,
    warehouseId: config.site.warehouseId,
    makeId,
    inspect: inspector(notifications, onMismatch),
    isOwed: isOwed ?? isAnyoneOwed,
  })
}

/**
 * Returns a function for the newest checkpoint as notifications carry it, with the cosignatures that it has by then. It reads
 * through the writer, so the checkpoint is that of the transaction. The note has several KiB; it is read only after a new
 * checkpoint or cosignature. The root counts as well as the size, because a checkpoint that was rolled back may be followed by
 * another one of its size.
 */
function newestHead(tx: Tx, { number, logId }: LogIdentity): () => CheckpointNote | undefined {
  let read: { readonly head: NewestHead; readonly note: CheckpointNote | undefined } | undefined
  return () => {
    const head = newestHeadOf(tx, number)
    if (!head || !read || !isDeepStrictEqual(read.head, head)) read = head && { head, note: noteNow() }
    return read?.note
  }

  function noteNow(): CheckpointNote | undefined {
    const newest = newestCheckpoint(tx, number)
    return newest && { logId, size: newest.size, root: newest.root.toString('hex'), note: signedNote(tx, newest) }
  }
}

/** Makes the admin of a gateway that runs without a config, at its first start. Its secret is written to a file. */
async function makeFirstAdmin(config: Config, { clock, random, log }: Outside, tx: Tx, atOnce: AtOnce): Promise<void> {
  const firstAdmin = hasAccounts(tx) ? undefined : await newFirstAdmin(random)
  if (firstAdmin) atOnce(() => storeFirstAdmin(tx, config.dataDir, firstAdmin.account, firstAdmin.secret, clock.now()))
  log.info(
    { username: 'admin', instance: config.site.url, secretFile: firstAdminFile(config.dataDir) },
    firstAdmin ? 'first start: an admin was made' : 'sign in as admin',
  )
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

type AtOnce = <T>(change: (tx: Tx) => T) => T

/** Returns everybody whose cosignatures count: the witnesses that are asked, and the head office. */
function witnessNames({ evidence, hub }: Config): string[] {
  const ofHub = hub.vkey === null ? [] : [hub.vkey.slice(0, hub.vkey.indexOf('+'))]
  return [...new Set([...evidence.witnesses.map(({ name }) => name), ...ofHub])]
}
