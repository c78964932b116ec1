import { z } from '@hono/zod-openapi'
import { errorCode } from '../../platform/faults.ts'
import {
  answerBounds,
  type Clock,
  errorLine,
  outsideJson,
  outsideRequest,
  retryAfterSeconds,
  type WholeAnswer,
  wholeAnswer,
} from '../../platform/index.ts'
import { StorageAgents, type StorageInstance } from './agents.ts'

/** Answer of the storage server about a credential. */
export type StorageAnswer =
  | {
      readonly kind: 'verified'
      /** `data.id`: the user. */
      readonly username: string
      readonly email: string | undefined
      readonly groups: readonly string[]
    }
  /** The server answered and does not know the credential. */
  | { readonly kind: 'wrong' }
  /** No answer that proves anything: not reached, in maintenance, lock-out, or another program answers there. */
  | {
      readonly kind: 'unclear'
      /** The reason in one line for the log, without credential and body. */
      readonly why: string
      /** 429: the server has locked out our address. */
      readonly isLockOut: boolean
      readonly retryAfterMs: number | undefined
      /** Whether the server may have counted the password as wrong all the same. */
      readonly mayCount: boolean
    }

const path = '/ocs/v2.php/cloud/user?format=json'

type StorageClientNeeds = { clock: Pick<Clock, 'after'>; instances: () => readonly StorageInstance[]; version: string }

/**
 * Sends verification requests to storage servers. Each call is one request, without redirects or retries, because a
 * repeated wrong password counts as two towards the server's lock-out.
 */
export class StorageClient {
  readonly #needs: StorageClientNeeds
  readonly #agents = new StorageAgents()

  constructor(needs: StorageClientNeeds) {
    this.#needs = needs
  }

  /**
   * Asks a configured instance whose credential this is. Never rejects.
   * @param authorization the header's value; absent: tests only whether the server answers (with `wrong`)
   */
  async ask(url: string, authorization?: string): Promise<StorageAnswer> {
    const instance = this.#needs.instances().find((known) => known.url === url)
    if (!instance) return unclear('not a configured instance')
    try {
      const request = outsideRequest(`${instance.url}${path}`, {
        headers: {
          ...(authorization !== undefined && { authorization }),
          'ocs-apirequest': 'true',
          accept: 'application/json',
          'user-agent': `gatehouse/${this.#needs.version}`,
        },
        agent: this.#agents.of(instance),
      })
      const answer = await wholeAnswer(request, answerBounds.signIn, this.#needs)
      if (answer.kind === 'answer') return readAnswer(answer)
      const mayCount = answer.head?.statusCode !== 200 && !neverSent(answer.error)
      return unclear(answer.why, mayCount)
    } catch (error) {
      return unclear(errorLine(error))
    }
  }
}

/** PHP writes a list whose keys have gaps as an object. */
const names = z.union([
  z.array(z.string()),
  z.record(z.string(), z.string()).transform((named) => Object.values(named)),
])

/** A name in the form in which the gateway stores names. */
const Username = z.string().regex(/^[^\p{Cc}]{1,128}$/u)

const Verified = z.object({
  ocs: z.object({
    meta: z.object({ statuscode: z.union([z.literal(200), z.literal(100)]) }),
    data: z.object({
      id: Username,
      enabled: z.boolean().optional(),
      email: z.string().nullish().catch(undefined),
      groups: names.optional(),
    }),
  }),
})

function readAnswer({ head, body }: WholeAnswer): StorageAnswer {
  const status = head.statusCode
  if (status === 401) return { kind: 'wrong' }
  if (status !== 200) {
    const said = unclear(`HTTP ${status}`, status >= 500 && status !== 503)
    const seconds = retryAfterSeconds(head)
    return { ...said, isLockOut: status === 429, retryAfterMs: seconds === undefined ? undefined : seconds * 1000 }
  }
  const { data, error } = Verified.safeParse(outsideJson(body.toString('utf8')))
  if (error) return unclear('HTTP 200 without a user in it')
  const { id, enabled, email, groups = [] } = data.ocs.data
  return enabled === false ? { kind: 'wrong' } : { kind: 'verified', username: id, email: email || undefined, groups }
}

const unclear = (why: string, mayCount = false): StorageAnswer & { kind: 'unclear' } => ({
  kind: 'unclear',
  why,
  isLockOut: false,
  retryAfterMs: undefined,
  mayCount,
})

/** Says whether an error happened before the server could see a password. */
function neverSent(error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|CERT_|DEPTH_|UNABLE_|SELF_SIGNED|ERR_TLS_)/.test(
    code,
  )
}
