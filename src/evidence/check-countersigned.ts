import { databaseFile, executor, openReader, type ReadTx } from '../database/index.ts'
import {
  type CountersignedRow,
  cosignaturesBehind,
  idOfLog,
  type StoredCosignature,
  type StoredTimestamp,
  timestampsBehind,
} from '../log/index.ts'
import { readFileIfThere } from '../platform/index.ts'
import { Findings, type Mismatch } from './findings.ts'
import { checkToken } from './timestamps/token.ts'
import { type NoteKey, readNote, readSignatureLine, readVkey, verifySignatures } from './transparency/note.ts'

/** Others whom the config names: vkeys of witnesses, and time stamp authorities with the file of their certificates. */
export type KnownOutsiders = {
  readonly witnesses: readonly string[]
  readonly authorities: readonly { readonly url: string; readonly caFile: string }[]
}

/** Number of countersignatures, and those not verified because the config does not name their signer now. */
export type Countersigned = {
  readonly cosignatures: number
  readonly timestamps: number
  /** Witnesses by name and key id, authorities by address, with the number of their signatures. */
  readonly unverified: readonly { readonly by: string; readonly count: number }[]
}

const rowsAtOnce = 256

/**
 * Checks each stored cosignature and time stamp: it is over the checkpoint of its row, states the time of its row, and its
 * signature holds. Yields the mismatches with the counts. Throws ExitError when the file cannot be opened.
 */
export async function checkCountersigned(
  dataDir: string,
  known: KnownOutsiders,
): Promise<Countersigned & { readonly mismatches: readonly Mismatch[]; readonly truncated: boolean }> {
  const db = openReader(databaseFile(dataDir))
  try {
    const check = new CountersignedCheck(executor(db), known)
    const cosignatures = await check.every(cosignaturesBehind, (row) => check.cosignature(row))
    const timestamps = await check.every(timestampsBehind, (row) => check.timestamp(row))
    const { mismatches, truncated } = check.findings
    return { cosignatures, timestamps, unverified: check.unverified(), mismatches, truncated }
  } finally {
    db.close()
  }
}

class CountersignedCheck {
  readonly findings = new Findings()
  readonly #tx: ReadTx
  readonly #keys: readonly NoteKey[]
  /** PEM by address. */
  readonly #authorities: ReadonlyMap<string, string | undefined>
  readonly #unverified = new Map<string, number>()

  constructor(tx: ReadTx, { witnesses, authorities }: KnownOutsiders) {
    this.#tx = tx
    this.#keys = witnesses.flatMap((vkey) => readVkey(vkey) ?? [])
    this.#authorities = new Map(authorities.map(({ url, caFile }) => [url, readFileIfThere(caFile)?.toString('utf8')]))
  }

  unverified(): { by: string; count: number }[] {
    return [...this.#unverified].map(([by, count]) => ({ by, count }))
  }

  /** Looks at all rows of a table, and returns how many there are. */
  async every<Row extends CountersignedRow>(
    behind: (tx: ReadTx, after: number, limit: number) => Row[],
    check: (row: Row) => void | Promise<void>,
  ): Promise<number> {
    for (let count = 0, after = 0; ; ) {
      const rows = behind(this.#tx, after, rowsAtOnce)
      for (const row of rows) await check(row)
      count += rows.length
      after = rows.at(-1)?.row ?? after
      if (rows.length < rowsAtOnce) return count
    }
  }

  cosignature(row: StoredCosignature): void {
    const what = this.#cosignatureFault(row)
    if (what !== undefined) this.findings.add(`cosignature of ${row.name} ${this.#place(row)}`, what)
  }

  #cosignatureFault(row: StoredCosignature): string | undefined {
    const line = row.line.endsWith('\n') ? readSignatureLine(row.line.slice(0, -1)) : undefined
    if (!row.note) return 'is under a checkpoint that is not there'
    if (line?.name !== row.name || line.signature.length < 8) return 'is not a signature line of that witness'
    if (line.signature.readBigUInt64BE() * 1000n !== BigInt(row.cosigned_at_ms)) {
      return 'its row names another time than its signature'
    }
    const key = this.#keys.find(({ name, id }) => name === line.name && id === line.id)
    if (!key) {
      this.#notVerified(`${line.name}+${line.id}`)
      return undefined
    }
    const cosigned = readNote(`${textOf(row.note)}\n${row.line}`)
    return cosigned && verifySignatures(cosigned, [key])[0]?.holds ? undefined : 'does not verify'
  }

  async timestamp(row: StoredTimestamp): Promise<void> {
    const found = (what: string) => this.findings.add(`time stamp of ${row.url} ${this.#place(row)}`, what)
    if (!row.note) {
      found('is of a checkpoint that is not there')
      return
    }
    const verdict = await checkToken(row.token, Buffer.from(textOf(row.note)), this.#authorities.get(row.url))
    if (verdict.kind === 'refused') {
      found(verdict.why)
      return
    }
    if (verdict.atMs !== row.stamped_at_ms) found('its row names another time than its token')
    if (!verdict.isTrusted) this.#notVerified(row.url)
  }

  #place({ log_id, size }: CountersignedRow): string {
    return `over ${size} leaves of log ${idOfLog(this.#tx, log_id) ?? log_id}`
  }

  #notVerified(by: string): void {
    this.#unverified.set(by, (this.#unverified.get(by) ?? 0) + 1)
  }
}

/** Returns the part of a note that its signatures cover. */
const textOf = (note: string) => note.slice(0, note.indexOf('\n\n') + 1)
