import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Adapter, type AdapterPayload, type ClientMetadata, type Configuration, Provider } from 'oidc-provider'
import { generate } from 'selfsigned'

type Test = { teardown(work: () => unknown): void }

/** A person of the provider. Tests change it, as an admin of the provider does. */
export type ProviderPerson = {
  readonly sub: string
  preferred_username?: string
  groups?: string[]
  /** Means of the sign-in, as the provider names them. */
  amr?: string[]
  isDisabled?: boolean
}

export const clientId = 'gatehouse-test'
const clientSecret = 'the secret of the gateway, at the provider'

/** A real OpenID provider on loopback, over HTTPS with its own authority. */
export type RunningProvider = {
  readonly issuer: string
  readonly people: ProviderPerson[]
  /** Method and path of every request, of gateway and browser. */
  readonly requests: string[]
  readonly caFile: string
  readonly redirectUri: string
  /** The entry of `auth.oidc`. */
  readonly entry: { issuer: string; clientId: string; clientSecretFile: string; caFile: string }
  /** Ends all sign-ins there, with their tokens. */
  endSignIns(): void
  /** Answers a request in place of the provider; undefined: the provider answers. */
  answerInstead: ((path: string) => Response | undefined) | undefined
  /** Signs an ID token with the key of the provider; `alg: none` without a signature. */
  sign(claims: object, header?: object): string
  stop(): Promise<void>
}

type Options = {
  readonly people: readonly ProviderPerson[]
  readonly siteUrl: string
  /** As Entra: a refresh token comes for `offline_access` alone. */
  readonly onlyOffline?: boolean
  readonly configuration?: Configuration
  readonly client?: Partial<ClientMetadata>
}

