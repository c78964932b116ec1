import { AppError } from '../../errors/index.ts'
import type { Clock } from '../../platform/index.ts'
import { hostOf, type Network } from './address-guard.ts'
import { allowedAddresses, ForbiddenAddress, type Resolve } from './guarded-agent.ts'

/** How long a registration waits for the resolver; the connection checks again in any case. */
const resolveLimitMs = 2000

export type UrlRules = {
  readonly named: readonly Network[]
  readonly resolve: Resolve
  readonly clock: Pick<Clock, 'after'>
}

/**
 * Checks the address of a webhook. A name that does not resolve within 2 s passes: the receiver may be set up after its
 * registration.
 * Throws WEBHOOK_URL_NOT_HTTPS or WEBHOOK_URL_FORBIDDEN.
 */
export async function checkEndpointUrl(text: string, rules: UrlRules): Promise<void> {
  const url = new URL(text)
  if (url.protocol !== 'https:') {
    throw refusal(
      'WEBHOOK_URL_NOT_HTTPS',
      'A webhook must have an HTTPS address',
      `expected https, not ${url.protocol.slice(0, -1)}`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw refusal('WEBHOOK_URL_FORBIDDEN', 'The address must not carry a user name or password', 'carries user info')
  }
  try {
    await within(resolveLimitMs, allowedAddresses(hostOf(url), rules.named, rules.resolve), rules.clock)
  } catch (error) {
    if (!(error instanceof ForbiddenAddress)) return
    throw refusal('WEBHOOK_URL_FORBIDDEN', 'The address is not open to webhooks', error.message)
  }
}

function refusal(code: 'WEBHOOK_URL_NOT_HTTPS' | 'WEBHOOK_URL_FORBIDDEN', message: string, problem: string): AppError {
  return new AppError(code, message, { fields: [{ path: 'url', message: problem }] })
}

/** Waits for `promise`, at most `limitMs`. */
function within(limitMs: number, promise: Promise<unknown>, clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, resolve)
    promise.then(() => resolve(), reject).finally(cancel)
  })
}
