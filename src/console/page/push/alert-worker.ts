/** The service worker of messages about alerts: it shows each one, and its button acknowledges the alert. It caches nothing. */
type Shown = { readonly link: string; readonly acknowledge?: string }
type Waiting = Event & { waitUntil(work: Promise<unknown>): void }
type Message = Shown & { readonly id: string; readonly title: string; readonly body: string }
type Pushed = Waiting & { readonly data: { json(): Message } | null }
type Clicked = Waiting & {
  readonly action: string
  readonly notification: { readonly data: Shown; close(): void }
}
type Client = { readonly url: string; focus(): Promise<unknown> }
type Worker = {
  readonly registration: { showNotification(title: string, options: object): Promise<void> }
  readonly clients: { matchAll(options: object): Promise<readonly Client[]>; openWindow(url: string): Promise<unknown> }
  readonly navigator: { readonly language: string }
  readonly location: { readonly origin: string }
  addEventListener(type: 'push', listener: (event: Pushed) => void): void
  addEventListener(type: 'notificationclick', listener: (event: Clicked) => void): void
}
// The page is compiled with the types of a window; this file runs in a service self.
declare const self: Worker
const isGerman = self.navigator.language.startsWith('de')
const words = isGerman
  ? { acknowledge: 'Quittieren', acknowledged: 'Quittiert', failed: 'Nicht quittiert. Die Meldung öffnen.' }
  : { acknowledge: 'Acknowledge', acknowledged: 'Acknowledged', failed: 'Not acknowledged. Open the alert.' }

self.addEventListener('push', (event) => {
  if (!event.data) return
  const { id, title, body, link, acknowledge } = event.data.json()
  const data: Shown = { link, ...(acknowledge !== undefined && { acknowledge }) }
  const actions = acknowledge === undefined ? [] : [{ action: 'acknowledge', title: words.acknowledge }]
  // A repeat has the same tag, and replaces what is shown.
  event.waitUntil(self.registration.showNotification(title, { body, tag: id, data, actions, lang: 'en' }))
})

self.addEventListener('notificationclick', (event) => {
  const { data } = event.notification
  event.notification.close()
  const isAct = event.action === 'acknowledge' && data.acknowledge !== undefined
  event.waitUntil(isAct ? acknowledge(data) : open(data.link))
})

/** Uses the link of the message, at the address of this page: the gateway may have another name here. */
async function acknowledge({ acknowledge: link = '', link: page }: Shown): Promise<void> {
  const { pathname, search } = new URL(link)
  const answer = await fetch(`${pathname}${search}`, { method: 'POST', credentials: 'omit' }).catch(() => undefined)
  const title = answer?.ok ? words.acknowledged : words.failed
  await self.registration.showNotification(title, { tag: 'acknowledged', data: { link: page } })
}

async function open(link: string): Promise<void> {
  const { pathname, search, hash } = new URL(link)
  const address = `${self.location.origin}${pathname}${search}${hash}`
  const open = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const shown = open.find(({ url }) => url === address)
  await (shown ? shown.focus() : self.clients.openWindow(address))
}
