import { siteUrl, type TestGateway } from './gateway.ts'

/** The credentials that a browser has after a sign-in. */
export type Browser = { readonly cookie: string; readonly csrfToken: string }

/** Signs in at the console; more fields of the body in `more`. */
export async function signInAt(gateway: TestGateway, username: string, secret: string, more: object = {}) {
  const answer = await gateway.ask('POST', '/api/session', { body: { username, secret, ...more } })
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return { answer, browser: { cookie, csrfToken: answer.body.csrfToken } as Browser }
}

/** A request by the console's page. */
export const byPage = (
  gateway: TestGateway,
  { cookie, csrfToken }: Browser,
  method: string,
  path: string,
  body?: unknown,
) => gateway.ask(method, path, { headers: { Cookie: cookie, 'X-CSRF-Token': csrfToken }, body })

/** The document's headers for a name and a secret. */
export const headersFor = (username: string, secret: string) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': username,
})
