import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { backedUp, barcodes, newFolder, opened, place, restored, stocked } from '../support/backups.ts'

/** In the order in which a restore moves them: what is there goes aside, then what was restored comes in. */
const moved = ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.db-shm', 'keys', 'photos']

t.test('a restore that was cut off between any two moves is finished by the next start', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway, true)
  await place(gateway, 2)
  gateway.close()
  const { dataDir } = gateway.live.config
  // The new state as it is beside the old one when the decision is on disk.
  const coming = newFolder(t)
  await restored(file, join(coming, 'state'))
  const steps = [...moved.map((name) => ({ phase: 'out', name })), ...moved.map((name) => ({ phase: 'in', name }))]
  for (const [done, { phase, name }] of steps.entries()) {
    const folder = newFolder(t)
    const state = join(folder, 'state')
    cpSync(dataDir, state, { recursive: true })
    cpSync(join(coming, 'state'), join(state, 'restore.part'), { recursive: true })
    const aside = 'replaced-2026-03-02T20-00-00-000Z'
    mkdirSync(join(state, aside))
    const move = (from: string, to: string) => existsSync(from) && renameSync(from, to)
    for (const step of steps.slice(0, done)) {
      if (step.phase === 'out') move(join(state, step.name), join(state, aside, step.name))
      else move(join(state, 'restore.part', step.name), join(state, step.name))
    }
    writeFileSync(join(state, 'restore.json'), JSON.stringify({ phase, aside }))
    const again = await opened(t, folder)
    t.same(await barcodes(again), ['P-1'], `before ${phase} ${name}`)
    again.close()
    t.match(verifyLedger(state), { ok: true, events: 1 })
    t.match(verifyLedger(join(state, aside)), { ok: true, events: 2 }, 'the replaced one is whole')
    t.same(
      readdirSync(state).filter((entry) => entry.startsWith('restore.')),
      [],
    )
  }
})

t.test('what a restore left before its decision is removed, and the old ledger goes on', async (t) => {
  const gateway = await stocked(t)
  gateway.close()
  const part = join(gateway.live.config.dataDir, 'restore.part')
  mkdirSync(join(part, 'keys'), { recursive: true })
  writeFileSync(join(part, 'gatehouse.db'), 'half of it')
  t.same(await barcodes(await opened(t, gateway.folder)), ['P-1'])
  t.notOk(existsSync(part))
})