/** Starts a provider whose people sign in by their `sub` alone. */
export async function startProvider(t: Test, options: Options): Promise<RunningProvider> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-provider-'))
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  })
  const [caFile, clientSecretFile] = [join(folder, 'ca.pem'), join(folder, 'secret')]
  writeFileSync(caFile, cert)
  writeFileSync(clientSecretFile, `${clientSecret}\n`, { mode: 0o600 })
  const server = createServer({ cert, key })
  const issuer = await listening(server)
  const redirectUri = `${options.siteUrl}/api/session/provider/${issuer.slice('https://'.length).replaceAll(':', '-')}`
  const people = options.people.map((person) => ({ ...person }))
  const memory = new Map<string, AdapterPayload>()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(issuer, configurationOf({ ...options, redirectUri, people, memory, privateKey }))
  const answer = provider.callback()
  const running: RunningProvider = {
    ...{ issuer, people, requests: [], caFile, redirectUri },
    entry: { issuer, clientId, clientSecretFile, caFile },
    answerInstead: undefined,
    endSignIns: () => memory.clear(),
    sign: (claims, header) => signed(privateKey, claims, header),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    running.requests.push(`${request.method} ${path}`)
    const instead = running.answerInstead?.(path)
    if (instead) {
      response.writeHead(instead.status, Object.fromEntries(instead.headers))
      response.end(await instead.text())
    } else if (!path.startsWith('/interaction/')) await answer(request, response)
    else if (request.method === 'POST') await signInThere(provider, people, request, response)
    else response.writeHead(200, { 'content-type': 'text/html' }).end(form)
  })
  t.teardown(async () => {
    await running.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return running
}

const form = `<!doctype html><title>Login</title><form method="post">
<label>Login <input name="login" required></label><button>Continue</button></form>`

function listening(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(`https://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

/** Signs a person in by the typed `sub`; `nobody` gives up. */
async function signInThere(
  provider: Provider,
  people: readonly ProviderPerson[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let body = ''
  for await (const part of request) body += part
  const login = new URLSearchParams(body).get('login') ?? ''
  const person = people.find(({ sub }) => sub === login)
  const result = person
    ? { login: { accountId: login, ...(person.amr && { amr: person.amr }) } }
    : { error: 'access_denied', error_description: 'gave up' }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

type Setup = Options & {
  readonly redirectUri: string
  readonly people: readonly ProviderPerson[]
  readonly memory: Map<string, AdapterPayload>
  readonly privateKey: KeyObject
}

const keyId = 'key of tests'

function signed(key: KeyObject, claims: object, header: object = {}): string {
  const parts = [{ alg: 'RS256', typ: 'JWT', kid: keyId, ...header }, claims]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const isPlain = 'alg' in header && header.alg === 'none'
  return `${text}.${isPlain ? '' : createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`
}

function configurationOf({
  people,
  redirectUri,
  siteUrl,
  onlyOffline,
  client,
  configuration,
  memory,
  privateKey,
}: Setup) {
  const made: Configuration = {
    adapter: (model) => adapterOf(model, memory),
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [`${siteUrl}/sign-in`],
        grant_types: ['authorization_code', 'refresh_token'],
        require_auth_time: true,
        ...client,
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: keyId, alg: 'RS256', use: 'sig' }] },
    ttl: { Interaction: 600, Grant: 86_400, Session: 86_400, AccessToken: 300, RefreshToken: 86_400, IdToken: 300 },
    cookies: { keys: ['keys of tests'] },
    claims: { openid: ['sub', 'amr'], profile: ['preferred_username', 'groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_, __, source) => !onlyOffline || source.scopes.has('offline_access'),
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    // Consent is the provider's business; here everybody has given it.
    loadExistingGrant: async (context) => {
      const { client: asking, session, provider } = context.oidc
      if (!asking || !session?.accountId) return undefined
      const grant = new provider.Grant({ clientId: asking.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid profile offline_access')
      await grant.save()
      return grant
    },
    findAccount: (_, sub) => {
      const person = people.find((one) => one.sub === sub && !one.isDisabled)
      if (!person) return undefined
      const { preferred_username, groups } = person
      return {
        accountId: sub,
        claims: async () => ({ sub, ...(preferred_username && { preferred_username }), ...(groups && { groups }) }),
      }
    },
    ...configuration,
  }
  return made
}

/** Stores what the provider knows where a test can take it away. */
function adapterOf(model: string, memory: Map<string, AdapterPayload>): Adapter {
  const find = (wanted: (payload: AdapterPayload, key: string) => boolean) =>
    [...memory].find(([key, payload]) => key.startsWith(`${model}:`) && wanted(payload, key))?.[1]
  return {
    upsert: async (id, payload) => void memory.set(`${model}:${id}`, payload),
    find: async (id) => memory.get(`${model}:${id}`),
    findByUserCode: async (userCode) => find((payload) => payload.userCode === userCode),
    findByUid: async (uid) => find((payload) => payload.uid === uid),
    consume: async (id) => {
      const payload = memory.get(`${model}:${id}`)
      if (payload) payload.consumed = Math.floor(Date.now() / 1000)
    },
    destroy: async (id) => void memory.delete(`${model}:${id}`),
    revokeByGrantId: async (grantId) => {
      for (const [key, payload] of memory) if (payload.grantId === grantId) memory.delete(key)
    },
  }
}

/** A browser without pages at the provider: it has cookies there, and stops where it is sent elsewhere. */
export class ProviderBrowser {
  readonly #provider: RunningProvider
  readonly #cookies = new Map<string, string>()

  constructor(provider: RunningProvider) {
    this.#provider = provider
  }

  /** Opens an address of the provider and signs in as `login` where it asks. Returns where it is sent in the end. */
  async open(url: string, login: string): Promise<string> {
    let next = url
    while (next.startsWith(this.#provider.issuer)) {
      const { location, status } = await this.#ask('GET', next)
      if (location !== undefined) next = new URL(location, next).href
      else if (!next.includes('/interaction/')) throw new Error(`the provider answers ${status}`)
      else next = new URL((await this.#ask('POST', next, `login=${login}`)).location ?? '', next).href
    }
    return next
  }

  #ask(method: string, url: string, body?: string): Promise<{ status: number; location: string | undefined }> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
    return new Promise((resolve, reject) => {
      const ca = readFileSync(this.#provider.caFile)
      const request = httpsRequest(url, { method, headers, ca, agent: false }, (response) => {
        for (const set of response.headers['set-cookie'] ?? []) this.#take(set)
        response.resume()
        response.on('end', () => resolve({ status: response.statusCode ?? 0, location: response.headers.location }))
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  #take(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (value === '') this.#cookies.delete(name)
    else this.#cookies.set(name, value)
  }
}
