import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { AppEnv } from '../http/index.ts'
import { type RandomBytes, randomSecret, type SecretBox } from '../platform/index.ts'
import type { Asked } from './provider.ts'

/** A person types a password and a code, and may look for the phone. */
const longestMs = 15 * 60_000
const sealedFor = 'sign-in at a provider'

/** A sign-in that a browser has begun. It rests in the browser's cookie, so that unknown callers fill no memory. */
const Flow = z.object({
  issuer: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  anew: z.boolean(),
  offline: z.boolean(),
  returnTo: z.string(),
  beganAtMs: z.number(),
  /** Token of the session that this sign-in ends. The provider's answer comes from another site, without our Strict cookie. */
  earlier: z.string().optional(),
  /** Identity of the person who signs in again. */
  person: z.string().optional(),
})
export type Flow = z.output<typeof Flow>

export function newFlow(
  begun: Pick<Flow, 'issuer' | 'anew' | 'offline' | 'returnTo' | 'beganAtMs' | 'earlier' | 'person'>,
  random: RandomBytes,
): Flow {
  const [state, nonce, verifier] = [randomSecret(random, 32), randomSecret(random, 32), randomSecret(random, 32)]
  return { ...begun, state, nonce, verifier }
}

export const askedOf = ({ state, nonce, verifier, anew, offline }: Flow): Asked => ({
  ...{ state, nonce, verifier, anew, offline },
})

const cookieName = (overTls: boolean) => (overTls ? '__Host-gatehouse-provider' : 'gatehouse-provider')

/** Lax, because the answer of the provider comes from its site. */
export function giveFlow(c: Context<AppEnv>, flow: Flow, box: SecretBox): void {
  const secure = c.get('overTls')
  const sealed = box.seal(JSON.stringify(flow), sealedFor).toString('base64url')
  const attributes = { httpOnly: true, sameSite: 'Lax', path: '/', secure, maxAge: longestMs / 1000 } as const
  setCookie(c, cookieName(secure), sealed, attributes)
}

/** Reads the flow of this browser and takes its cookie away; undefined when there is none or it is too old. */
export function takeFlow(c: Context<AppEnv>, box: SecretBox, nowMs: number): Flow | undefined {
  const secure = c.get('overTls')
  const sealed = getCookie(c, cookieName(secure))
  if (sealed === undefined) return undefined
  deleteCookie(c, cookieName(secure), { path: '/', secure })
  const flow = opened(sealed, box)
  return flow && nowMs - flow.beganAtMs <= longestMs ? flow : undefined
}

function opened(sealed: string, box: SecretBox): Flow | undefined {
  try {
    return Flow.safeParse(JSON.parse(box.open(Buffer.from(sealed, 'base64url'), sealedFor))).data
  } catch {
    return undefined
  }
}

/**
 * Returns the path of the console to return to, as the browser reads it. Undefined for another site, for the API, and for text that
 * the URL parser changes.
 */
export function localPath(text: string, siteUrl: string): string | undefined {
  if (!text.startsWith('/') || !URL.canParse(text, siteUrl)) return undefined
  const { origin, pathname, search, hash } = new URL(text, siteUrl)
  const path = `${pathname}${search}${hash}`
  if (origin !== new URL(siteUrl).origin || path !== text || /^\/(api|assets)(\/|$)/.test(pathname)) return undefined
  return path
}
