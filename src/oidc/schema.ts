import { z } from '@hono/zod-openapi'
import { optional, resource, text } from '../http/index.ts'

const returnTo = optional(text(2048)).openapi({
  description: 'path of the console to open afterwards; default: /',
  example: '/cameras',
})

export const ProviderSignIn = z
  .object({ issuer: text(2048).openapi({ description: 'one of `providers` of GET /api/session' }), returnTo })
  .openapi('ProviderSignIn')
export const ProviderStepUp = z.object({ returnTo }).openapi('ProviderStepUp')

export const ProviderAddress = resource({
  location: z.string().openapi({ description: 'address of the provider that the browser opens now' }),
}).openapi('ProviderAddress')

export const ProviderSignOut = resource({
  location: z.string().nullable().openapi({
    description: 'address that signs the browser out at the provider; null: it has none',
  }),
}).openapi('ProviderSignOut')
