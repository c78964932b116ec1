import type { Clock } from '../platform/index.ts'
import { Dav } from './dav.ts'
import type { Probed } from './line.ts'
import { type Account, probe } from './probe.ts'
import { Throttle } from './throttle.ts'
import { type Connection, type Job, type Outcome, Transfer } from './transfer.ts'

/** The way to the storage server. */
export type Remote = {
  probe(account: Account): Promise<Probed>
  connect(connection: Connection): { run(job: Job): Promise<Outcome> }
  /** Ends what is under way. */
  abandon(): void
}

/** The real one, by HTTP. */
export function remoteByHttp(needs: {
  readonly clock: Clock
  readonly version: string
  readonly maxBytesPerSecond: () => number | null
}): Remote {
  const { clock, version, maxBytesPerSecond } = needs
  const stopping = new AbortController()
  const throttle = new Throttle({ clock, limit: maxBytesPerSecond })
  const dav = new Dav({ clock, throttle, version, signal: stopping.signal })
  return {
    probe: (account) => probe(dav, account),
    connect: (connection) => {
      const transfer = new Transfer(dav, connection)
      return {
        run: async (job) => {
          const over = job.urgent ? throttle.hurry() : undefined
          try {
            return await transfer.run(job)
          } finally {
            over?.()
          }
        },
      }
    },
    abandon: () => stopping.abort(),
  }
}
