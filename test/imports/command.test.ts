import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { cheapHash, signedIn } from '../support/gateway.ts'
import { gatehouse, runToEnd, startDaemon } from '../support/process.ts'

t.test(
  'gatehouse import works beside a running daemon and without one, and leaves with the house’s codes',
  async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-import-'))
    t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
    const users = [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }]
    const config = {
      site: { id: 'dc-7', url: 'http://127.0.0.1:8480' },
      listen: [{ host: '127.0.0.1', port: 0 }],
      dataDir: 'state',
      runtimeDir: 'run',
      auth: { users },
      retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' },
    }
    writeFileSync(join(cwd, 'g.yaml'), JSON.stringify(config))
    writeFileSync(
      join(cwd, 'slots.csv'),
      'slot_id;zone;zone_type;x;y;width;height\nA-01;R;storage;0;0;1,5;1\nA-02;R;;1,5;0;1,5;1\n',
    )
    writeFileSync(join(cwd, 'stock.csv'), 'slot_id;asset_barcode\nA-01;P-1\n')
    writeFileSync(join(cwd, 'wrong.csv'), 'slot_id;asset_barcode\nA-01;P-2\nA-03;P-3\n')
    const run = (...args: string[]) => runToEnd(gatehouse, ['import', ...args, '--config', 'g.yaml'], { cwd })

    const daemon = await startDaemon(['--config', 'g.yaml'], { cwd })
    t.teardown(() => daemon.end('SIGKILL'))
    const headers = { ...signedIn({ username: 'ada', role: 'admin' }), 'Content-Type': 'application/json' }
    const ask = (method: string, path: string, body?: object) =>
      fetch(`${daemon.url}/api/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    await ask('POST', 'whms/warehouses', { name: 'Hall', timezone: 'Europe/Berlin' })
    t.match(await run('slots', 'slots.csv'), { code: 1, stdout: /2 lines \(2, 3\), zone: .*--create-zones/ })
    t.match(await run('slots', 'slots.csv', '--create-zones', '--dry-run'), { code: 0, stdout: /it would be: 2 new/ })
    t.match(await run('slots', 'slots.csv', '--create-zones'), {
      code: 0,
      stdout: /^2 lines: 2 new, .*zones made: R\n/,
    })
    t.match(await run('opening-stock', 'wrong.csv'), { code: 1, stdout: /line 3, slot_id: no slot A-03/ })
    t.match(await run('opening-stock', 'stock.csv', '--json'), { code: 0, stdout: /"created":1/, stderr: '' })
    t.match(await (await ask('GET', 'whms/slots/A-01')).json(), { assetBarcode: 'P-1' })
    t.equal(await daemon.end('SIGTERM'), 0)

    t.match(await run('opening-stock', 'stock.csv'), {
      code: 0,
      stdout: /^1 lines, all as they were: nothing changed\n/,
    })
    writeFileSync(join(cwd, 'more.csv'), 'slot_id;asset_barcode\nA-02;P-2\n')
    t.match(await run('opening-stock', 'more.csv'), { code: 0, stdout: /1 new/ })
    t.match(verifyLedger(join(cwd, 'state')), { ok: true, events: 2 })

    t.equal((await run('pallets', 'stock.csv')).code, 2, 'no such kind of list')
    t.match(await run('slots', 'nothing.csv'), { code: 1, stderr: /nothing\.csv cannot be read/ })
    writeFileSync(join(cwd, 'bad.yaml'), 'sitte: {}\n')
    t.equal((await runToEnd(gatehouse, ['import', 'slots', 'slots.csv', '--config', 'bad.yaml'], { cwd })).code, 78)
  },
)
