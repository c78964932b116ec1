/**
 * The service worker of /scan and /training: it keeps the page's own files, so that the page opens without a network. The
 * build puts their names in. It never answers for the API.
 */
declare const gatehouseFiles: {
  readonly version: string
  readonly page: string
  readonly assets: readonly string[]
  /** Files for reading codes by the camera; they are cached too, but the page opens without them. */
  readonly later: readonly string[]
}

type Waiting = Event & { waitUntil(work: Promise<unknown>): void }
type Fetching = Waiting & { readonly request: Request; respondWith(answer: Promise<Response>): void }
type Worker = {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: Waiting) => void): void
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void
}
// The page is compiled with the types of a window; this file runs in a service worker.
const worker = self as unknown as Worker
const scope = new URL(worker.registration.scope).pathname
const prefix = `gatehouse ${scope} `
const cacheName = prefix + gatehouseFiles.version
const own = new Set([...gatehouseFiles.assets, ...gatehouseFiles.later])

worker.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then((cache) =>
        // `reload` avoids a copy of an older version in the browser's cache.
        cache.addAll(
          [gatehouseFiles.page, ...gatehouseFiles.assets].map((path) => new Request(path, { cache: 'reload' })),
        ),
      )
      .then(() => worker.skipWaiting()),
  )
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(gatehouseFiles.later).catch(() => undefined)))
})

worker.addEventListener('activate', (event) => {
  const clear = async () => {
    for (const name of await caches.keys()) if (name.startsWith(prefix) && name !== cacheName) await caches.delete(name)
    await worker.clients.claim()
  }
  event.waitUntil(clear())
})

worker.addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url)
  if (event.request.method !== 'GET' || origin !== location.origin) return
  const name = event.request.mode === 'navigate' && pathname === scope ? gatehouseFiles.page : pathname
  if (name !== gatehouseFiles.page && !own.has(name)) return
  event.respondWith(
    caches
      .open(cacheName)
      .then((cache) => cache.match(name))
      .then((kept) => kept ?? fetch(event.request)),
  )
})
