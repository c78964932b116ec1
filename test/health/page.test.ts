import t from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { inBrowser, launchBrowser } from '../support/browser.ts'
import { people, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'

t.setTimeout(120_000)

t.test(
  'on a full disk people sign in, see the floor, and read why nothing can be recorded',
  { ...inBrowser, ...onSmallDisk },
  async (t) => {
    const disk = smallDisk(16)
    const gateway = await testGateway({ folder: disk.folder, clock: new SimulatedClock(Date.now()) })
    const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
    const port = await listener.start()
    const browser = await launchBrowser()
    if (!browser) throw new Error('there is no browser')
    t.teardown(async () => {
      await browser.close()
      await listener.stop()
      gateway.close()
      disk.end()
    })
    const hall = { name: 'North hall', timezone: 'Europe/Berlin' }
    await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: hall })
    disk.fill()
    for (let status = 201; status === 201; ) {
      status = (await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: hall })).status
    }
    await gateway.health.look()
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port}/`)
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('Secret', { exact: true }).fill('ada-secret')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The disk is full. Nothing can be recorded. Reading works.').waitFor()
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    t.equal(await page.getByText('The disk of the ledger is full').count(), 1, 'the alert is there, though not stored')
    t.equal(await page.getByRole('button', { name: 'Acknowledge' }).count(), 0)
    disk.empty()
    await gateway.health.look()
    await gateway.health.look()
    await page.getByText('The disk is full. Nothing can be recorded').waitFor({ state: 'detached', timeout: 60_000 })
  },
)
