/** The peer of the HTTP appends: a gateway like any other, but once it is up its SQL is left out. */
import { startGateway } from '../../src/app/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { leaveSqlOut } from './sql-left-out.ts'
import { answering } from './workshop.ts'

export type PeerStart = { readonly configFile: string }

answering(async ({ configFile }: PeerStart): Promise<{ url: string }> => {
  const { config } = loadConfig(configFile)
  const outside = { clock: systemClock, random: systemRandom, log: createLogger({ level: 'warn' }), version: 'bench' }
  const { ports, gateway } = await startGateway(config, outside, configFile)
  // The work that each start does once must be over.
  await gateway.webhooks.worker.settled()
  leaveSqlOut(config.dataDir)
  return { url: `http://127.0.0.1:${ports[0]}` }
})
