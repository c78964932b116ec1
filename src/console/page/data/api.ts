import type { components, paths } from '../../../../.cache/api.d.ts'
import { ask, type Options } from './ask.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends { readonly [K in M]: unknown } ? P : never
}[keyof paths] &
  string
type Operation<P extends keyof paths, M extends Method> = paths[P] extends { readonly [K in M]: infer O } ? O : never
type Json<Of> = Of extends { readonly content: { readonly 'application/json': infer Value } } ? Value : undefined
type Answers<O> = O extends { readonly responses: infer R } ? Json<R[keyof R]> : never

/** Answer of the gateway to a request, by path and method. */
export type Answer<P extends keyof paths, M extends Method = 'get'> = Answers<Operation<P, M>>
/** A shape of the API's description, by its name. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name]

type Names<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Query<O> = O extends { readonly parameters: { readonly query?: infer Q } } ? NonNullable<Q> : object
type Given<P extends keyof paths, M extends Method> = { readonly [K in Names<P>]: string | number } & {
  readonly [K in keyof Query<Operation<P, M>>]?: Query<Operation<P, M>>[K] | undefined
}
type Body<O> = O extends { readonly requestBody?: infer B } ? Json<NonNullable<B>> : undefined
type Sent<P extends Path<M>, M extends Method> = Omit<Options, 'method' | 'body'> & {
  readonly body?: Body<Operation<P, M>>
}

/** Reads from the gateway. `given` has the values of the path and of the query. Throws Refused or Unreachable. */
export const get = <P extends Path<'get'>>(path: P, given: Given<P, 'get'>): Promise<Answer<P>> =>
  ask(addressOf(path, given))

/** Changes something at the gateway. Throws Refused or Unreachable. */
export const post = <P extends Path<'post'>>(
  path: P,
  given: Given<P, 'post'>,
  sent: Sent<P, 'post'> = {},
): Promise<Answer<P, 'post'>> => ask(addressOf(path, given), { ...sent, method: 'POST' })

/** Fills values into a path; the other values become its query. */
export function addressOf(path: string, given: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  let filled = path
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (path.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, () => encodeURIComponent(String(value)))
    else query.append(name, String(value))
  }
  return query.size === 0 ? filled : `${filled}?${query}`
}
