import { OpenAPIHono, z } from '@hono/zod-openapi'
import { ErrorBody, ignoredFields, ignoredParameters } from './answers/envelope.ts'
import { sharedHeaders, sharedRefusals } from './answers/refusals.ts'
import type { Api } from './app.ts'
import type { AppEnv } from './context.ts'
import { parameterDescriptions, sharedParameters } from './requests/parameters.ts'
import { laterSchemas } from './requests/unknown-names.ts'

type Registry = Api['openAPIRegistry']
type Definition = Registry['definitions'][number]
type Info = Parameters<Api['getOpenAPI31Document']>[0]
type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** An OpenAPI document as plain data. */
export type Description = {
  openapi: string
  paths: Record<string, Record<string, DescribedOperation>>
  components: Record<string, Record<string, Json>>
  webhooks?: Record<string, Record<string, DescribedOperation>>
  [more: string]: unknown
}

export type DescribedParameter =
  | { $ref: string }
  | {
      $ref?: never
      name: string
      in: 'path' | 'query' | 'header'
      description?: string
      schema?: { description?: string; [more: string]: unknown }
    }

export type DescribedOperation = {
  operationId: string
  parameters?: DescribedParameter[]
  requestBody?: { content: Record<string, DescribedContent> }
  responses: Record<string, { content?: Record<string, DescribedContent> }>
  [more: string]: unknown
}

export type DescribedContent = { schema?: Json; example?: unknown; [more: string]: unknown }

/** A recorded request and its answers, shown with the operation. */
export type Example = {
  readonly request?: unknown
  readonly answers: readonly { readonly status: number; readonly mediaType: string; readonly body: unknown }[]
}

/**
 * Returns the OpenAPI 3.1 description of the routes of `registries`. It describes one route in each turn of the event loop,
 * because all at once would block it for about 0.1 s.
 */
export async function describeRoutes(
  registries: readonly Registry[],
  info: Info,
  examples: Readonly<Record<string, Example>>,
): Promise<Description> {
  const whole: Description = { openapi: info.openapi, paths: {}, components: {} }
  for (const one of registries.flatMap(({ definitions }) => definitions)) {
    merge(whole, describeOne(one, info))
    await new Promise((resolve) => setImmediate(resolve))
  }
  writeOutParameters(whole)
  addShared(whole)
  for (const item of Object.values(whole.webhooks ?? {})) Object.values(item).forEach(describeParameters)
  for (const item of Object.values(whole.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      mayListIgnored(operation, takesBody(method), whole.components)
      describeParameters(operation)
      show(operation, examples[operation.operationId])
    }
  }
  return whole
}

function describeOne(one: Definition, info: Info): Description {
  const api = new OpenAPIHono<AppEnv>()
  for (const [ref, schema] of sharedParameters) api.openAPIRegistry.registerParameter(ref, schema)
  if (one.type === 'component') api.openAPIRegistry.registerComponent(one.componentType, one.name, one.component)
  if (one.type === 'webhook') api.openAPIRegistry.registerWebhook(one.webhook)
  if (one.type === 'route') api.openAPIRegistry.registerPath(one.route)
  return documentOf(api, info)
}

function documentOf(api: Api, info: Info): Description {
  const { components = {}, ...document } = plain<Description>(api.getOpenAPI31Document(info))
  return { ...document, components }
}

/** Returns a deep copy as plain data, without undefined values. */
const plain = <T>(value: object): T => JSON.parse(JSON.stringify(value))

/** Merges one piece into the whole; parts that several pieces describe are the same in each. */
function merge(whole: Description, { paths, webhooks, components, ...facts }: Description): void {
  Object.assign(whole, facts)
  for (const [path, item] of Object.entries(paths ?? {})) whole.paths[path] = { ...whole.paths[path], ...item }
  if (webhooks && Object.keys(webhooks).length > 0) whole.webhooks = { ...whole.webhooks, ...webhooks }
  for (const [kind, named] of Object.entries(components)) {
    whole.components[kind] = { ...whole.components[kind], ...named }
  }
}

