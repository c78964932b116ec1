import { assetPath } from '../bundle.ts'

/** The functions of the C library that Node does not offer. */
export type Libc = {
  /** socket(2) */
  socket(domain: number, type: number, protocol: number): number
  /** connect(2) */
  connect(socket: number, address: Uint8Array, length: number): number
  /** getsockopt(2); both buffers are written. */
  getsockopt(socket: number, level: number, name: number, value: Uint8Array, length: Uint8Array): number
  /** malloc_trim(3): gives unused memory back to the system, and keeps so many bytes of it. 1: it gave some back. */
  mallocTrim(keptBytes: number): number
  /** _exit(2): ends the process at once. exit(3) waits for a thread of the pool that hangs in getaddrinfo(3). */
  exit(status: number): void
}

let loaded: Libc | undefined

/** Returns the C library of this process, called through koffi's addon. Throws where the addon cannot be loaded. */
export function libc(): Libc {
  loaded ??= load()
  return loaded
}

function load(): Libc {
  const addon = { exports: {} as { load(library: null): { func(prototype: string): never } } }
  process.dlopen(addon, assetPath('koffi.node'))
  // Null: the libraries that this process has loaded already, which include libc.
  const library = addon.exports.load(null)
  return {
    socket: library.func('int socket(int, int, int)'),
    connect: library.func('int connect(int, const uint8_t *, uint32_t)'),
    getsockopt: library.func('int getsockopt(int, int, int, _Inout_ uint8_t *, _Inout_ uint8_t *)'),
    mallocTrim: library.func('int malloc_trim(size_t)'),
    exit: library.func('void _exit(int)'),
  }
}
