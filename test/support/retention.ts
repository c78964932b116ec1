import { composeStorage } from '../../src/app/compose-storage.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { Retention } from '../../src/retention/index.ts'
import { type TestGateway, testGateway } from './gateway.ts'

/** Lets retention look while every photo counts as uploaded since then, and starts the gateway again. */
export async function lookAtPhotos(gateway: TestGateway, uploadedAtMs: number | undefined): Promise<TestGateway> {
  gateway.close()
  const { clock, live } = gateway
  const outside = { clock, random: systemRandom, log: silentLogger(), version: '0.0.0-test' }
  const storage = await composeStorage(live, outside, false)
  const { work, audit, makeId, logRoom: log } = storage
  const retention = new Retention({
    ...{ work, clock, logger: outside.log, log, audit, makeId, dataDir: live.config.dataDir },
    clockIsTrusted: () => true,
    freeBytes: () => Number.POSITIVE_INFINITY,
    settings: () => ({ clipDays: () => ({ days: 1, key: 'none' }), minFreeBytes: 0, keepLocalDays: 90 }),
    uploadedAtMs: () => uploadedAtMs,
    waiting: { list: () => [], giveUp: () => {} },
  })
  await retention.look()
  storage.close()
  return testGateway({ clock, folder: gateway.folder })
}
