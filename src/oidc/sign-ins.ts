import type { Context } from 'hono'
import { Recent, type Sessions, tooManySignIns } from '../auth/index.ts'
import { callbackNameOf, isOidcInstance, oidcInstance } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import { FairTurns } from '../flow/index.ts'
import { type AppEnv, identityOf } from '../http/index.ts'
import { type Clock, type Logger, networkOf, type RandomBytes, type SecretBox } from '../platform/index.ts'
import { failureOf, ProviderFailure } from './failures.ts'
import { askedOf, type Flow, giveFlow, localPath, newFlow, takeFlow } from './flow.ts'
import { writeGrant } from './grant.ts'
import type { ProviderPeople } from './people.ts'
import type { Provider } from './provider.ts'

type SignInsNeeds = {
  readonly people: ProviderPeople
  readonly sessions: Pick<Sessions, 'beginByGrant'>
  readonly box: SecretBox
  readonly random: RandomBytes
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
}

type Begin = { readonly issuer: string; readonly returnTo: string; readonly earlier: string | undefined }

/** Where the browser goes after an answer of a provider; with the token of the new session. */
type Done = { readonly location: string; readonly token: string } | { readonly location: string }

const statesInMemory = 10_000

/** Sends browsers to a provider and takes its answers. Methods throw ProviderFailure, VALIDATION_ERROR, NOT_READY. */
export class SignIns {
  readonly #needs: SignInsNeeds
  readonly #used = new Recent<true>(statesInMemory)
  /** Anyone may send answers, and each one is a question to the provider. */
  readonly #turns = new FairTurns({ atOnce: 4, waitingOfLane: 8, waiting: 64 }, tooManySignIns)

  constructor(needs: SignInsNeeds) {
    this.#needs = needs
  }

  /** Begins a sign-in. Returns the address of the provider. */
  begin(c: Context<AppEnv>, { issuer, returnTo, earlier }: Begin): Promise<string> {
    const provider = this.#needs.people.providers.find(({ settings }) => settings.issuer === issuer)
    if (!provider) throw AppError.field('issuer', 'is none of auth.oidc')
    return this.#go(c, provider, { anew: false, returnTo, earlier })
  }

  /** Begins the repeated sign-in of the caller. Throws INVALID_TRANSITION for callers of another kind. */
  beginAnew(c: Context<AppEnv>, returnTo: string, earlier: string | undefined): Promise<string> {
    const caller = c.get('caller')
    const { instance } = caller
    const provider = this.#needs.people.providers.find(({ settings }) => oidcInstance(settings.issuer) === instance)
    if (!isOidcInstance(instance) || !provider) {
      throw new AppError('INVALID_TRANSITION', 'Only people of an OpenID provider sign in there again')
    }
    return this.#go(c, provider, { anew: true, returnTo, earlier, person: identityOf(caller) })
  }

  /** Takes the answer of a provider, in the query of the request. */
  async end(c: Context<AppEnv>, callback: string): Promise<Done> {
    const { people, box, clock, log } = this.#needs
    const flow = takeFlow(c, box, clock.now())
    const provider = people.providers.find(({ settings }) => settings.issuer === flow?.issuer)
    if (!flow || !provider || c.req.query('state') !== flow.state || this.#used.get(flow.state)) {
      throw new ProviderFailure('again', 'an answer without a sign-in of this browser')
    }
    if (callbackNameOf(flow.issuer) !== callback) {
      throw new ProviderFailure('other-provider', 'an answer at the address of another provider')
    }
    this.#used.set(flow.state, true)
    try {
      return await this.#finish(c, provider, flow)
    } catch (error) {
      const { message: why, reason } = failureOf(error)
      if (!(error instanceof AppError)) log.warn({ issuer: flow.issuer, reason, why }, 'a sign-in at a provider failed')
      throw error
    }
  }

  async #finish(c: Context<AppEnv>, provider: Provider, flow: Flow): Promise<Done> {
    const { people, sessions } = this.#needs
    const answered = new URL(this.#redirectUri(provider))
    answered.search = new URL(c.req.url).search
    const from = { requestId: c.get('requestId'), address: c.get('address') }
    const signIn = () => provider.signIn(answered, askedOf(flow))
    const { grant, needsOffline } = await this.#turns.run(networkOf(from.address), signIn)
    if (needsOffline) return { location: await this.#go(c, provider, flow) }
    const caller = people.welcome(provider, grant)
    if (flow.person !== undefined && flow.person !== identityOf(caller)) {
      throw new ProviderFailure('other-person', 'signed in another person than the one of the session')
    }
    // A new sign-in was checked to be one, and the clocks may differ.
    const shownAtMs = flow.anew ? this.#needs.clock.now() : grant.authTimeMs
    const begun = { caller, grant: writeGrant(grant), shownAtMs }
    const { token } = await sessions.beginByGrant(begun, flow.earlier, from)
    return { location: flow.returnTo, token }
  }

  async #go(
    c: Context<AppEnv>,
    provider: Provider,
    { anew, returnTo, earlier, person }: Pick<Flow, 'anew' | 'returnTo' | 'earlier' | 'person'>,
  ): Promise<string> {
    const { people, random, clock, box } = this.#needs
    const path = localPath(returnTo, people.siteUrl)
    if (path === undefined) throw AppError.field('returnTo', 'expected a path of the console, such as /cameras')
    demandSite(c, people.siteUrl)
    const { issuer } = provider.settings
    const begun = { issuer, anew, offline: provider.wantsOffline, returnTo: path, beganAtMs: clock.now() }
    const more = { ...(earlier !== undefined && { earlier }), ...(person !== undefined && { person }) }
    const flow = newFlow({ ...begun, ...more }, random)
    const location = await provider.authorizationUrl(askedOf(flow), this.#redirectUri(provider))
    giveFlow(c, flow, box)
    return location
  }

  #redirectUri({ settings }: Provider): string {
    return `${this.#needs.people.siteUrl}/api/session/provider/${callbackNameOf(settings.issuer)}`
  }
}

/** Throws VALIDATION_ERROR at another address than `site.url`, because the cookie would not come back with the answer. */
function demandSite(c: Context<AppEnv>, siteUrl: string): void {
  const host = c.req.header('host')
  if (host === undefined || host.toLowerCase() === new URL(siteUrl).host) return
  throw new AppError('VALIDATION_ERROR', 'Sign in at a provider works at one address of this gateway alone', {
    details: `open ${siteUrl} and sign in there`,
  })
}
