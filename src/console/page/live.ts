import type { Alert, Camera, Health, PlacementEvent, Slot } from './answers.ts'

/** What the gateway tells as it happens. `lost`: from now on the page has to ask by itself. */
export type Heard =
  | { readonly kind: 'hello'; readonly data: { readonly resumed: boolean } }
  | {
      readonly kind: 'floor'
      readonly data: {
        readonly warehouseId: number
        readonly layoutChanged: boolean
        readonly slots: readonly Pick<Slot, 'id' | 'isOccupied' | 'assetBarcode' | 'isVerified' | 'isDisputed'>[]
      }
    }
  | { readonly kind: 'event'; readonly data: PlacementEvent }
  | { readonly kind: 'camera'; readonly data: Omit<Camera, 'lastFrameAt'> }
  | { readonly kind: 'alert'; readonly data: Alert & { readonly acknowledgedAt: string | null } }
  | { readonly kind: 'health'; readonly data: Health }
  | { readonly kind: 'lost' }

type Listener = (heard: Heard) => void

const kinds = ['hello', 'floor', 'event', 'camera', 'alert', 'health'] as const
const retryMs = 3000
/** A view that closes may be followed by one that listens as well. */
const lingerMs = 1000

const listeners = new Set<Listener>()
let source: EventSource | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let lastId = ''
let isLive = false

/** Calls the listener with all that the gateway tells, beginning with `hello`. Returns a function that ends it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  clearTimeout(timer)
  if (listeners.size === 1) document.addEventListener('visibilitychange', lookAtPage)
  if (!source) connect()
  // Who comes later has read nothing yet.
  else if (isLive)
    queueMicrotask(() => listeners.has(listener) && listener({ kind: 'hello', data: { resumed: false } }))
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    document.removeEventListener('visibilitychange', lookAtPage)
    timer = setTimeout(disconnect, lingerMs)
  }
}

function tell(heard: Heard): void {
  isLive = heard.kind !== 'lost'
  for (const listener of [...listeners]) listener(heard)
}

function connect(): void {
  clearTimeout(timer)
  if (document.hidden) return
  const opened = new EventSource(`/api/stream${lastId === '' ? '' : `?after=${encodeURIComponent(lastId)}`}`)
  source = opened
  for (const kind of kinds) {
    opened.addEventListener(kind, (event: MessageEvent<string>) => {
      lastId = event.lastEventId
      tell({ kind, data: JSON.parse(event.data) } as Heard)
    })
  }
  opened.addEventListener('error', () => {
    if (source !== opened) return
    tell({ kind: 'lost' })
    // After a refusal a browser does not try again.
    if (opened.readyState === EventSource.CLOSED) timer = setTimeout(connect, retryMs)
  })
}

function disconnect(): void {
  clearTimeout(timer)
  source?.close()
  source = undefined
  isLive = false
}

/** A hidden page needs no connection: browsers open six at most. */
function lookAtPage(): void {
  if (document.hidden) disconnect()
  else if (!source) connect()
}
