import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../errors/index.ts'
import { readVkey } from '../../evidence/index.ts'
import type { EnrolBody } from '../../feed/index.ts'
import { sha256 } from '../../log/index.ts'
import { type Clock, type Logger, type RandomBytes, randomSecret } from '../../platform/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { ensureHead, formerLogs } from '../feed/store.ts'
import type { HubDatabase } from '../store/database.ts'
import { findEnrolledLog, putEnrolment, putLog, putSite, putToken, reviveLogs, useEnrolment } from './store.ts'

/** How long a code can be used. */
const codeForMs = 24 * 60 * 60 * 1000
const secretBytes = 20
const tokenBytes = 32

export type EnrolServiceNeeds = {
  readonly db: HubDatabase
  readonly clock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly log: Logger
  /** The verifier key of the head office as a witness. */
  readonly vkey: string
}

/** Lets gateways in: a code of one use becomes a token, and the keys of the gateway's log become known. */
export class EnrolService {
  readonly #needs: EnrolServiceNeeds

  constructor(needs: EnrolServiceNeeds) {
    this.#needs = needs
  }

  /**
   * Makes a code for a site: `<secret>.<fingerprint>`. The fingerprint is the SHA-256 of the authority that the gateway has to find
   * at this address. It is empty where public authorities vouch for the address.
   */
  async makeCode(site: { readonly siteId: string; readonly name: string }, fingerprint: string) {
    const { db, clock, random } = this.#needs
    const secret = randomSecret(random, secretBytes)
    const madeAtMs = clock.now()
    const expiresAtMs = madeAtMs + codeForMs
    await putEnrolment(db, { codeHash: sha256(secret), ...site, madeAtMs, expiresAtMs })
    return { code: `${secret}.${fingerprint}`, expiresAtMs }
  }

  /**
   * Enrols a gateway and returns its token, which is shown this once. Throws ENROLMENT_REFUSED for a code that is not valid, LOG_TAKEN
   * for a log that is known with other keys, VALIDATION_ERROR for keys of another log.
   */
  async enrol({
    code,
    siteId,
    timezone,
    logId,
    vkeys,
  }: EnrolBody): Promise<{ readonly token: string; readonly vkey: string }> {
    const { db, clock, random, log } = this.#needs
    const origin = originOfLog({ siteId, logId })
    const keys = vkeys.map(readVkey)
    if (!keys.every((key) => key?.name === origin && (key.type === 1 || key.type === 6))) {
      throw AppError.field('vkeys', `expected verifier keys of ${origin}`)
    }
    if (!isTimezone(timezone)) throw AppError.field('timezone', 'expected an IANA time zone')
    const token = randomSecret(random, tokenBytes)
    const nowMs = clock.now()
    const [secret = ''] = code.split('.')
    await db.transaction(async (tx) => {
      const name = await useEnrolment(tx, sha256(secret), siteId, nowMs)
      if (name === undefined) {
        throw new AppError('ENROLMENT_REFUSED', 'This code is wrong, too old, used, or of another site')
      }
      await putSite(tx, { siteId, name, timezone })
      await putLog(tx, { logId, siteId, origin, vkeys }, nowMs)
      const known = await findEnrolledLog(tx, logId)
      if (known?.site_id !== siteId || !isDeepStrictEqual(known.vkeys, vkeys)) {
        throw new AppError(
          'LOG_TAKEN',
          'This log is known here with other keys, or for another site; after a restore run gatehouse restore --accept-fork first',
        )
      }
      await reviveLogs(tx, [logId, ...(await formerLogs(tx, logId))])
      await putToken(tx, sha256(token), siteId, nowMs)
    })
    await ensureHead(db, logId)
    log.info({ siteId, logId }, 'a gateway has enrolled')
    return { token, vkey: this.#needs.vkey }
  }
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
