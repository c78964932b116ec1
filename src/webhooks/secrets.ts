import { blob, built, change, integer, maybe, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import type { RandomBytes, SecretBox } from '../platform/index.ts'
import type { Secrets } from './sending/signature.ts'
import { sql, tables } from './tables.ts'

const signing = statement({
  columns: { secret: blob },
  sql: `SELECT secret FROM (
      SELECT secret, ${Number.MAX_SAFE_INTEGER} AS until_ms FROM webhook WHERE id = +?
      UNION ALL SELECT secret, valid_until_ms FROM webhook_retired_secret WHERE webhook_id = +? AND valid_until_ms > +?)
    ORDER BY until_ms DESC`,
})
const newestRetired = statement({
  columns: { ms: maybe(integer) },
  sql: 'SELECT max(valid_until_ms) AS ms FROM webhook_retired_secret WHERE webhook_id = +?',
})
const allSealed = built({}, () => sql.selectFrom('webhook').select(['id', 'secret']))
const retired = change('INSERT INTO webhook_retired_secret SELECT id, ?, secret FROM webhook WHERE id = +?')
const withoutOldest = change(`DELETE FROM webhook_retired_secret WHERE webhook_id = +? AND valid_until_ms NOT IN (
  SELECT valid_until_ms FROM webhook_retired_secret WHERE webhook_id = +? ORDER BY valid_until_ms DESC LIMIT ?)`)
const withoutRetired = built(pick(tables.webhook_retired_secret, 'webhook_id'), ({ webhook_id }) =>
  sql.deleteFrom('webhook_retired_secret').where('webhook_id', '=', webhook_id),
)
const withoutExpired = built({ ms: integer }, ({ ms }) =>
  sql.deleteFrom('webhook_retired_secret').where('valid_until_ms', '<=', ms),
)

/** How long a secret that a rotation has replaced goes on signing beside its successor. */
export const overlapMs = 24 * 60 * 60 * 1000

/** At most so many old secrets sign after rotations within the overlap; more would fill the header. */
const mostRetired = 8

const secretBytes = 32

/** A new secret, in the form that the libraries of Standard Webhooks take as it is. */
export function newSecret(random: RandomBytes): string {
  return `whsec_${random(secretBytes).toString('base64')}`
}

/** Binds a sealed secret to its webhook. */
export function contextOf(webhookId: string): string {
  return `webhook:${webhookId}`
}

/** The secrets of a webhook that sign now, sealed: the current one first. The row must be there. */
export function sealedSecretsOf(tx: ReadTx, webhookId: string, nowMs: number): Buffer[] {
  const rows = tx.all(signing, [webhookId, webhookId, nowMs])
  if (rows.length === 0) throw new Error(`webhook ${webhookId} is gone`)
  return rows.map(({ secret }) => secret)
}

/** Throws when one was sealed with another box's key. */
export function openSecrets(box: SecretBox, webhookId: string, sealed: readonly Buffer[]): Secrets {
  // One value for each sealed one, and at least one is sealed.
  return sealed.map((one) => box.open(one, contextOf(webhookId))) as unknown as Secrets
}

/**
 * Tells whether the box opens the current secret of a webhook. `unusable`: there are webhooks, and it opens the secret of none.
 * @param box undefined without its key
 */
export function usableSecrets(tx: ReadTx, box: SecretBox | undefined): 'none' | 'usable' | 'unusable' {
  const webhooks = tx.all(allSealed)
  const opens = ({ id, secret }: (typeof webhooks)[number]) => {
    try {
      return box?.open(secret, contextOf(id)) !== undefined
    } catch {
      return false
    }
  }
  if (webhooks.length === 0) return 'none'
  return webhooks.some(opens) ? 'usable' : 'unusable'
}

/** So many webhooks' secrets are kept open; a site has a few. */
const mostOpen = 200

/** Opens sealed secrets, each once: they stay open for as long as the sealed bytes are the same. */
export class OpenSecrets {
  readonly #box: SecretBox
  readonly #open = new Map<string, { readonly sealed: readonly Buffer[]; readonly secrets: Secrets }>()

  constructor(box: SecretBox) {
    this.#box = box
  }

  /** As `openSecrets`. */
  of(webhookId: string, sealed: readonly Buffer[]): Secrets {
    const known = this.#open.get(webhookId)
    if (known && areSame(known.sealed, sealed)) return known.secrets
    const secrets = openSecrets(this.#box, webhookId, sealed)
    if (this.#open.size >= mostOpen) this.#open.clear()
    this.#open.set(webhookId, { sealed, secrets })
    return secrets
  }
}

const areSame = (some: readonly Buffer[], others: readonly Buffer[]): boolean =>
  some.length === others.length && some.every((one, i) => others[i]?.equals(one))

/** Keeps the current secret as a retired one. Returns until when it signs. */
export function retireSecret(tx: Tx, webhookId: string, nowMs: number): number {
  const newest = tx.get(newestRetired, [webhookId])
  const untilMs = Math.max(nowMs + overlapMs, (newest?.ms ?? 0) + 1)
  tx.run(retired, [untilMs, webhookId])
  tx.run(withoutOldest, [webhookId, webhookId, mostRetired])
  return untilMs
}

/** Ends the overlap of a webhook at once: its secret may have leaked. */
export function dropRetired(tx: Tx, webhookId: string): void {
  tx.run(withoutRetired, { webhook_id: webhookId })
}

/** Removes secrets whose overlap has ended. */
export function removeRetired(tx: Tx, nowMs: number): void {
  tx.run(withoutExpired, { ms: nowMs })
}
