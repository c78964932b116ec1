import type { ClientAuth, Configuration } from 'openid-client'
import { type ServerWellness, StorageAgents } from '../auth/index.ts'
import { type Config, oidcInstance } from '../config/index.ts'
import { admit, afterFailure, type Breaker, closedBreaker } from '../flow/index.ts'
import { answerBounds, type Clock, errorLine, type Logger, outsideFetch } from '../platform/index.ts'
import { readSecretFile } from '../platform/secrets/secret-file.ts'
import { groupsIn, hasFactor, hasTooManyGroups } from './claims.ts'
import { failureOf, ProviderFailure } from './failures.ts'
import type { Grant } from './grant.ts'
import { type Library, loadLibrary } from './library.ts'
import { type Claims, usernameOf } from './names.ts'

export type ProviderSettings = Config['auth']['oidc'][number]

/** Time by which the clocks of provider and gateway may differ. */
const toleranceSeconds = 60
/** Discovery is repeated after this, for new endpoints; keys are asked for as they are needed. */
const discoveredForMs = 3_600_000
const libraryTimeoutSeconds = 10

/** A sign-in under way: what the browser takes along to the provider, and what must come back. */
export type Asked = {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The person signs in anew, whatever session there is at the provider. */
  readonly anew: boolean
  /** Whether `offline_access` was asked for. */
  readonly offline: boolean
}

export type SignedIn = {
  readonly grant: Grant
  /** The provider gives a refresh token for `offline_access` alone, and that was not asked for. */
  readonly needsOffline: boolean
}

type ProviderNeeds = {
  readonly settings: ProviderSettings
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'after'>
  readonly log: Logger
}

/** The library, and its view of the provider after discovery. */
type Known = { readonly library: Library; readonly configuration: Configuration }

type Discovered = Known & { readonly secret: string; readonly atMs: number }

/** Asks one OpenID provider. Each method throws ProviderFailure. */
export class Provider {
  readonly settings: ProviderSettings
  readonly #needs: ProviderNeeds
  readonly #agents = new StorageAgents()
  #breaker: Breaker = closedBreaker
  #discovered: Discovered | undefined
  #discovering: Promise<Known> | undefined
  #wantsOffline = false
  #trouble: { readonly sinceMs: number; readonly why: string } | undefined

  constructor(needs: ProviderNeeds) {
    this.settings = needs.settings
    this.#needs = needs
    void loadLibrary()
  }

  /** Whether a sign-in now asks for `offline_access`. */
  get wantsOffline(): boolean {
    return this.#wantsOffline
  }

