import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { isInstalled, runToEnd } from '../support/process.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

const secret = 'a secret that both know'
const guide = readFileSync(resolve(import.meta.dirname, '../../src/webhooks/README.md'), 'utf8')

/** The one piece of code in this language that the guide shows. */
function snippet(language: string): string {
  const found = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code)
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} pieces of ${language} in the guide`)
  return found[0]
}

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-guide-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Lets time pass until so many requests have come in all. */
async function until(gateway: TestGateway, received: readonly Received[], count: number): Promise<void> {
  for (let turn = 0; received.length < count; turn += 1) {
    if (turn > 1_000_000) throw new Error(`${received.length} of ${count} came`)
    await new Promise((resolve) => setImmediate(resolve))
    if (turn % 100 === 0) gateway.clock.advance(1000)
  }
  await gateway.webhooks.worker.settled()
}

/** What a real receiver gets on a bad day: events in order, one that failed and comes late, one twice, one forged. */
async function aBadDay(t: Test): Promise<Received[]> {
  const receiver = await startReceiver({ secret, behave: (_, nth) => ({ status: nth === 1 ? 500 : 204 }) })
  t.teardown(() => receiver.stop())
  const caFile = join(newFolder(t), 'receiver.pem')
  writeFileSync(caFile, receiver.caPem)
  const gateway = await testGateway({ config: { webhooks: { allowNetworks: ['127.0.0.0/8'], caFile } } })
  t.teardown(async () => {
    await gateway.webhooks.worker.stop()
    gateway.end()
  })
  await furnish(gateway, ['A-01', 'B-01'])
  const by = people.ada
  const hook = { url: receiver.url, events: ['whms.removal'], secret }
  const { id } = (await gateway.ask('POST', '/api/webhooks', { by, body: hook })).body
  gateway.webhooks.worker.start()
  for (const [n, slot_code] of ['A-01', 'B-01', 'A-01'].entries()) {
    const body = { event_type: 'REMOVED', slot_code, asset_barcode: `Grün-${n}` }
    await gateway.ask('POST', '/api/whms/events', { by, body })
    await until(gateway, receiver.received, n + 1)
  }
  await until(gateway, receiver.received, 4)
  const [, second] = receiver.received
  await gateway.ask('POST', `/api/webhooks/${id}/deliveries/${second?.deliveryId}/redeliver`, { by })
  await until(gateway, receiver.received, 5)
  const all = receiver.received.slice(1) // the first was answered with 500: that receiver has not taken it
  const forged = { ...(all[0] as Received), body: Buffer.from('{}') }
  return [...all, forged]
}

const expected = ['applied', 'applied', 'overtaken', 'repeated', 'forged']

t.test('the guide’s code takes what the gateway sends', async (t) => {
  const day = await aBadDay(t)
  const asJson = JSON.stringify(day.map(({ headers, body }) => ({ headers, body: body.toString('base64') })))

  await t.test('in JavaScript', async (t) => {
    const file = join(newFolder(t), 'receiver.mjs')
    writeFileSync(file, snippet('js'))
    const { receive } = (await import(file)) as {
      receive: (headers: object, body: Buffer, secret: string) => string
    }
    t.strictSame(
      day.map(({ headers, body }) => receive(headers, body, secret)),
      expected,
    )
  })

  await t.test('in Python', { skip: isInstalled('python3', '--version') ? false : 'no Python here' }, async (t) => {
    const folder = newFolder(t)
    writeFileSync(join(folder, 'receiver.py'), snippet('python'))
    const play = `import base64, json, receiver, sys
for one in json.load(sys.stdin):
    print(receiver.receive(one["headers"], base64.b64decode(one["body"]), ${JSON.stringify(secret)}))`
    const { stdout, stderr } = await runToEnd('python3', ['-c', play], { cwd: folder, input: asJson })
    t.strictSame(stdout.trim().split('\n'), expected, stderr)
  })

  await t.test('in the shell', { skip: isInstalled('openssl', 'version') ? false : 'no openssl here' }, async (t) => {
    const folder = newFolder(t)
    writeFileSync(join(folder, 'receive.sh'), snippet('sh'))
    const calls = day.map(({ headers, body, deliveryId }, n) => {
      writeFileSync(join(folder, `body-${n}`), body)
      return `receive body-${n} '${headers['x-service-signature']}' '${deliveryId}' '${secret}'`
    })
    const { stdout, stderr } = await runToEnd('sh', ['-c', ['. ./receive.sh', ...calls].join('\n')], { cwd: folder })
    // The shell's keeps no order: what came late is applied like any other.
    t.strictSame(stdout.trim().split('\n'), ['applied', 'applied', 'applied', 'repeated', 'forged'], stderr)
  })
})
