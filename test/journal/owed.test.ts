import t from 'tap'
import { databaseFile, openReader } from '../../src/database/index.ts'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'

function typesIn(gateway: TestGateway): string[] {
  const db = openReader(databaseFile(gateway.live.config.dataDir))
  try {
    return db.prepare<[], string>('SELECT type FROM outbox ORDER BY seq').pluck().all()
  } finally {
    db.close()
  }
}

const remove = (gateway: TestGateway) =>
  gateway.ask('POST', '/api/whms/events', {
    by: people.olga,
    body: { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P' },
  })

t.test(
  'notifications are written from the first endpoint on, also while it is switched off or registered anew',
  async (t) => {
    const gateway = await testGateway({
      onlyWhenOwed: true,
      config: { webhooks: { allowNetworks: ['127.0.0.0/8'] } },
    })
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A'])
    const by = people.ada
    await remove(gateway)
    t.strictSame(typesIn(gateway), [], 'nobody is to be told')

    const hook = { url: 'https://127.0.0.1:9/hook', events: ['whms.removal'] }
    const { status, body } = await gateway.ask('POST', '/api/webhooks', { by, body: hook })
    t.equal(status, 201)
    await remove(gateway)
    t.strictSame(typesIn(gateway), ['whms.removal', 'event.created'], 'from now on')

    await gateway.ask('PATCH', `/api/webhooks/${body.id}`, { by, body: { active: false } })
    await remove(gateway)
    t.equal(typesIn(gateway).length, 4, 'it can recover this once it is on again')

    await gateway.ask('DELETE', `/api/webhooks/${body.id}`, { by })
    await remove(gateway)
    t.equal(typesIn(gateway).length, 6, 'whoever is registered anew can recover it')
  },
)
