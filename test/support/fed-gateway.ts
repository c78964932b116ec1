/** A gateway that has joined a head office and sends its log, in this process. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinHub } from '../../src/cli/hub/join.ts'
import { loadConfig } from '../../src/config/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from './gateway.ts'
import type { TestHub } from './hub.ts'

type T = { teardown(work: () => unknown): void }

/** A gateway with two slots, A-01 and A-02, that has joined and sends its log. `config`: more of its config, kept in memory. */
export async function joined(t: T, hub: TestHub, config: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01', 'A-02'])
  await enrol(gateway, hub)
  gateway.feeder.start()
  t.teardown(() => gateway.feeder.stop())
  await gateway.feeder.settled()
  return gateway
}

/** Joins as `gatehouse hub join` does, and reads the config again. */
export async function enrol(gateway: TestGateway, hub: TestHub): Promise<void> {
  const configFile = join(gateway.folder, 'gatehouse.yaml')
  const order = { url: hub.url, code: await hub.code('test-site'), configFile }
  const { tokenFile } = await joinHub(order)
  gateway.live.config = loadConfig(configFile).config
  if (readFileSync(tokenFile, 'utf8').length < 40) throw new Error('a token is long')
}

/** Records that a pallet was placed, with a photo. */
export async function place(gateway: TestGateway, barcode: string, slot = 'A-01') {
  const photo_url = await heldPhoto(gateway, barcode.length + barcode.charCodeAt(2) * 1000 + slot.charCodeAt(3))
  const body = { event_type: 'PLACED', slot_code: slot, asset_barcode: barcode, photo_url }
  return gateway.ask('POST', '/api/whms/events', { by: people.ada, body })
}

/** Lets time pass until the next feed is done. */
export async function pass(gateway: TestGateway, ms = 1000): Promise<void> {
  gateway.clock.advance(ms)
  await gateway.feeder.settled()
}
