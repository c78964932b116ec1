import { AppError } from '../../errors/index.ts'
import type { SlidingWindow } from '../../flow/index.ts'
import { sha256 } from '../../log/index.ts'
import { type Logger, networkOf } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { builtStatement, sql } from '../store/statement.ts'

const validTokens = builtStatement('valid-tokens', {}, () =>
  sql.selectFrom('gateway_token').select('token_hash').where('revoked_at', 'is', null),
)

/** A gateway whose token is refused tries again after a minute, then less often. */
const wrongOfLogAMinute = 10
/** For all logs that are claimed from one network. */
const wrongOfNetworkAMinute = 120
/** Networks and logs of which a line of the log says that a token is wrong, a minute. */
const linesAMinute = 10

export type TokenRefusal = 'wrong' | 'limited'

type TokenLimitNeeds = {
  readonly window: SlidingWindow
  readonly log: Logger
  readonly onRefused: (how: TokenRefusal) => void
}

/** The log that a token claims, and the address of the caller. */
export type Claim = { readonly token: string; readonly logId: string; readonly address: string }

/**
 * Limits wrong tokens, by the network they come from and by the log that they claim. A token that was valid at the start, or was
 * made since, is looked up in any case. So a box with a wrong token keeps out no other box behind its address. No caller keeps a
 * box out by claiming its log.
 */
export class TokenLimit {
  readonly #needs: TokenLimitNeeds
  readonly #valid: Set<string>

  private constructor(needs: TokenLimitNeeds, valid: Set<string>) {
    this.#needs = needs
    this.#valid = valid
  }

  /** Reads which tokens are valid now; of each only the hash. */
  static async read(db: HubTx, needs: TokenLimitNeeds): Promise<TokenLimit> {
    const rows = await db.rows(validTokens, {})
    return new TokenLimit(needs, new Set(rows.map(({ token_hash: hash }) => hash.toString('base64'))))
  }

  /** Remembers a token that was made now. */
  made(token: string): void {
    this.#valid.add(nameOf(token))
  }

  /** Looks a token up, unless too many wrong ones came before. Throws RATE_LIMITED, and the errors of `look`. */
  async check<T>(claim: Claim, look: () => Promise<T>): Promise<T> {
    const name = nameOf(claim.token)
    if (!this.#valid.has(name)) this.#demandLeft(claim)
    try {
      const found = await look()
      // Another process may have made it.
      this.#valid.add(name)
      return found
    } catch (error) {
      if (error instanceof AppError && error.code === 'INVALID_CREDENTIALS') {
        this.#valid.delete(name)
        this.#wrong(claim)
      }
      throw error
    }
  }

  #demandLeft(claim: Claim): void {
    const { window, onRefused } = this.#needs
    for (const [key, limit] of limitsOf(claim)) {
      const { left, seconds } = window.left(key, limit)
      if (left > 0) continue
      onRefused('limited')
      throw new AppError('RATE_LIMITED', 'Too many wrong tokens', { retryAfterSeconds: Math.max(1, seconds) })
    }
  }

  #wrong(claim: Claim): void {
    const { window, log, onRefused } = this.#needs
    for (const [key, limit] of limitsOf(claim)) window.take(key, limit)
    onRefused('wrong')
    const [, [ofLog]] = limitsOf(claim)
    if (window.take(`line ${ofLog}`, 1) > 0 || window.take('lines', linesAMinute) > 0) return
    log.warn({ logId: claim.logId, network: networkOf(claim.address) }, 'a gateway came with a wrong token')
  }
}

/** The network first: a caller that is over its limit begins no further counts, however many logs it names. */
function limitsOf({ logId, address }: Claim): [[string, number], [string, number]] {
  const network = networkOf(address)
  return [
    [`wrong ${network}`, wrongOfNetworkAMinute],
    [`wrong ${network} ${logId}`, wrongOfLogAMinute],
  ]
}

const nameOf = (token: string): string => sha256(token).toString('base64')