  /** Returns milliseconds until the provider is asked again; 0: now. */
  get closedForMs(): number {
    if (this.#breaker.state === 'closed') return 0
    return Math.max(this.#breaker.openUntilMs - this.#needs.clock.monotonic(), 1000)
  }

  /** Returns the state for health. */
  get wellness(): ServerWellness {
    const illForMs = this.#trouble ? this.#needs.clock.monotonic() - this.#trouble.sinceMs : null
    const url = oidcInstance(this.settings.issuer)
    return { url, illForMs, answers: !this.#trouble, why: this.#trouble?.why ?? '' }
  }

  /** Tests a provider that did not answer, so that the end of an outage is known without a sign-in. */
  async look(): Promise<void> {
    if (this.#trouble) await this.#ask(() => this.#discoverOnce(this.#secret())).catch(() => {})
  }

  /** Returns the address at the provider where the person signs in. */
  async authorizationUrl(asked: Asked, redirectUri: string): Promise<string> {
    return this.#ask(async ({ library, configuration }) => {
      const challenge = await library.calculatePKCECodeChallenge(asked.verifier)
      const scopes = [
        ...['openid', 'profile'],
        ...(supports(configuration, 'groups') ? ['groups'] : []),
        ...(asked.offline ? ['offline_access'] : []),
      ]
      return library.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUri, scope: scopes.join(' '), state: asked.state, nonce: asked.nonce },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
        ...(asked.anew && { prompt: 'login', max_age: '0' }),
      }).href
    })
  }

  /**
   * Exchanges the answer of the provider, in the query of the browser's request, for a grant.
   * @param answered the redirect address with that query
   */
  signIn(answered: URL, { state, nonce, verifier, anew, offline }: Asked): Promise<SignedIn> {
    const from = answered.searchParams.get('iss')
    if (from !== null && from !== this.settings.issuer) {
      return Promise.reject(new ProviderFailure('other-provider', 'the answer names another issuer'))
    }
    return this.#ask(async ({ library, configuration }) => {
      const tokens = await library.authorizationCodeGrant(configuration, answered, {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
        ...(anew && { maxAge: 0 }),
      })
      const claims = tokens.claims()
      if (!claims) throw new ProviderFailure('token', 'answered without an ID token')
      if (hasTooManyGroups(claims, this.settings.groupsClaim)) {
        throw new ProviderFailure('groups', 'left the groups out of the ID token, because they are too many')
      }
      const facts = await this.#facts({ library, configuration }, claims, claims.sub, tokens.access_token)
      const needsOffline = tokens.refresh_token === undefined && !offline && supports(configuration, 'offline_access')
      if (needsOffline) this.#wantsOffline = true
      const hasEnd = configuration.serverMetadata().end_session_endpoint !== undefined
      return {
        needsOffline,
        grant: {
          ...{ sub: claims.sub, username: usernameOf(claims.sub, facts.claims), groups: facts.groups },
          factor: hasFactor(claims),
          authTimeMs: typeof claims.auth_time === 'number' ? claims.auth_time * 1000 : null,
          verifiedAtMs: this.#needs.clock.now(),
          ...(tokens.refresh_token === undefined
            ? { accessToken: tokens.access_token }
            : { refreshToken: tokens.refresh_token }),
          ...(hasEnd && tokens.id_token !== undefined && { idToken: tokens.id_token }),
        },
      }
    })
  }

  /** Asks whether a person is still signed in there, and in which groups. A failure with `isEnded` is a no. */
  again(grant: Grant): Promise<Grant> {
    return this.#ask(async ({ library, configuration }) => {
      const verifiedAtMs = this.#needs.clock.now()
      if (grant.refreshToken === undefined) {
        const claims: Claims = await library.fetchUserInfo(configuration, grant.accessToken ?? '', grant.sub)
        return { ...grant, groups: groupsIn(claims, this.settings.groupsClaim) ?? [], verifiedAtMs }
      }
      const tokens = await library.refreshTokenGrant(configuration, grant.refreshToken)
      const claims = tokens.claims()
      if (claims && claims.sub !== grant.sub) throw new ProviderFailure('token', 'answered about another subject')
      const { groups } = await this.#facts({ library, configuration }, claims ?? {}, grant.sub, tokens.access_token)
      const refreshToken = tokens.refresh_token ?? grant.refreshToken
      return {
        ...grant,
        groups,
        verifiedAtMs,
        refreshToken,
        ...(grant.idToken && tokens.id_token && { idToken: tokens.id_token }),
      }
    })
  }

  /** Returns the address that signs the browser out at the provider; undefined where it has none, or is not known now. */
  signOutUrl({ idToken }: Grant, backTo: string): string | undefined {
    const known = this.#discovered
    if (known?.configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    return known.library.buildEndSessionUrl(known.configuration, {
      post_logout_redirect_uri: backTo,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    }).href
  }

  /** Tells the provider that a grant is over, where it wants to know. Never rejects. */
  async revoke({ refreshToken }: Grant): Promise<void> {
    if (refreshToken === undefined) return
    await this.#ask(async ({ library, configuration }) => {
      if (configuration.serverMetadata().revocation_endpoint === undefined) return
      await library.tokenRevocation(configuration, refreshToken)
    }).catch(() => {})
  }

  /** Returns the groups of a person and the claims with the name; asks for what the ID token lacks. */
  async #facts({ library, configuration }: Known, claims: Claims, sub: string, accessToken: string) {
    const inToken = groupsIn(claims, this.settings.groupsClaim)
    const isNamed = claims['preferred_username'] !== undefined
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined
    if ((inToken && isNamed) || !hasMore) return { claims, groups: inToken ?? [] }
    const more: Claims = await library.fetchUserInfo(configuration, accessToken, sub)
    return { claims: { ...more, ...claims }, groups: inToken ?? groupsIn(more, this.settings.groupsClaim) ?? [] }
  }

  async #ask<T>(work: (known: Known) => Promise<T>): Promise<T> {
    const { may, next } = admit(this.#breaker, this.#needs.clock.monotonic())
    if (!may) throw new ProviderFailure('unreachable', 'not asked: it has not answered lately')
    this.#breaker = next
    try {
      const result = await work(await this.#known())
      this.#answered(undefined)
      return result
    } catch (error) {
      const failure = failureOf(error)
      this.#answered(failure.reason === 'unreachable' ? failure.message : undefined)
      throw failure
    }
  }

  /** @param why why there was no answer; undefined: there was one */
  #answered(why: string | undefined): void {
    const { clock, log } = this.#needs
    const { issuer } = this.settings
    const before = this.#trouble
    const nowMs = clock.monotonic()
    this.#breaker = why === undefined ? closedBreaker : afterFailure(this.#breaker, nowMs)
    this.#trouble = why === undefined ? undefined : { sinceMs: before?.sinceMs ?? nowMs, why }
    if (before && why === undefined) log.info({ issuer }, 'the OpenID provider answers as it should again')
    if (!before && why !== undefined) log.warn({ issuer, why }, 'the OpenID provider does not answer')
  }

  /** Returns what discovery found. Within an hour nothing is asked; later the old answer serves while there is no new one. */
  async #known(): Promise<Known> {
    const secret = this.#secret()
    const known = this.#discovered?.secret === secret ? this.#discovered : undefined
    const nowMs = this.#needs.clock.monotonic()
    if (known && nowMs - known.atMs < discoveredForMs) return known
    try {
      return await this.#discoverOnce(secret)
    } catch (error) {
      if (known && failureOf(error).reason === 'unreachable') return known
      throw error
    }
  }

  /** Simultaneous questions share one discovery, because anyone may begin a sign-in. */
  #discoverOnce(secret: string): Promise<Known> {
    this.#discovering ??= this.#discover(secret).finally(() => {
      this.#discovering = undefined
    })
    return this.#discovering
  }

  async #discover(secret: string): Promise<Known> {
    const library = await loadLibrary()
    const { issuer, clientId, caFile } = this.settings
    const fetchThere = outsideFetch(answerBounds.provider, () => this.#agents.of({ url: issuer, caFile }), this.#needs)
    const client = { client_secret: secret, [library.clockTolerance]: toleranceSeconds }
    const configuration = await library.discovery(new URL(issuer), clientId, client, clientAuth(library, secret), {
      [library.customFetch]: fetchThere,
      timeout: libraryTimeoutSeconds,
      // Else the library trusts an ID token that comes over TLS without its signature.
      execute: [library.enableNonRepudiationChecks],
    })
    const named = configuration.serverMetadata().issuer
    if (named !== issuer)
      throw new ProviderFailure('setup', `names itself ${JSON.stringify(named)}; write this as issuer`)
    this.#discovered = { library, secret, configuration, atMs: this.#needs.clock.monotonic() }
    return this.#discovered
  }

  #secret(): string {
    try {
      return readSecretFile(this.settings.clientSecretFile)
    } catch (error) {
      throw new ProviderFailure('setup', errorLine(error))
    }
  }
}

const supports = (configuration: Configuration, scope: string): boolean =>
  configuration.serverMetadata().scopes_supported?.includes(scope) === true

/** Shows the secret in the form that the provider takes; without a word about it by Basic (OpenID Connect Discovery, 3). */
const clientAuth =
  ({ ClientSecretBasic, ClientSecretPost }: Library, secret: string): ClientAuth =>
  (server, ...more) => {
    const takesForm = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true
    return (takesForm ? ClientSecretPost(secret) : ClientSecretBasic(secret))(server, ...more)
  }
