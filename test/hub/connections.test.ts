import { Agent, request } from 'node:http'
import t from 'tap'
import { HttpListener, type WireLimits, wireLimits } from '../../src/http/index.ts'
import { officeLimits } from '../../src/hub/compose.ts'
import { testLog } from '../support/evidence/forge.ts'
import { floorLeaves } from '../support/floor-leaves.ts'
import { feedPathOf, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)

/** A head office that listens with these limits, asked from behind one address over connections that stay open. */
async function behindOneAddress(t: { teardown(work: () => unknown): void }, limits: WireLimits) {
  const hub = await testHub(t, postgres)
  const log = testLog({ leaves: floorLeaves({ count: 1 }) })
  const token = await hub.enrol(log)
  const listener = new HttpListener({ host: '127.0.0.1', port: 0, tls: null }, hub.api, limits)
  const port = await listener.start()
  t.teardown(() => listener.stop())
  return (path: string, headers: Record<string, string>) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    let closed = false
    const ask = () =>
      new Promise<number>((resolve, reject) => {
        const sent = request({
          port,
          host: '127.0.0.1',
          localAddress: '127.0.0.2',
          agent,
          path,
          headers,
          method: 'POST',
        })
        sent.on('socket', (socket) => socket.once('close', () => (closed = true)))
        sent.on('error', reject)
        sent.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)))
        sent.end()
      })
    return { ask, isClosed: () => closed, path: feedPathOf(log), token }
  }
}

t.test('three hundred gateways behind one address keep their connections', async (t) => {
  const clientOf = await behindOneAddress(t, officeLimits)
  const { path, token } = clientOf('', {})
  const gateways = Array.from({ length: 300 }, () => clientOf(path, { authorization: `Bearer ${token}` }))
  for (const { ask } of gateways) t.equal(await ask(), 400, 'without a body')
  t.equal(gateways.filter(({ isClosed }) => isClosed()).length, 0)
})

t.test('strangers do not close the connection of a gateway with a valid token', async (t) => {
  const clientOf = await behindOneAddress(t, { ...wireLimits, most: 6, mostTogether: 3 })
  const { path, token } = clientOf('', {})
  const gateway = clientOf(path, { authorization: `Bearer ${token}` })
  t.equal(await gateway.ask(), 400)
  const guess = { authorization: 'Bearer guessed' }
  const strangers = Array.from({ length: 5 }, () => clientOf(path, guess))
  for (const { ask } of strangers) t.equal(await ask(), 401)
  t.equal(await gateway.ask(), 400)
  t.equal(gateway.isClosed(), false)
})