/** The generator puts a schema of each shared parameter under `schemas`; this moves it into the parameter. */
function writeOutParameters({ components }: Description): void {
  const { parameters = {}, schemas = {} } = components
  for (const [name, parameter] of Object.entries(parameters)) {
    if (typeof parameter !== 'object' || parameter === null || Array.isArray(parameter) || !schemas[name]) continue
    parameter['schema'] = schemas[name]
    delete schemas[name]
  }
}

function addShared(whole: Description): void {
  const api = new OpenAPIHono<AppEnv>()
  api.openAPIRegistry.register('Error', ErrorBody)
  api.openAPIRegistry.register('IgnoredFields', z.object({ ignoredFields }))
  api.openAPIRegistry.register('IgnoredParameters', z.object({ ignoredParameters }))
  const said = JSON.stringify(whole.components)
  for (const [name, schema] of laterSchemas)
    if (said.includes(`"#/components/schemas/${name}"`)) api.openAPIRegistry.register(name, schema)
  const { components } = documentOf(api, { openapi: '3.1.0', info: { title: '', version: '' } })
  const answered = new Set(
    Object.values(whole.paths).flatMap((item) =>
      Object.values(item).flatMap(({ responses }) => Object.keys(responses)),
    ),
  )
  const responses = Object.fromEntries(
    sharedRefusals()
      .filter(({ status }) => answered.has(String(status)))
      .map(({ name, response }) => [name, plain<Json>(response)]),
  )
  merge(whole, { ...whole, components: { ...components, responses, headers: plain(sharedHeaders) } })
}

/** Puts the description next to the parameter, where tools look for it; the schema may have it too. */
function describeParameters({ parameters = [] }: DescribedOperation): void {
  for (const parameter of parameters) {
    if (parameter.$ref !== undefined) continue
    const description = parameter.description ?? parameter.schema?.description ?? parameterDescriptions[parameter.name]
    if (description !== undefined) parameter.description = description
  }
}

const takesBody = (method: string): boolean => method === 'post' || method === 'put' || method === 'patch'

/** An answer may name what was ignored: fields of a JSON body and, where it has `success`, query parameters. */
function mayListIgnored(
  { requestBody, responses }: DescribedOperation,
  hasBody: boolean,
  components: Description['components'],
): void {
  const isJson = hasBody && (!requestBody || requestBody.content['application/json'] !== undefined)
  for (const [status, { content }] of Object.entries(responses)) {
    const json = content?.['application/json']
    if (!json?.schema || !status.startsWith('2')) continue
    const added = [
      ...(isJson ? [{ $ref: '#/components/schemas/IgnoredFields' }] : []),
      ...(hasSuccess(json.schema, components) ? [{ $ref: '#/components/schemas/IgnoredParameters' }] : []),
    ]
    if (added.length > 0) json.schema = { allOf: [json.schema, ...added] }
  }
}

/** Whether a described object, or one of those it may be, has the field `success`. */
function hasSuccess(schema: Json, components: Description['components']): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  const { $ref, properties, anyOf } = schema as { $ref?: string; properties?: object; anyOf?: Json[] }
  const named = $ref === undefined ? undefined : components['schemas']?.[$ref.split('/').at(-1) ?? '']
  if (named) return hasSuccess(named, components)
  return (
    (properties !== undefined && 'success' in properties) || (anyOf ?? []).some((one) => hasSuccess(one, components))
  )
}

function show({ requestBody, responses }: DescribedOperation, example: Example | undefined): void {
  const sent = requestBody?.content['application/json']
  if (sent && example?.request !== undefined) sent.example = example.request
  for (const { status, mediaType, body } of example?.answers ?? []) {
    const content = responses[status]?.content?.[mediaType]
    if (content) content.example = body
  }
}
