import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { siteUrl } from '../support/gateway.ts'
import { fileNeeds } from '../support/needs.ts'
import { type RunningBox, runningBox } from '../support/running.ts'

fileNeeds(t, 'awk', 'curl', 'script')

const reader = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/scale-reader')

/** A folder with what the reader keeps; `start` runs it against a gateway, and returns when it reads. */
function scale(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scale-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  for (const name of ['credentials', 'state']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'credentials/secret'), 'ada-secret\n', { mode: 0o600 })
  const config = join(folder, 'dock-1.conf')
  const start = async (url: string, more: Record<string, string> = {}) => {
    writeFileSync(config, `scale=dock-1\nusername=ada\ninstance=${siteUrl}\nurl=${url}\n`)
    // script gives the reader a pseudo terminal, which behaves as a serial port does, and types into it what we send.
    const inside = `echo device=$(tty) >> ${config}; exec ${reader} ${config}`
    const env = { CREDENTIALS_DIRECTORY: join(folder, 'credentials'), STATE_DIRECTORY: join(folder, 'state'), ...more }
    const port = spawn('script', ['-qfec', inside, '/dev/null'], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.teardown(() => port.kill())
    let said = ''
    port.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    while (!said.includes('reading /dev/')) await pause(20)
    const weigh = (kg: string) =>
      port.stdin.write(`US,GS,+  99.0kg\r\nST,GS,+ ${kg}kg\r\nST,GS,+ ${kg}kg\r\nST,GS,+   0.0kg\r\n`)
    return { weigh, kill: () => port.kill('SIGKILL') }
  }
  /** The stored readings in `spool` or `refused`; a name that begins with a dot is a reading that is not whole yet. */
  const stored = (where: string) =>
    readdirSync(join(folder, 'state', where))
      .filter((name) => !name.startsWith('.'))
      .sort()
      .map((name) => JSON.parse(readFileSync(join(folder, 'state', where, name), 'utf8')) as { weightKg: number })
  return { start, stored }
}

async function list(box: RunningBox) {
  const answer = await fetch(`${box.url}/api/iot/scale-readings?scaleId=dock-1`, { headers: box.headers })
  return ((await answer.json()) as { data: { weightKg: number; stable: boolean; actor: string; timestamp: string }[] })
    .data
}

/** A gateway that gives these answers one after the other, the last one for ever, and keeps what it was sent. */
async function gatewayThatAnswers(t: Test, ...statuses: number[]) {
  const sent: { key: string; weightKg: number }[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { weightKg: number }
    const status = statuses[Math.min(sent.length, statuses.length - 1)] ?? 500
    sent.push({ key: String(request.headers['idempotency-key']), weightKg: body.weightKg })
    response.writeHead(status).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  return { sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

t.test('what a scale sends through its serial port is a reading in the gateway, once for each weighing', async (t) => {
  const box = await runningBox(t)
  const { weigh } = await scale(t).start(box.url)
  weigh('412.5')
  weigh('18.25')
  while ((await list(box)).length < 2) await pause(50)
  weigh('7.125')
  while ((await list(box)).length < 3) await pause(50)
  t.match(await list(box), [
    { weightKg: 7.125, stable: true },
    { weightKg: 18.25, stable: true },
    { weightKg: 412.5, stable: true, actor: 'ada' },
  ])
})

t.test('readings of an outage keep their times and arrive once, also when the reader was killed', async (t) => {
  const box = await runningBox(t)
  const { start, stored } = scale(t)
  const { weigh, kill } = await start('http://127.0.0.1:1')
  weigh('412.5')
  while (stored('spool').length < 1) await pause(20)
  const firstStoredMs = Date.now()
  // Time is the subject: the reader gives whole seconds, and the second weighing is to have a later one.
  await pause(2100)
  const secondWeighedMs = Date.now()
  weigh('18.25')
  while (stored('spool').length < 2) await pause(20)
  kill()
  // Time is the subject: what arrives has the time of the weighing, not of the restart a second later.
  await pause(1100)
  const restartedMs = Date.now()
  await start(box.url)
  while (stored('spool').length > 0) await pause(50)
  const [second, first, ...more] = await list(box)
  t.same(more, [])
  t.match([first, second], [{ weightKg: 412.5 }, { weightKg: 18.25 }], 'in order')
  t.ok(Date.parse(first?.timestamp ?? '') <= firstStoredMs, 'the time of the first weighing')
  const secondMs = Date.parse(second?.timestamp ?? '')
  // The reader gives whole seconds.
  t.ok(secondMs > secondWeighedMs - 1000 && secondMs < restartedMs - 1000, 'the time of the second weighing')
  t.same(stored('refused'), [])
})

t.test('a reading waits for a sign-in that is corrected, and one that is refused holds none back', async (t) => {
  const gateway = await gatewayThatAnswers(t, 401, 503, 201, 422, 201)
  const { start, stored } = scale(t)
  const { weigh } = await start(gateway.url)
  for (const kg of ['1.5', '2.5', '3.5']) weigh(kg)
  while (gateway.sent.length < 5 || stored('spool').length > 0) await pause(50)
  t.same(
    gateway.sent.map(({ weightKg }) => weightKg),
    [1.5, 1.5, 1.5, 2.5, 3.5],
  )
  t.equal(new Set(gateway.sent.map(({ key }) => key)).size, 3, 'each reading has one key, however often it is sent')
  t.match(stored('refused'), [{ weightKg: 2.5 }])
})

t.test('when too many readings wait, the oldest are put aside', async (t) => {
  const { start, stored } = scale(t)
  const { weigh } = await start('http://127.0.0.1:1', { MOST_READINGS_WAITING: '2' })
  for (const kg of ['1.5', '2.5', '3.5']) weigh(kg)
  while (stored('refused').length < 1) await pause(50)
  t.match(stored('refused'), [{ weightKg: 1.5 }])
  t.match(stored('spool'), [{ weightKg: 2.5 }, { weightKg: 3.5 }])
})
