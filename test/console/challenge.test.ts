import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

/** Paths that the console requests. */
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

/** Sends one body in every way in which a page of another origin can send it with the cookie. */
const sendInEveryWay = (url: string) => `
  const body = JSON.stringify({ name: 'Hall', timezone: 'UTC' })
  const ask = (body, headers) =>
    void fetch(${JSON.stringify(url)}, { method: 'POST', mode: 'no-cors', credentials: 'include', body, headers }).catch(() => undefined)
  ask(new Blob([body]))
  ask(new Blob([body]), { 'Content-Type': '' })
  ask(body)
  const form = document.createElement('form')
  form.method = 'post'
  form.enctype = 'text/plain'
  form.action = ${JSON.stringify(url)}
  form.target = 'frame'
  const field = document.createElement('input')
  field.name = '{"name":"Hall","timezone":"UTC","x":"'
  field.value = '"}'
  form.append(field)
  document.body.append(form)
  form.submit()
`

t.test(
  'a page of another origin changes nothing with the session, whatever type its body has',
  inBrowser,
  async (t) => {
    const { gateway, url } = await place(t)
    const stranger = createServer((_, answer) => {
      answer.setHeader('Content-Type', 'text/html').end('<!doctype html><iframe name="frame"></iframe>')
    })
    await new Promise<void>((listening) => stranger.listen(0, '127.0.0.1', listening))
    t.teardown(() => stranger.close())
    const { page } = await open(t, browser, url)
    await signIn(page, 'ada')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    const warehouses = `${url}api/whms/warehouses`
    const types: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url() === warehouses) types.push(request.headers()['content-type'])
    })
    // Another port of the same host is the same site: the browser sends the cookie along.
    await page.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`)
    await page.evaluate(sendInEveryWay(warehouses))
    // 403: the cookie came along and was recognized, and the token was missing. Without the cookie it would be 401.
    const counted = (status: number) =>
      new RegExp(
        `^gatehouse_http_request_duration_seconds_count\\{method="POST",route="/api/whms/warehouses",status="${status}"\\} (\\d+)$`,
        'm',
      )
    const answersOf = async (status: number) => Number(counted(status).exec(await gateway.metricsText())?.[1] ?? 0)
    await waitUntil('all four are refused', async () => (await answersOf(403)) === 4)
    t.strictSame([types.length, types.includes(undefined)], [4, true], 'a Blob without a type sends no Content-Type')
    t.strictSame((await gateway.ask('GET', '/api/whms/warehouses', { by: people.ada })).body.data, [])
  },
)
