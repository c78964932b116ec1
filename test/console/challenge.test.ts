import type { Browser, Page } from 'playwright-core'
import t from 'tap'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { furnish, people, signedIn } from '../support/gateway.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(120_000)

/** To a browser plain HTTP to this name is a connection to another machine, so it sends no `Sec-Fetch-Site`. */
const otherMachine = 'gatehouse.example'

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser([`--host-resolver-rules=MAP ${otherMachine} 127.0.0.1`])
})
t.teardown(() => browser?.close())

type Challenge = { readonly path: string; readonly schemes: string | undefined }

/** Every 401 that the page is answered, with the schemes that it offers. */
function challengesOf(page: Page): Challenge[] {
  const challenges: Challenge[] = []
  page.on('response', async (response) => {
    if (response.status() !== 401) return
    challenges.push({
      path: new URL(response.url()).pathname,
      schemes: (await response.allHeaders())['www-authenticate'],
    })
  })
  return challenges
}

/** Every way in which a page asks the gateway for something. */
const askInEveryWay = (headers: Record<string, string>) => `
  const headers = ${JSON.stringify(headers)}
  const image = document.createElement('img')
  image.src = '/api/iot/cctv/1/snapshot'
  const video = document.createElement('video')
  video.src = '/api/iot/detection-events/1/clip'
  document.body.append(image, video)
  video.load()
  new EventSource('/api/stream').onerror = () => undefined
  const ask = (path, init) => void fetch(path, init).catch(() => undefined)
  ask('/api/whms/slots')
  ask('/api/whms/zones', { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } })
  ask('/api/whms/warehouses', { headers })
  ask('/api/whms/assets', { headers, credentials: 'omit', cache: 'no-store' })
`

/** What it asks for. */
const asked = [
  'iot/cctv/1/snapshot',
  'iot/detection-events/1/clip',
  'stream',
  'whms/slots',
  'whms/zones',
  'whms/warehouses',
  'whms/assets',
]

for (const host of ['127.0.0.1', otherMachine]) {
  t.test(
    `no 401 offers Basic to the console's page at ${host}, so the browser opens no password box`,
    inBrowser,
    async (t) => {
      const { gateway, url } = await place(t, { http: { hostNames: [otherMachine] } })
      await furnish(gateway, ['A-01'])
      const { page } = await open(t, browser, 'about:blank')
      const dialogs: string[] = []
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      const challenges = challengesOf(page)
      const address = url.replace('127.0.0.1', host)
      await page.goto(`${address}find`)
      await signIn(page, 'sven', 'wrong')
      await waitUntil('the wrong secret is refused', () => challenges.some(({ path }) => path === '/api/session'))
      await signIn(page, 'sven')
      await page.locator('.find-page').waitFor()
      await page.context().clearCookies()
      await page.evaluate(askInEveryWay(signedIn({ ...people.sven, username: 'nobody' })))
      for (const path of asked)
        await waitUntil(`${path} is refused`, () => challenges.some((one) => one.path === `/api/${path}`))
      t.strictSame(
        challenges.filter(({ schemes }) => schemes !== 'Bearer'),
        [],
      )
      t.strictSame(dialogs, [])
    },
  )
}

t.test('a program is offered both schemes', async (t) => {
  const { gateway, url } = await place(t)
  const both = 'Bearer, Basic realm="gatehouse"'
  for (const headers of [
    {},
    { Referer: 'https://wms.example/', Origin: 'https://wms.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'none' },
    signedIn(people.sven, { Authorization: 'Bearer wrong' }),
  ] as Record<string, string>[]) {
    const answer = await fetch(`${url}api/whms/slots`, { headers })
    t.match([answer.status, answer.headers.get('www-authenticate')], [401, both], JSON.stringify(headers))
  }
  const cookie = { Cookie: `gatehouse=${'a'.repeat(43)}` }
  const ended = await gateway.ask('GET', '/api/whms/slots', { headers: cookie })
  t.equal(ended.headers.get('www-authenticate'), 'Bearer', 'only a page has the cookie')
})
