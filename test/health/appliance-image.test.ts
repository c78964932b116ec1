/** The system image of an appliance: which one runs, what became of the last update, and who hears of it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { imageFindings } from '../../src/doctor/findings/records.ts'
import { paintFor, statusWords } from '../../src/doctor/index.ts'
import { applianceImage, isoTime } from '../../src/platform/index.ts'
import { people, testGateway } from '../support/gateway.ts'

const plain = paintFor({ isTTY: false })
const minute = 60_000
const day = 24 * 60 * minute

/** A gateway on an appliance that runs image 1.9, and what its update notes. */
async function appliance(t: Test, config: Record<string, unknown> = {}) {
  const root = t.testdir({
    etc: { 'gatehouse-image': '1.9\n' },
    state: { update: { url: 'https://updates.example\n' } },
  })
  const gateway = await testGateway({ config, image: () => applianceImage(root) })
  t.teardown(() => gateway.end())
  const { clock, health } = gateway
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  /** As `update` does. */
  const note = (last: Record<string, unknown>) => {
    const json = JSON.stringify({ at: isoTime(clock.now()), running: '1.9', rehearsal: null, ...last })
    put('state/update/last.json', json)
    if (['refused', 'installed'].includes(String(last['result']))) put('state/update/verdict.json', json)
  }
  const pass = async (ms: number) => {
    clock.advance(ms)
    await health.look()
  }
  const alerts = async (): Promise<{ kind: string; message: string }[]> =>
    (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data
  const status = () => gateway.status({ file: undefined, loadedMs: 0, refused: null, waiting: [] }, true)
  const doctor = async () => imageFindings(await status(), clock.now())
  return { gateway, root, put, note, pass, alerts, status, doctor }
}

t.test(
  'an image that its rehearsal refused is told with the reasons and how to take it, until a newer one comes',
  async (t) => {
    const { gateway, note, put, pass, alerts, status, doctor } = await appliance(t)
    const rehearsal = {
      ok: false,
      reasons: ['3 answers differ from those of the previous version'],
      acceptBy: '0123456789ab',
    }
    note({ version: '2.0', result: 'refused', reason: 'image 2.0 may not take over', rehearsal })
    await pass(minute)
    const [alert] = await alerts()
    t.match(alert, {
      kind: 'update.refused',
      message: /2\.0 did not pass .* 1\.9 stays: 3 answers differ.*--accept 0123456789ab/,
    })
    t.match(await status(), {
      health: 'degraded',
      image: {
        version: '1.9',
        openUpdate: { result: 'refused', version: '2.0', acceptBy: '0123456789ab' },
        lastUpdate: { result: 'refused', version: '2.0' },
      },
    })
    t.match(await doctor(), [{ verdict: 'change', what: /3 answers differ/, next: /update --accept 0123456789ab/ }])
    const metrics = await gateway.metricsText()
    t.match(metrics, 'gatehouse_appliance_image_info{version="1.9"} 1')
    t.match(metrics, 'gatehouse_appliance_update_result{result="refused"} 1')
    put('etc/gatehouse-image', '2.1\n')
    note({ version: '2.1', result: 'installed', reason: 'image 2.1 is installed' })
    await pass(minute)
    t.equal((await alerts())[0]?.kind, 'update.recovered')
  },
)

t.test('a box that went back to its older image says so after a quarter of an hour', async (t) => {
  const { note, pass, alerts, put, doctor } = await appliance(t)
  note({ version: '2.0', result: 'installed', reason: 'image 2.0 is installed; the box starts from it' })
  await pass(10 * minute)
  t.strictSame(await alerts(), [])
  await pass(10 * minute)
  t.match(await alerts(), [
    { kind: 'update.fell_back', message: /2\.0 was installed 20 minutes ago, and the box runs 1\.9/ },
  ])
  t.match(await doctor(), [{ verdict: 'change', what: /1\.9 runs again: 2\.0 was installed/ }])
  put('etc/gatehouse-image', '2.0\n')
  await pass(minute)
  t.equal((await alerts())[0]?.kind, 'update.recovered')
})

t.test('a refusal and a way back are told beside a later try, with the next step', async (t) => {
  const { gateway, note, pass, alerts, status, doctor } = await appliance(t)
  const shown = async () => statusWords(await status(), gateway.clock.now(), plain)
  note({ version: '2.0', result: 'installed', reason: 'image 2.0 is installed' })
  note({ version: '', result: 'failed', reason: 'wrong.raucb has no version' })
  await pass(20 * minute)
  t.match(await alerts(), [{ kind: 'update.fell_back', message: /2\.0 was installed 20 minutes ago/ }])
  t.match(await doctor(), [
    {
      verdict: 'change',
      what: /2\.0 was installed .* and did not become healthy/,
      next: /corrected image.*again: sudo/,
    },
    { verdict: 'change', what: /could not be installed .*: wrong\.raucb has no version/ },
  ])
  t.match(await shown(), /image +1\.9; 2\.0 was rolled back \(20 minutes ago\): gatehouse doctor has/)
  t.match(await gateway.metricsText(), /update_result\{result="failed"\} 1\n.*update_result\{result="fell_back"\} 1\n/)
  note({ version: '2.0', result: 'refused', reason: 'image 2.0 was refused before; by hand it is tried again' })
  note({ version: '', result: 'unreachable', reason: 'curl ended with 6' })
  await pass(minute)
  t.match(await alerts(), [
    { kind: 'update.refused', message: /2\.0 was refused, and 1\.9 stays: image 2\.0 was refused/ },
  ])
  t.match(await shown(), /image +1\.9; 2\.0 was refused \(/)
})

t.test('a place of updates that is silent for a night is no matter, and for a week it is', async (t) => {
  const { note, pass, alerts } = await appliance(t)
  note({ version: '', result: 'unreachable', reason: 'curl ended with 6' })
  await pass(6 * day)
  t.strictSame(await alerts(), [])
  await pass(2 * day)
  t.match(await alerts(), [
    { kind: 'update.unreachable', message: /8 days and stays with image .*: curl ended with 6/ },
  ])
})

t.test('a note that a power cut has eaten, and a box without an image, are no trouble', async (t) => {
  const { root, put, pass, alerts, status, doctor, gateway } = await appliance(t)
  for (const eaten of ['', '\0\0\0', '{"at":"2026', '{"at":"yesterday","result":"refused"}', '[]', 'null']) {
    put('state/update/last.json', eaten)
    await pass(minute)
    t.match(await status(), { image: { version: '1.9', lastUpdate: null } }, JSON.stringify(eaten))
  }
  t.match(await doctor(), [{ verdict: 'note', what: /answered never yet/ }])
  rmSync(join(root, 'etc/gatehouse-image'))
  await pass(minute)
  t.match(await status(), { image: null, health: 'healthy' })
  t.strictSame(await doctor(), [])
  t.strictSame(await alerts(), [])
  t.notMatch(await gateway.metricsText(), /gatehouse_appliance_image_info\{/)
})

t.test('the box knows whether it may update now, in the time of its hall', async (t) => {
  const { gateway, status } = await appliance(t, { updates: { window: ['Mo-Su 02:00-05:00'] } })
  const warehouse = { name: 'Hall', timezone: 'Asia/Tokyo' }
  t.equal((await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: warehouse })).status, 201)
  const toUtcHour = (hour: number) => {
    const now = new Date(gateway.clock.now())
    const at = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, hour, 30)
    gateway.clock.advance(at - gateway.clock.now())
  }
  toUtcHour(3)
  t.match((await status()).updates, { timezone: 'Asia/Tokyo', isWindowNow: false }, 'it is noon there')
  toUtcHour(18)
  t.match((await status()).updates, { isWindowNow: true })
})
