import { createHash } from 'node:crypto'
import type { Clock, RandomBytes } from '../../platform/index.ts'
import { Recent } from '../rates/recent.ts'

const challengeForMs = 5 * 60_000
const challengesKept = 10_000

/** An assertion as `PublicKeyCredential.toJSON()` writes it. */
export type PasskeyAnswer = {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
  }
}
/** A new passkey as `PublicKeyCredential.toJSON()` writes it. */
export type NewPasskey = {
  readonly id: string
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string }
}
export type StoredPasskey = { readonly id: string; readonly publicKey: Uint8Array; readonly counter: number }

/** EdDSA, ES256 and RS256 (COSE): what authenticators have. */
const supportedAlgorithmIDs = [-8, -7, -257]

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** Options for the browser, as plain JSON. */
export type PasskeyOptions = { [key: string]: Json }

type PasskeysNeeds = {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly random: RandomBytes
  readonly settings: () => { readonly siteUrl: string; readonly siteId: string }
}

/**
 * Speaks WebAuthn for the address of this gateway. A challenge is valid for five minutes, once, and for one use. Browsers give
 * passkeys to https and to localhost, and to names alone.
 */
export class Passkeys {
  readonly #needs: PasskeysNeeds
  readonly #challenges = new Recent<{ readonly use: string; readonly untilMs: number }>(challengesKept)

  constructor(needs: PasskeysNeeds) {
    this.#needs = needs
  }

  /** Returns options for `navigator.credentials.create`. */
  async creation(username: string, known: readonly string[]): Promise<PasskeyOptions> {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    const { siteId, siteUrl } = this.#needs.settings()
    const options = await generateRegistrationOptions({
      rpName: `gatehouse ${siteId}`,
      ...{ rpID: this.#site.rpID, userName: username, challenge: this.#challenge(`create ${username}`) },
      // The same for each passkey of the account, so that an authenticator replaces its own.
      userID: new Uint8Array(createHash('sha256').update(`${username}\0${siteUrl}`).digest()),
      excludeCredentials: known.map((id) => ({ id })),
      supportedAlgorithmIDs,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    return plain(options)
  }

  /** Returns options for `navigator.credentials.get`. They name no account, so they tell no one which exist. */
  async request(): Promise<PasskeyOptions> {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
    const challenge = this.#challenge('get')
    return plain(
      await generateAuthenticationOptions({ rpID: this.#site.rpID, challenge, userVerification: 'required' }),
    )
  }

  /** Verifies a new passkey; undefined when it is not one for this gateway and account. */
  async created(username: string, answer: NewPasskey): Promise<StoredPasskey | undefined> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...answer, rawId: answer.id, type: 'public-key', clientExtensionResults: {} },
      ...this.#expected(`create ${username}`),
      supportedAlgorithmIDs,
    }).catch(notVerified)
    return verified ? registrationInfo?.credential : undefined
  }

  /** Verifies an assertion. Returns the new count of signatures; undefined when it is wrong, replayed or of another origin. */
  async answered(answer: PasskeyAnswer, { id, publicKey, counter }: StoredPasskey): Promise<number | undefined> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, rawId: answer.id, type: 'public-key', clientExtensionResults: {} },
      ...this.#expected('get'),
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
    }).catch(notVerified)
    return verified ? authenticationInfo?.newCounter : undefined
  }

  #expected(use: string) {
    const { origin, rpID } = this.#site
    return {
      expectedChallenge: (challenge: string) => this.#take(challenge, use),
      ...{ expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true },
    }
  }

  get #site() {
    const { origin, hostname } = new URL(this.#needs.settings().siteUrl)
    return { origin, rpID: hostname }
  }

  #challenge(use: string): Uint8Array<ArrayBuffer> {
    const challenge = new Uint8Array(this.#needs.random(32))
    const key = Buffer.from(challenge).toString('base64url')
    this.#challenges.set(key, { use, untilMs: this.#needs.clock.monotonic() + challengeForMs })
    return challenge
  }

  /** Uses a challenge up. */
  #take(challenge: string, use: string): boolean {
    const known = this.#challenges.get(challenge)
    this.#challenges.delete(challenge)
    return known?.use === use && this.#needs.clock.monotonic() < known.untilMs
  }
}

/** Returns options without undefined values. */
const plain = (options: object): PasskeyOptions => JSON.parse(JSON.stringify(options))

/** The library throws for an answer that is malformed, of another origin or of another challenge. */
const notVerified = () => ({ verified: false, registrationInfo: undefined, authenticationInfo: undefined }) as const
