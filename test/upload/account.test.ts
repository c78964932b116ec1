import t, { type Test } from 'tap'
import { people, type TestGateway } from '../support/gateway.ts'
import type { StorageServer } from '../support/storage-server.ts'
import { allAre, bytesOf, queue, record, settled, uploader, uploading } from '../support/uploads.ts'
import { waitUntil } from '../support/waiting.ts'

const by = people.ada
const minuteMs = 60_000
const clip = bytesOf(20_000)

/** Waits until uploads are refused. Returns the alerts, and why the first file of the queue waits. */
async function refusalOf(gateway: TestGateway) {
  await waitUntil('uploads are refused', () => gateway.uploadWorker.line.kind === 'refused')
  await gateway.health.look()
  const { body } = await gateway.ask('GET', '/api/alerts', { by })
  const rows = await queue(gateway)
  return { alerts: body.data, lastError: rows[0].lastError, status: (await gateway.ask('GET', '/api/health')).body }
}

async function goesOn(t: Test, gateway: TestGateway): Promise<void> {
  gateway.clock.advance(5 * minuteMs)
  await settled(gateway, allAre('uploaded'))
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/health')).body.checks.storage, { status: 'healthy' })
}

const account = (server: StorageServer) => server.users.find(({ id }) => id === uploader.id)

t.test(
  'a disabled account is named, by whichever way the gateway signs in, and uploads go on once it is enabled',
  async (t) => {
    for (const way of ['application password', 'login password'] as const) {
      const [secret = ''] = uploader.appPasswords
      const user = way === 'login password' ? { id: uploader.id, groups: [], password: secret } : { ...uploader }
      const { server, gateway } = await uploading(t, { server: { users: [{ ...user, disabled: true }] } })
      await record(gateway, 1, clip)
      const { alerts, lastError, status } = await refusalOf(gateway)
      t.match(alerts, [{ kind: 'uploads.refused', message: /has disabled the account\. Enable the account/ }], way)
      t.match(lastError, /has disabled the account/)
      t.match(status.checks.storage, { status: 'degraded' })
      const there = account(server)
      if (there) there.disabled = false
      await goesOn(t, gateway)
    }
  },
)

t.test('an account that is disabled between two files is named too', async (t) => {
  const { server, gateway } = await uploading(t)
  await record(gateway, 1, clip)
  await settled(gateway, allAre('uploaded'))
  const user = account(server)
  if (user) user.disabled = true
  await record(gateway, 2, bytesOf(20_001))
  t.match((await refusalOf(gateway)).alerts, [{ message: /has disabled the account/ }])
})

t.test('a user name that the server does not know is named with the one of the password', async (t) => {
  const { gateway } = await uploading(t, { upload: { username: 'gatehouse-dc8' } })
  await record(gateway, 1, clip)
  const { alerts, lastError } = await refusalOf(gateway)
  t.match(alerts, [{ message: /belongs to "gatehouse-dc7", and storage.upload.username is "gatehouse-dc8"\. Correct/ }])
  t.match(lastError, /belongs to "gatehouse-dc7"/)
})

t.test('an application password of somebody else is named with its owner, and nothing is sent', async (t) => {
  const users = [
    { id: uploader.id, groups: [] },
    { id: 'olga', groups: [], appPasswords: [...uploader.appPasswords] },
  ]
  const { server, gateway } = await uploading(t, { server: { users } })
  await record(gateway, 1, clip)
  t.match((await refusalOf(gateway)).alerts, [{ message: /belongs to "olga"/ }])
  t.notOk(server.requests.some(({ method }) => method === 'PUT' || method === 'MKCOL'))
})

t.test('the name of the account may be its e-mail address, or in another case', async (t) => {
  for (const username of ['Gatehouse-DC7', 'dc7@example.com']) {
    const user = { ...uploader, appPasswordsByEmail: [...uploader.appPasswords], email: 'dc7@example.com' }
    const { gateway } = await uploading(t, { server: { users: [user] }, upload: { username } })
    await record(gateway, 1, clip)
    await settled(gateway, allAre('uploaded'))
  }
})

t.test('when the share of the folder is withdrawn, nothing goes to the account’s own folder', async (t) => {
  for (const isOwnThere of [false, true]) {
    const { server, gateway } = await uploading(t)
    const { dav } = server
    const share = { owner: 'olga', folder: 'evidence', mayWrite: true }
    server.users.push({ id: 'olga', groups: [] })
    dav.files.set('olga/evidence', 'folder')
    dav.shares.set('gatehouse-dc7/gatehouse', share)
    await record(gateway, 1, clip)
    await settled(gateway, allAre('uploaded'))
    dav.shares.delete('gatehouse-dc7/gatehouse')
    if (isOwnThere) dav.files.set('gatehouse-dc7/gatehouse', 'folder')
    await record(gateway, 2, bytesOf(20_001))
    const { alerts, lastError } = await refusalOf(gateway)
    const words = isOwnThere ? 'is another one now, which belongs to "gatehouse-dc7"' : 'is not there'
    t.equal(lastError, `the folder /gatehouse of the first upload, which belongs to "olga", ${words}`)
    t.match(alerts, [{ kind: 'uploads.refused', message: /Share the folder with the account again/ }])
    t.notOk([...dav.files.keys()].some((path) => path.startsWith('gatehouse-dc7/gatehouse/')))
    dav.shares.set('gatehouse-dc7/gatehouse', share)
    await goesOn(t, gateway)
    t.ok([...dav.files.keys()].some((path) => path.startsWith('olga/evidence/') && path.endsWith('_2.mp4')))
  }
})

t.test(
  'a file that has waited for ten minutes is a trouble, whatever the reason, and says the last error',
  async (t) => {
    const { server, gateway } = await uploading(t)
    server.fate = (method) => (method === 'PUT' ? { status: 500 } : undefined)
    await record(gateway, 1, clip)
    await settled(gateway, ([row]) => row?.attempts === 1)
    const statusAfter = async (ms: number) => {
      gateway.clock.advance(ms)
      await gateway.health.look()
      return (await gateway.ask('GET', '/api/health')).body.checks.storage.status
    }
    await gateway.uploadWorker.stop()
    t.equal(await statusAfter(9 * minuteMs), 'healthy')
    t.equal(await statusAfter(minuteMs), 'degraded')
    const { body } = await gateway.ask('GET', '/api/alerts', { by })
    t.match(body.data, [
      {
        kind: 'uploads.late',
        message: /1 file waits for its upload, the oldest for 10 minutes\. The last error: HTTP 500/,
      },
    ])
  },
)
