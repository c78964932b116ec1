import { z } from '@hono/zod-openapi'
import { permissions } from '../config/index.ts'
import { nameText, optional, resource, text } from '../http/index.ts'

const passkey = z
  .object({
    id: text(2048),
    response: z.object({ clientDataJSON: text(16_384), authenticatorData: text(16_384), signature: text(4096) }),
  })
  .openapi({ description: 'PublicKeyCredential.toJSON() for the options of POST /api/session/challenge' })
const shownFactor = {
  code: optional(z.string().max(64)).openapi({ description: 'of an authenticator app, or a recovery code' }),
  passkey: optional(passkey),
}
export const ShownFactor = z.object(shownFactor).openapi('ShownFactor', { description: 'one of the two' })
export const PasskeySignIn = z.object({ passkey }).openapi('PasskeySignIn')
export const PasskeyChallenge = resource({
  options: z.record(z.string(), z.unknown()).openapi({
    description: 'PublicKeyCredentialRequestOptionsJSON, for navigator.credentials.get',
  }),
}).openapi('PasskeyChallenge')

/** A sign-in. The secret may be any text, because it is only compared. */
export const NewSession = z
  .object({
    ...shownFactor,
    username: nameText(128),
    secret: z.string().min(1).max(1024),
    instance: optional(text(2048)).openapi({
      description: "the instance that verifies the name; default: this gateway's own",
    }),
  })
  .openapi('NewSession')

export const Session = resource({
  siteId: z.string(),
  instance: z.string().openapi({ description: 'the X-Storage-Instance of local accounts' }),
  storageInstances: z.array(z.string()).openapi({
    description: 'the storage servers that verify other users; each may be the instance of a sign-in',
  }),
  providers: z.array(z.string()).openapi({
    description: 'the issuers of the OpenID providers at which people may sign in',
  }),
  caller: z
    .object({
      username: z.string(),
      instance: z.string(),
      role: z.string(),
      permissions: z.array(z.enum(permissions)),
      withheld: z.string().optional().openapi({
        description:
          'why the caller has a lower role than the account, for a while; absent: the role is that of the account',
      }),
      secondFactor: z.enum(['missing', 'stale']).optional().openapi({
        description:
          'missing: the role needs one, and nothing else works until it is set up; stale: some operations ask for it first; absent: nothing to do',
      }),
    })
    .nullable()
    .openapi({ description: 'null: not signed in' }),
  csrfToken: z
    .string()
    .nullable()
    .openapi({ description: 'to send as X-CSRF-Token with every request that changes something' }),
}).openapi('Session')
export type Session = z.infer<typeof Session>

const DetectionModel = z
  .object({
    sha256: z.string(),
    sizeBytes: z.number().int(),
    width: z.number().int().openapi({ description: 'width of the picture that it takes, in pixels' }),
    height: z.number().int(),
    layout: z.enum(['columns', 'rows']).openapi({
      description: 'columns: float32 [1, 4 + classes, n]; rows: float32 [1, n, 6]',
    }),
    labels: z.array(z.string()).nullable().openapi({ description: 'names of its classes; null: it has none' }),
  })
  .openapi('DetectionModel')

export const ObjectDetection = resource({
  enabled: z.boolean(),
  confidenceThreshold: z.number(),
  maxDetections: z.number().int().openapi({ description: 'most boxes in one picture' }),
  fps: z.number().int().openapi({ description: 'most pictures a second' }),
  model: DetectionModel.nullable().openapi({ description: 'null: there is none, or it cannot be used' }),
  problem: z.string().nullable().openapi({ description: 'why the model cannot be used' }),
}).openapi('ObjectDetection')
export type ObjectDetection = z.infer<typeof ObjectDetection>
