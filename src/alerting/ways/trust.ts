import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

/** Returns the authorities of a file beside the built-in ones; undefined: the built-in ones. Throws when it cannot be read. */
export const trustOf = (caFile: string | null): SecureContext | undefined =>
  caFile === null
    ? undefined
    : createSecureContext({ ca: [...getCACertificates('default'), readFileSync(caFile, 'utf8')] })
