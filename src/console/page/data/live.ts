import type { Heard } from './heard.ts'
import { joinTabs, type Tabs } from './tabs.ts'

type Listener = (heard: Heard) => void

const kinds = ['hello', 'floor', 'event', 'camera', 'alert', 'health', 'unit', 'incident'] as const
const retryMs = 3000
/** A view that closes may be followed by one that listens as well. */
const lingerMs = 1000

const listeners = new Set<Listener>()
let source: EventSource | undefined
let lingering: ReturnType<typeof setTimeout> | undefined
let retrying: ReturnType<typeof setTimeout> | undefined
let lastId = ''
let isLive = false
let isOn = false
let tabs: Tabs<Shared> | undefined

/** A message that the tab with the connection shares, and its place in the stream. */
type Shared = { readonly heard: Heard; readonly id: string }

/** Calls the listener with all that the gateway tells, beginning with `hello`. Returns a function that ends it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  clearTimeout(lingering)
  if (listeners.size === 1) document.addEventListener('visibilitychange', lookAtPage)
  if (!isOn) begin()
  // A later listener has read nothing yet.
  else if (isLive) queueMicrotask(() => listeners.has(listener) && listener(anew))
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    document.removeEventListener('visibilitychange', lookAtPage)
    lingering = setTimeout(end, lingerMs)
  }
}

const anew: Heard = { kind: 'hello', data: { resumed: false } }

function tell(heard: Heard): void {
  isLive = heard.kind !== 'lost'
  for (const listener of [...listeners]) listener(heard)
}

/** Listens: by the connection of another tab, or by its own where this tab is the first or tabs cannot share. */
function begin(): void {
  if (document.hidden) return
  isOn = true
  tabs = joinTabs<Shared>({
    onLead: connect,
    onNews: ({ heard, id }) => {
      lastId = id
      // A tab that was not live may have missed something, so it reads anew.
      tell(heard.kind !== 'lost' && !isLive ? anew : heard)
    },
    onState: ({ heard, id }) => {
      if (isLive) return
      lastId = id
      tell(heard)
    },
    state: () => (isLive ? { heard: anew, id: lastId } : undefined),
    onSilent: () => tell({ kind: 'lost' }),
  })
  if (!tabs) connect()
}

function connect(): void {
  clearTimeout(retrying)
  if (!isOn) return
  const opened = new EventSource(`/api/stream${lastId === '' ? '' : `?after=${encodeURIComponent(lastId)}`}`)
  source = opened
  const hear = (heard: Heard) => {
    tell(heard)
    tabs?.tell({ heard, id: lastId })
  }
  for (const kind of kinds) {
    opened.addEventListener(kind, (event: MessageEvent<string>) => {
      lastId = event.lastEventId
      hear({ kind, data: JSON.parse(event.data) } as Heard)
    })
  }
  opened.addEventListener('error', () => {
    if (source !== opened) return
    hear({ kind: 'lost' })
    // After a refusal a browser does not try again.
    if (opened.readyState === EventSource.CLOSED) retrying = setTimeout(connect, retryMs)
  })
}

function end(): void {
  clearTimeout(lingering)
  clearTimeout(retrying)
  source?.close()
  source = undefined
  isLive = false
  isOn = false
  tabs?.leave()
  tabs = undefined
}

/** A hidden page needs no connection. */
function lookAtPage(): void {
  if (document.hidden) end()
  else if (!isOn) begin()
}
