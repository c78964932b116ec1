import type { ReadTx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import { type KnownLog, knownLogs, signedSize } from '../../log/index.ts'
import type { Findings } from '../findings.ts'
import { readHeadFile, type SignedHead } from './head-file.ts'

const place = 'keys/log.head'

/**
 * Compares `keys/log.head`, which is outside the database, with the log. Make it before anything else is read. The gateway writes
 * leaves first, then this file, then the checkpoint. So a running gateway is never behind its own file.
 */
export class HeadCheck {
  readonly #head: SignedHead | undefined
  readonly #isDamaged: boolean = false
  readonly #findings: Findings
  /** The growing log and its newest checkpoint, read before the file. */
  readonly #signed: { readonly logId: string; readonly size: number } | undefined

  constructor(tx: ReadTx, dataDir: string, findings: Findings) {
    this.#findings = findings
    const log = knownLogs(tx).at(-1)
    this.#signed = log && { logId: log.logId, size: signedSize(tx, log.number) }
    try {
      this.#head = readHeadFile(dataDir)
    } catch (error) {
      if (!(error instanceof ExitError)) throw error
      this.#isDamaged = true
      findings.add(place, 'is damaged')
    }
  }

  /** Whether the growing log has a checkpoint. */
  get wasSigned(): boolean {
    return (this.#signed?.size ?? 0) > 0
  }

  /** Compares the root over `size` leaves of a log; computes it only when log and size match the file. */
  root(logId: string, size: number, root: () => Buffer): void {
    const head = this.#head
    if (head?.logId !== logId || head.size !== size || head.root.equals(root())) return
    this.#findings.add(place, `was signed over ${size} leaves of log ${logId} with another root`)
  }

  /** Compares the rest, once the logs of the box are known. @param areKeysHere whether the keys beside it exist */
  end(logs: readonly KnownLog[], areKeysHere: boolean): void {
    const head = this.#head
    const signed = this.#signed
    if (!head) {
      if (areKeysHere && this.wasSigned && !this.#isDamaged)
        this.#findings.add(place, 'is missing, although the log was signed')
      return
    }
    const log = logs.find(({ logId }) => logId === head.logId)
    if (!log) this.#findings.add(place, `is of log ${head.logId}, which is not in this database`)
    else if (log.size < head.size) {
      this.#findings.add(place, `${head.size} leaves of log ${head.logId} were signed, the log has only ${log.size}`)
    } else if (signed && signed.size > (signed.logId === head.logId ? head.size : 0)) {
      this.#findings.add(
        place,
        `names ${head.size} leaves of log ${head.logId}, but ${signed.size} of log ${signed.logId} were signed`,
      )
    }
  }
}
