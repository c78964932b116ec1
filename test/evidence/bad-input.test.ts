import t from 'tap'
import { people, type TestGateway } from '../support/gateway.ts'
import { signedLedger } from '../support/tamper.ts'

const ask = async (gateway: TestGateway, path: string) => (await gateway.ask('GET', path, { by: people.ada })).status

t.test('a tile has one address, and every other spelling of it is no tile', async (t) => {
  const gateway = await signedLedger(t)
  t.equal(await ask(gateway, '/api/log/tile/0/000.p/7'), 200)
  t.equal(await ask(gateway, '/api/log/tile/0/000.p%2F7'), 200, 'a slash may be escaped')
  for (const tile of [
    '000.p/0',
    '000.p/07',
    '000.p/-1',
    '000.p/8',
    '000.p/1e0',
    '000.p/7/',
    '000.p/7%00',
    '000.p/9007199254740993',
    '0',
    '0000.p/7',
    '999',
    'x999/x999/x999/x999/999',
    'x999/'.repeat(5000),
    `${'x001/'.repeat(60)}000`,
    '000.P/7',
    '٠٠٠.p/7',
    '..%2f..%2fetc',
    '%ff',
    '000.p/7?x=1'.replace('?x=1', '%3Fx=1'),
  ]) {
    for (const level of ['0', 'entries']) {
      const status = await ask(gateway, `/api/log/tile/${level}/${tile}`)
      t.ok(status === 404 || status === 400 || status === 414, `${level}/${tile.slice(0, 40)} was answered ${status}`)
    }
  }
  for (const level of ['-1', '00', '64', '1e1', '9'.repeat(400), '0x0', '%00', 'entries2', '63', '7']) {
    t.equal(await ask(gateway, `/api/log/tile/${level}/000.p/7`), 404, `level ${level.slice(0, 9)}`)
  }
})

t.test('sizes beyond the log, beyond integers or of another kind are refused in words', async (t) => {
  const gateway = await signedLedger(t)
  const numbers = [
    '-1',
    '1.5',
    '1e3',
    '0x7',
    '',
    ' 7',
    '7 ',
    '٧',
    'NaN',
    'Infinity',
    'null',
    '9'.repeat(400),
    '9007199254740992',
  ]
  for (const n of numbers) {
    const sent = encodeURIComponent(n)
    for (const path of [
      `/api/log/consistency?from=${sent}&to=7`,
      `/api/log/consistency?from=0&to=${sent}`,
      `/api/log/checkpoints?before=${sent}`,
      `/api/log/checkpoints?limit=${sent}`,
    ]) {
      const { status, body } = await gateway.ask('GET', path, { by: people.ada })
      t.match({ status, code: body.error?.code }, { status: 400, code: 'VALIDATION_ERROR' }, path.slice(0, 80))
    }
  }
  for (const path of [
    'from=0&to=8',
    'from=7&to=6',
    'from=9007199254740991&to=9007199254740991',
    'to=7',
    'from=0',
    'from=0&from=1&to=7',
  ]) {
    t.equal(await ask(gateway, `/api/log/consistency?${path}`), 400, path)
  }
  t.equal(await ask(gateway, '/api/log/consistency?from=0&to=0'), 200)
  t.equal(await ask(gateway, '/api/log/checkpoints?before=999999999999999&limit=1'), 200)
})

t.test('a proof is asked for with the id of a row, and of nothing else', async (t) => {
  const gateway = await signedLedger(t)
  for (const id of ['0', '-1', '1.0', '1e0', '01', '9007199254740993', '9'.repeat(400), 'x', '%00', '1%2f..']) {
    for (const path of [`/api/whms/events/${id}/proof`, `/api/iot/detection-events/${id}/proof`]) {
      const status = await ask(gateway, path)
      t.ok(status === 404 || status === 400, `${path.slice(0, 60)} was answered ${status}`)
    }
  }
  t.equal(await ask(gateway, '/api/whms/events/1/proof?format=pdf'), 400)
})
