import { z } from '@hono/zod-openapi'
import { permissions } from '../config/index.ts'
import { optional, resource, text } from '../http/index.ts'

/** A sign-in. The secret may be any text, because it is only compared. */
export const NewSession = z
  .object({
    username: text(128),
    secret: z.string().min(1).max(1024),
    instance: optional(text(2048)).openapi({ description: "who vouches for the name; default: this gateway's own" }),
  })
  .openapi('NewSession')

export const Session = resource({
  siteId: z.string(),
  instance: z.string().openapi({ description: 'the X-Storage-Instance that names the local accounts' }),
  storageInstances: z.array(z.string()).openapi({
    description: 'the storage servers that vouch for other users: any of them may be the instance of a sign-in',
  }),
  caller: z
    .object({ username: z.string(), instance: z.string(), role: z.string(), permissions: z.array(z.enum(permissions)) })
    .nullable()
    .openapi({ description: 'null: nobody is signed in' }),
  csrfToken: z.string().nullable().openapi({ description: 'X-CSRF-Token of whatever changes something' }),
}).openapi('Session')
export type Session = z.infer<typeof Session>
