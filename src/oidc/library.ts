import type * as OpenidClient from 'openid-client'

export type Library = typeof OpenidClient

let loaded: Library | undefined

/** Loads `openid-client`, which takes 100 ms: a start without a provider does without it. */
export async function loadLibrary(): Promise<Library> {
  loaded ??= await import('openid-client')
  return loaded
}

/** Returns the library once it is loaded. It throws no error before that. */
export const loadedLibrary = (): Library | undefined => loaded
