const name = 'gatehouse.news'
const aliveMs = 5000
const mostSilentMs = 15_000

/** The visible tabs of this browser that show this gateway: one of them leads. */
export type Tabs<News> = {
  /** Tells all others. */
  tell(news: News): void
  leave(): void
}

type Needs<News> = {
  /** This tab leads from now on. */
  readonly onLead: () => void
  /** News of the leading tab. */
  readonly onNews: (news: News) => void
  /** The leading tab sent the state that a new tab needs. All tabs receive it, every few seconds. */
  readonly onState: (news: News) => void
  /** Returns the state, where this tab leads; undefined: nothing is known yet. */
  readonly state: () => News | undefined
  /** The leading tab has been silent for long: a dialog such as that of printing stops it, for one. */
  readonly onSilent: () => void
  readonly everyMs?: number
  readonly silentMs?: number
}

type Message<News> = { readonly kind: 'come' } | { readonly kind: 'news' | 'state'; readonly news: News }

/**
 * Joins the other tabs, so that one connection serves all: browsers open six to a gateway, and a stream keeps one for good. When
 * the leading tab leaves, another leads. Undefined where the browser has no locks (they need HTTPS).
 */
export function joinTabs<News>(needs: Needs<News>): Tabs<News> | undefined {
  const { onLead, onNews, onState, state, onSilent, everyMs = aliveMs, silentMs = mostSilentMs } = needs
  if (!('locks' in navigator) || !('BroadcastChannel' in globalThis)) return undefined
  const channel = new BroadcastChannel(name)
  const waiting = new AbortController()
  let isLeading = false
  let isOver = false
  let release = () => {}
  let alive: ReturnType<typeof setInterval> | undefined
  let silence = setTimeout(onSilent, silentMs)
  const post = (message: Message<News>) => channel.postMessage(message)
  const sayState = () => {
    const known = isLeading ? state() : undefined
    if (known) post({ kind: 'state', news: known })
  }
  channel.onmessage = (event: MessageEvent) => {
    if (isOver) return
    const data = event.data as Message<News>
    if (data.kind === 'come') sayState()
    else if (!isLeading) {
      clearTimeout(silence)
      silence = setTimeout(onSilent, silentMs)
      if (data.kind === 'news') onNews(data.news)
      else onState(data.news)
    }
  }
  const lead = () =>
    new Promise<void>((resolve) => {
      release = resolve
      if (isOver) return resolve()
      isLeading = true
      clearTimeout(silence)
      alive = setInterval(sayState, everyMs)
      onLead()
    })
  navigator.locks.request(name, { signal: waiting.signal }, lead).catch(() => {})
  post({ kind: 'come' })
  return {
    tell: (news) => {
      if (isLeading && !isOver) post({ kind: 'news', news })
    },
    leave: () => {
      isOver = true
      clearTimeout(silence)
      clearInterval(alive)
      waiting.abort()
      release()
      channel.close()
    },
  }
}
