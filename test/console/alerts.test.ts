import type { Browser } from 'playwright-core'
import t from 'tap'
import { violations } from '../support/axe.ts'
import { inBrowser, launchBrowser, open, place, signIn } from '../support/browser.ts'
import { startMailServer } from '../support/mail-server.ts'
import { screens } from '../support/screens.ts'

t.setTimeout(240_000)

let browser: Browser | undefined
t.before(async () => {
  browser = await launchBrowser()
})
t.teardown(() => browser?.close())

t.test('an admin tests a channel, plans work and ends it, at the page of alerts', inBrowser, async (t) => {
  const mail = await startMailServer(t, { authOptional: true })
  const smtp = { host: '127.0.0.1', port: mail.port, from: 'gw@example.com', caFile: mail.caFile }
  const { gateway, url } = await place(t, {
    alerts: { smtp, channels: [{ name: 'dock', mail: { to: ['dock@example.com'] }, webPush: {} }] },
  })
  const { page, faults } = await open(t, browser, `${url}alerts`, { ...screens.handheld, reducedMotion: 'reduce' })
  await signIn(page, 'ada')
  const channels = page.getByRole('region', { name: 'Messages to people' })
  await channels.getByText('to dock@example.com').waitFor()
  await channels.getByRole('button', { name: 'Test: dock' }).click()
  await page.getByText('1 test was sent.').waitFor()
  t.match(mail.mails, [{ to: ['dock@example.com'], text: /test of alerts/ }])
  const sent = page.getByRole('region', { name: 'Sent messages' })
  await sent.getByText('sent, 1 attempt').waitFor()
  mail.refuse(() => ({ code: 550, message: 'no such mailbox' }))
  await channels.getByRole('button', { name: 'Test: dock' }).click()
  await page
    .getByText(/dock@example\.com: .*no such mailbox/)
    .first()
    .waitFor()

  const work = page.getByRole('form', { name: 'Hold messages back' })
  await work.getByLabel('Until').fill(new Date(gateway.clock.now() + 86_400_000).toISOString().slice(0, 16))
  await work.getByLabel('Kinds').fill('camera.ofline')
  await work.getByLabel('Reason').fill('new switch')
  await work.getByRole('button', { name: 'Hold messages back' }).click()
  await work
    .getByText(/camera\.offline/)
    .first()
    .waitFor()
  await work.getByLabel('Kinds').fill('camera.*')
  await work.getByRole('button', { name: 'Hold messages back' }).click()
  const planned = page.getByRole('region', { name: 'Planned work' })
  await planned.getByRole('listitem').getByText('camera.*').waitFor()
  t.same(await violations(page), [])
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), screens.handheld.viewport.width)
  await planned.getByRole('button', { name: 'End now: new switch' }).click()
  await page.getByText('Messages go out again.').waitFor()
  await planned.getByRole('listitem').waitFor({ state: 'detached' })
  t.same(
    faults.filter((one) => !one.includes('400 (Bad Request)')),
    [],
    'but for the refused kind',
  )
})

t.test('the service worker runs under the policy of the page', inBrowser, async (t) => {
  const { url } = await place(t, { alerts: { channels: [{ name: 'phones', webPush: {} }] } })
  const { page } = await open(t, browser, `${url}people`)
  await page.context().grantPermissions(['notifications'])
  await signIn(page, 'sven')
  const card = page.getByRole('region', { name: 'Messages in this browser' })
  await card.getByRole('button', { name: 'Get messages here' }).click()
  // This browser has no push service, so the subscription fails after the worker has started.
  await page.waitForFunction(
    `navigator.serviceWorker.getRegistration('/alerts').then((found) => found?.active?.scriptURL.endsWith('/alert-worker.js'))`,
  )
  t.pass('it is active')
})
