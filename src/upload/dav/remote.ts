import type { Clock } from '../../platform/index.ts'
import type { Probed } from '../line.ts'
import { type Connection, Transfer } from '../transfer.ts'
import { Dav, type DavLimits } from './dav.ts'
import { type Account, probe } from './probe.ts'
import { Throttle } from './throttle.ts'

/** A server that takes files. `send` and `clear`: the parts of clips that are being recorded. */
export type Server = Pick<
  Transfer,
  'run' | 'send' | 'clear' | 'urlOf' | 'compareAgain' | 'refusalOfFolder' | 'freeBytes'
>

/** The way to the storage server. */
export type Remote = {
  probe(account: Account): Promise<Probed>
  connect(connection: Connection): Server
  /** Ends what is under way. */
  abandon(): void
}

/** The real one, by HTTP. */
export function remoteByHttp(needs: {
  readonly clock: Clock
  readonly version: string
  readonly maxBytesPerSecond: () => number | null
  readonly limits?: Partial<DavLimits>
}): Remote {
  const { clock, version, maxBytesPerSecond, limits } = needs
  const stopping = new AbortController()
  const throttle = new Throttle({ clock, limit: maxBytesPerSecond })
  const dav = new Dav({ clock, throttle, version, signal: stopping.signal, limits })
  return {
    probe: (account) => probe({ dav, clock, version }, account),
    connect: (connection) => {
      const transfer = new Transfer(dav, connection)
      const hurried = async <T>(send: () => Promise<T>): Promise<T> => {
        const over = throttle.hurry()
        try {
          return await send()
        } finally {
          over()
        }
      }
      return {
        run: (job) => (job.urgent ? hurried(() => transfer.run(job)) : transfer.run(job)),
        send: (part) => hurried(() => transfer.send(part)),
        clear: (folder, names) => transfer.clear(folder, names),
        urlOf: (path) => transfer.urlOf(path),
        compareAgain: (copy) => transfer.compareAgain(copy),
        refusalOfFolder: () => transfer.refusalOfFolder(),
        freeBytes: () => transfer.freeBytes(),
      }
    },
    abandon: () => stopping.abort(),
  }
}
