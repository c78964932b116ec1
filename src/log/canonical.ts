import canonicalize from 'canonicalize'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/**
 * Returns the RFC 8785 text of a value: keys sorted by UTF-16 code units, shortest numbers, no white space, absent keys
 * omitted. Throws TypeError for values that JSON cannot hold (NaN, a lone surrogate).
 */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('nothing to canonicalize')
  return text
}
