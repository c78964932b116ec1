import { randomBytes } from 'node:crypto'
import { loadHubConfig } from '../../src/config/index.ts'
import { LogSigner, newLogKeys } from '../../src/evidence/transparency/keys.ts'
import { connectionOf, EnrolService, HubDatabase } from '../../src/hub/index.ts'
import { silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { originOfLog } from '../../src/proof/index.ts'
import { chanceOf } from './leaves.ts'
import type { SitePlan } from './site.ts'

const atOnce = 8
const dayMs = 86_400_000

export type Wanted = {
  readonly sites: number
  readonly eventsPerDay: number
  readonly speed: number
  readonly seconds: number
  readonly forks: number
  readonly seed: number
}

/** Lets gateways in, each by its own code, with its own keys. The head office's own service does it, without its listener. */
export async function enrolSites(configFile: string, wanted: Wanted): Promise<SitePlan[]> {
  const { config } = loadHubConfig(configFile)
  const log = silentLogger()
  const db = new HubDatabase({ connection: connectionOf(config.hub.database, 'app'), log })
  const enrolments = new EnrolService({ db, clock: systemClock, random: systemRandom, log, vkey: '' })
  const forks = forkTimes(wanted)
  const plans: SitePlan[] = []
  const numbers = Array.from({ length: wanted.sites }, (_, i) => i)[Symbol.iterator]()
  const enrolRest = async () => {
    for (const i of numbers) plans.push(await enrolOne(enrolments, wanted, i, forks.get(i)))
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, enrolRest))
  } finally {
    await db.close()
  }
  return plans.toSorted((a, b) => (a.siteId < b.siteId ? -1 : 1))
}

async function enrolOne(
  enrolments: EnrolService,
  { eventsPerDay, speed, seed }: Wanted,
  i: number,
  forksAtMs: number | undefined,
): Promise<SitePlan> {
  const siteId = `sim-${String(i).padStart(5, '0')}`
  const logId = `0190a5c4-3c00-7000-8000-${randomBytes(6).toString('hex')}`
  const origin = originOfLog({ siteId, logId })
  const pairs = newLogKeys()
  const pem = (key: typeof pairs.ed25519) => key.export({ format: 'pem', type: 'pkcs8' }) as string
  const { code } = await enrolments.makeCode({ siteId, name: siteId }, '')
  const vkeys = [...new LogSigner(origin, pairs).vkeys]
  const { token } = await enrolments.enrol({ code, siteId, name: siteId, timezone: 'UTC', logId, vkeys })
  return {
    ...{ siteId, logId, origin, token, forksAtMs, seed: seed * 100_003 + i },
    keys: { ed25519: pem(pairs.ed25519), mlDsa44: pem(pairs.mlDsa44) },
    gapMs: dayMs / eventsPerDay / speed,
  }
}

/** Which sites fork, and when: by chance, between two and nine tenths of the run. */
function forkTimes({ sites, forks, seconds, seed }: Wanted): Map<number, number> {
  const chance = chanceOf(seed)
  const times = new Map<number, number>()
  while (times.size < Math.min(forks, sites)) {
    times.set(Math.floor(chance() * sites), seconds * 1000 * (0.2 + 0.7 * chance()))
  }
  return times
}
