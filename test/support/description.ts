import { people, type TestGateway } from './gateway.ts'
import type { Schema } from './json-schema.ts'

export type Content = { schema: Schema; example?: unknown }
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  schema: Schema & { default?: unknown }
}
export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  'x-permission': string | string[]
  'x-error-codes': string[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { content?: Record<string, Content> }>
}
export type Described = { readonly method: string; readonly path: string; readonly operation: Operation }

// biome-ignore lint/suspicious/noExplicitAny: a document of which tests look at parts.
type Json = any

/** The description as a gateway answers it. */
export async function descriptionOf(gateway: TestGateway, version = '3.1'): Promise<Json> {
  return (await gateway.ask('GET', `/api/openapi?version=${version}`, { by: people.ada })).body
}

/** Its operations, with shared parameters and refusals where they are meant. */
export function operationsOf(description: Json): Described[] {
  const target = (one: Json): Json =>
    one.$ref === undefined
      ? one
      : (one.$ref as string)
          .split('/')
          .slice(1)
          .reduce((at, key) => at[key], description)
  return Object.entries(description.paths as Record<string, Record<string, Json>>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: {
        ...operation,
        parameters: (operation.parameters ?? []).map(target),
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, one]) => [status, target(one)]),
        ),
      },
    })),
  )
}
