import { z } from 'zod'

/** The result of a sign-in at a provider, which its session stores sealed for the browser's cookie. Times are by the clock that never goes back. */
const Grant = z.object({
  sub: z.string(),
  username: z.string(),
  groups: z.array(z.string()).readonly(),
  /** Whether the provider said that a second factor was shown. */
  factor: z.boolean(),
  /** When the person last signed in at the provider, by its clock; null: it did not say. */
  authTimeMs: z.number().nullable(),
  /** When the provider last said yes. */
  verifiedAtMs: z.number(),
  refreshToken: z.string().optional(),
  /** Asks again where there is no refresh token. */
  accessToken: z.string().optional(),
  /** Names the session when the person signs out there. */
  idToken: z.string().optional(),
})
export type Grant = z.output<typeof Grant>

export const writeGrant = (grant: Grant): string => JSON.stringify(grant)

/** Reads a grant; undefined for another form, as an older version may have written. */
export const readGrant = (text: string): Grant | undefined => Grant.safeParse(JSON.parse(text)).data
