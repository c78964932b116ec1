import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cheapHash } from '../support/gateway.ts'
import { type Daemon, startDaemon } from '../support/process.ts'
import { type Receiver, type ReceiverOptions, startReceiver } from '../support/receiver.ts'

const secret = 'a secret that both know'
const siteUrl = 'http://127.0.0.1:8480'

const headers = {
  Authorization: 'Bearer ada-secret',
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': 'ada',
  'Content-Type': 'application/json',
}

type Site = { readonly receiver: Receiver; start(): Promise<Daemon> }

/** A folder with a config whose delays are short, and a receiver that the gateway trusts. */
async function site(t: Test, options: Partial<ReceiverOptions>, webhooks: string): Promise<Site> {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-webhooks-daemon-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  const receiver = await startReceiver({ secret, ...options })
  t.teardown(() => receiver.stop())
  writeFileSync(join(cwd, 'receivers.pem'), receiver.caPem)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(
    file,
    `site: { id: webhooks-test, url: ${siteUrl} }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
webhooks: { allowNetworks: [127.0.0.0/8], caFile: receivers.pem, ${webhooks} }
`,
  )
  const start = async () => {
    const daemon = await startDaemon(['--config', file], { cwd })
    t.teardown(() =>
      daemon.child.exitCode === null && daemon.child.signalCode === null ? daemon.end('SIGKILL') : undefined,
    )
    return daemon
  }
  return { receiver, start }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
async function ask(daemon: Daemon, method: string, path: string, body?: object): Promise<any> {
  const json = body ? { body: JSON.stringify(body) } : {}
  const response = await fetch(`${daemon.url}${path}`, { method, headers, ...json })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path} ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

/** A warehouse with one slot, and the receiver registered for removals. */
async function furnish(daemon: Daemon, receiver: Receiver): Promise<string> {
  await ask(daemon, 'POST', '/api/whms/warehouses', { name: 'Hall', timezone: 'Europe/Berlin' })
  await ask(daemon, 'POST', '/api/whms/zones', { name: 'S', zone_type: 'storage', warehouseId: 1 })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await ask(daemon, 'POST', '/api/whms/slots', { slot_id: 'A-01', zone: 'S', floor_plan_polygon })
  const hook = { url: receiver.url, events: ['whms.removal'], secret }
  return (await ask(daemon, 'POST', '/api/webhooks', hook)).id
}

const record = (daemon: Daemon, n: number) =>
  ask(daemon, 'POST', '/api/whms/events', { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: `P-${n}` })

t.test('with a short schedule from the config the document’s attempts are seen in real time', async (t) => {
  const delaysMs = [0, 100, 200, 300, 400, 500]
  const arrivedMs: number[] = []
  const behave = () => {
    arrivedMs.push(performance.now())
    return { status: 503 }
  }
  const schedule = delaysMs.map((ms) => `${ms}ms`).join(', ')
  const { receiver, start } = await site(
    t,
    { behave },
    `retrySchedule: [${schedule}], probe: { initial: 50ms, max: 100ms }`,
  )
  const daemon = await start()
  const id = await furnish(daemon, receiver)
  await record(daemon, 1)
  await receiver.waitFor((_, all) => all.length === 6)
  for (const [i, delayMs] of delaysMs.entries()) {
    // A millisecond for the rounding of the clocks at either end.
    const waitedMs = (arrivedMs[i] ?? 0) - (arrivedMs[i - 1] ?? 0)
    t.ok(i === 0 || waitedMs >= delayMs - 1, `attempt ${i + 1} after ${Math.round(waitedMs)} ms`)
  }
  t.equal(new Set(receiver.received.map((r) => r.deliveryId)).size, 1)
  const delivery = async () => (await ask(daemon, 'GET', `/api/webhooks/${id}/deliveries`)).data[0]
  while ((await delivery()).state === 'pending') await new Promise((resolve) => setImmediate(resolve))
  t.match(await delivery(), { state: 'exhausted', attemptCount: 6 })
  t.match((await ask(daemon, 'GET', '/api/alerts')).data, [{ kind: 'webhook.failing', subject: id }])

  receiver.behave((request) => ({ status: request.signatureValid ? 204 : 401 }))
  await record(daemon, 2)
  const healed = await receiver.waitFor((r) => r.event.data['asset_barcode'] === 'P-2')
  t.equal(healed.signatureValid, true)
  t.equal(await daemon.end('SIGTERM'), 0)
})

t.test('killed between sending and recording: the same delivery comes again, and nothing is missing', async (t) => {
  const { receiver, start } = await site(t, { behave: () => 'hang' }, 'timeout: 30s')
  const first = await start()
  await furnish(first, receiver)
  for (let n = 1; n <= 10; n += 1) await record(first, n)
  await receiver.waitFor((_, all) => all.length === 4)
  await first.end('SIGKILL')
  const before = receiver.received.map((r) => r.deliveryId)
  receiver.behave((request) => ({ status: request.signatureValid ? 204 : 401 }))
  const second = await start()
  await receiver.waitFor((_, all) => new Set(all.slice(4).map((r) => r.deliveryId)).size === 10)
  const after = receiver.received.slice(4)
  t.strictSame(new Set(after.map((r) => r.event.data['asset_barcode'])).size, 10)
  for (const id of before) {
    const again = after.filter((r) => r.deliveryId === id)
    t.equal(again.length, 1, 'once more, under its id')
    t.strictSame(again[0]?.body, receiver.received.find((r) => r.deliveryId === id)?.body, 'and as the same bytes')
  }
  t.equal(await second.end('SIGTERM'), 0)
})
