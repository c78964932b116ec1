import { createHmac, timingSafeEqual } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { needs } from '../support/needs.ts'
import { allOf } from '../support/plain-sql.ts'
import { runToEnd } from '../support/process.ts'
import type { Received } from '../support/receiver.ts'
import { WebhookYard } from '../support/webhook-yard.ts'

const hour = 3_600_000

/** A yard at the time of today, because the library compares with it, and with its worker running. */
function openYard(t: Test): WebhookYard {
  const yard = new WebhookYard({ startMs: Date.now() })
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  return yard
}

/** Whether a library of Standard Webhooks that knows this secret takes the request. */
function isTaken(request: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(request.body.toString('utf8'), request.headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

/** The check that the document demands of a receiver. */
function isSignedAsDocumented({ body, headers }: Received, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(String(headers['x-service-signature']))
  return expected.length === given.length && timingSafeEqual(expected, given)
}

async function nextRequest(yard: WebhookYard, receiver: { received: readonly Received[] }): Promise<Received> {
  const before = receiver.received.length
  await yard.publish()
  await yard.until(() => receiver.received.length > before)
  await yard.webhooks.worker.settled()
  return receiver.received.at(-1) as Received
}

t.test('a delivery is taken by the Standard Webhooks library and by node:crypto', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => ({ status: 204 }) })
  const made = await yard.call('POST', '/api/webhooks', { url: receiver.url, events: ['whms.placement'] })
  const { secret } = made.body
  const request = await nextRequest(yard, receiver)
  t.ok(isTaken(request, secret))
  t.ok(isSignedAsDocumented(request, secret))
  t.notOk(isTaken(request, `whsec_${Buffer.alloc(32).toString('base64')}`), 'and not under another secret')
  t.equal(request.headers['webhook-id'], request.deliveryId)
})

t.test('the documented header is what openssl makes on the command line', needs('openssl'), async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  await yard.register(receiver)
  const secret = 'a secret that both know'
  const request = await nextRequest(yard, receiver)
  const body = join(yard.folder, 'body')
  writeFileSync(body, request.body)
  const openssl = await runToEnd('openssl', ['dgst', '-sha256', '-hmac', secret, '-hex', body])
  t.match(openssl, { code: 0 })
  t.equal(request.headers['x-service-signature'], `sha256=${openssl.stdout.trim().split(/\s+/).at(-1)}`)
})

t.test('a secret that a person chose is given to the library as base64 of its text', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  await yard.register(receiver)
  const request = await nextRequest(yard, receiver)
  t.ok(isTaken(request, Buffer.from('a secret that both know').toString('base64')))
  t.equal(request.signatureValid, true)
})

t.test('a rotated secret signs at once, and for 24 hours the old one beside it', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => ({ status: 204 }) })
  const made = await yard.call('POST', '/api/webhooks', { url: receiver.url, events: ['whms.placement'] })
  const { id, secret: old } = made.body
  const rotated = await yard.call('POST', `/api/webhooks/${id}/rotate-secret`)
  const { secret } = rotated.body
  t.equal(rotated.status, 200)
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.not(secret, old)
  t.equal(rotated.body.previousSecretValidUntil, new Date(yard.clock.now() + 24 * hour).toISOString())

  const request = await nextRequest(yard, receiver)
  t.equal(String(request.headers['webhook-signature']).split(' ').length, 2)
  t.ok(isTaken(request, secret))
  t.ok(isTaken(request, old), 'a receiver that has not changed yet takes it')
  t.ok(isSignedAsDocumented(request, secret))
  t.notOk(isSignedAsDocumented(request, old), 'the documented header has room for one')

  await yard.pass(24 * hour - 1)
  const last = await nextRequest(yard, receiver)
  t.equal(String(last.headers['webhook-signature']).split(' ').length, 2)
  await yard.pass(1)
  const after = await nextRequest(yard, receiver)
  t.equal(String(after.headers['webhook-signature']).split(' ').length, 1)
  await yard.pass(hour)
  t.equal(yard.count('webhook_retired_secret'), 0)
})

t.test('a caller may choose the new secret; it is not shown then, and a short one is warned of', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ secret: 'chosen by the caller' })
  const id = await yard.register(receiver)
  const rotated = await yard.call('POST', `/api/webhooks/${id}/rotate-secret`, { secret: 'chosen by the caller' })
  t.match(rotated, { status: 200, body: { warnings: { length: 0 }, version: 2 } })
  t.notOk('secret' in rotated.body)
  t.equal((await nextRequest(yard, receiver)).signatureValid, true)
  const short = await yard.call('POST', `/api/webhooks/${id}/rotate-secret`, { secret: 'x' })
  t.match(short.body.warnings, [{ code: 'SECRET_SHORT' }])
  for (const secret of ['', 7, 'x'.repeat(257)]) {
    const refused = await yard.call('POST', `/api/webhooks/${id}/rotate-secret`, { secret })
    t.match(refused, { status: 400, body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'secret' }] } } })
  }
})

t.test('a repeated rotation under its key is the same rotation, and its answer holds no secret', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  const rotate = () => yard.call('POST', `/api/webhooks/${id}/rotate-secret`, undefined, { 'Idempotency-Key': 'r-1' })
  const first = await rotate()
  const again = await rotate()
  t.match(again, { status: 200, body: { version: first.body.version, warnings: [{ code: 'SECRET_SHOWN_ONCE' }] } })
  t.notOk('secret' in again.body)
  t.equal(yard.count('webhook_retired_secret'), 1)
  for (const file of readdirSync(yard.folder)) {
    const bytes = readFileSync(join(yard.folder, file))
    t.notOk(bytes.includes(first.body.secret), file)
    t.notOk(bytes.includes('a secret that both know'), file)
  }
})

t.test('secrets that are rotated often stay few, and one set by hand ends them all', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  for (let n = 0; n < 20; n += 1) await yard.call('POST', `/api/webhooks/${id}/rotate-secret`)
  const request = await nextRequest(yard, receiver)
  t.equal(String(request.headers['webhook-signature']).split(' ').length, 9)
  await yard.call('PATCH', `/api/webhooks/${id}`, { secret: 'the old one has leaked' })
  const after = await nextRequest(yard, receiver)
  t.equal(String(after.headers['webhook-signature']).split(' ').length, 1)
  const actions = yard.work.read((tx) =>
    allOf<{ action: string }>(
      tx,
      "SELECT DISTINCT action FROM audit_entry WHERE action LIKE 'webhook.%' ORDER BY action",
    ),
  )
  t.strictSame(
    actions.map((row) => row.action),
    ['webhook.registered', 'webhook.secret_rotated', 'webhook.updated'],
  )
})

t.test('a receiver that echoes the secret does not get it into the delivery log', async (t) => {
  const yard = openYard(t)
  const said = `no entry for "a secret that both know" ${'ä'.repeat(2000)}`
  const receiver = await yard.receiver({ behave: () => ({ status: 403, body: said }) })
  const id = await yard.register(receiver)
  await nextRequest(yard, receiver)
  const [delivery] = await yard.deliveries(id)
  const [{ answer }] = delivery.attempts
  t.match(answer, /^no entry for "\[secret\]" ä/)
  const size = Buffer.byteLength(answer, 'utf8')
  t.ok(size <= 1024 && size > 1020, `${size} bytes, cut between two characters`)
})
