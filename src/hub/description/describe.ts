import { type Description, describeRoutes, newApi } from '../../http/index.ts'
import { hubOperations } from './operations.ts'

const tags: Readonly<Record<string, string>> = {
  Asking: 'Questions of people over all sites that their account may see.',
  Gateways: 'Logs of gateways, and their enrolment.',
  Session: 'The sign-in of a browser.',
  Health: 'Health and metrics.',
}

const headerKey = (name: string, description: string) => ({
  type: 'apiKey' as const,
  in: 'header' as const,
  name,
  description,
})

/** Returns the description of the head office's API (OpenAPI 3.1). */
export function describeHub(version: string): Promise<Description> {
  const { openAPIRegistry: registry } = newApi()
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  registry.registerComponent('securitySchemes', 'basic', { type: 'http', scheme: 'basic' })
  registry.registerComponent('securitySchemes', 'gateway', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token that a gateway got for its code.',
  })
  registry.registerComponent(
    'securitySchemes',
    'storageInstance',
    headerKey('X-Storage-Instance', 'The address of the head office, or of the storage server whose user asks.'),
  )
  registry.registerComponent('securitySchemes', 'storageUsername', headerKey('X-Storage-Username', 'The user name.'))
  registry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'gatehouse',
    description:
      'From POST /api/session; over TLS its name is __Host-gatehouse. Requests that change something also need X-CSRF-Token.',
  })
  for (const one of hubOperations) registry.registerPath(one)
  const info = {
    openapi: '3.1.0',
    info: {
      title: 'gatehouse head office',
      version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      description: 'The logs of many gateways in one place: what gateways send, and what people ask over all sites.',
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  }
  return describeRoutes([registry], info, {})
}
