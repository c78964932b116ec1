import { composeStorage } from '../../src/app/compose/storage.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { Retention } from '../../src/retention/index.ts'
import { type TestGateway, testGateway } from './gateway.ts'

type Needs = ConstructorParameters<typeof Retention>[0]

/** Gives `use` the retention of a gateway that is closed meanwhile, with these parts in place of others. */
export async function withRetention(
  gateway: TestGateway,
  parts: Partial<Needs>,
  use: (retention: Retention) => Promise<void>,
): Promise<void> {
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
    uploadedAtMs: null,
    waiting: { list: () => [], giveUp: () => {} },
    ...parts,
  })
  await use(retention)
  storage.close()
}

/** Lets retention look while every photo counts as uploaded since then, and starts the gateway again. */
export async function lookAtPhotos(gateway: TestGateway, uploadedAtMs: number | undefined): Promise<TestGateway> {
  await withRetention(gateway, { uploadedAtMs: () => uploadedAtMs }, (retention) => retention.look())
  return testGateway({ clock: gateway.clock, folder: gateway.folder })
}
