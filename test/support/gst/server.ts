/**
 * The same kind of camera by somebody else: GStreamer's RTSP server, so that what works with ours is known to be no
 * private dialect.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clients, RtspServer, RtspServerOptions } from '../rtsp/server.ts'

/** The part of our server's interface that this one has. It counts clients of all streams together. */
export type GstServer = Pick<RtspServer, 'url' | 'stop'> & {
  clients(name: string): Pick<Clients, 'connected' | 'mostAtOnce' | 'total'>
  fault(fault: 'freeze' | 'refuse' | undefined): void
  drop(): void
}

// Other pythons than the system's don't see Debian's gi.
const python = '/usr/bin/python3'
const script = join(import.meta.dirname, 'rtsp-server.py')

/** Starts it on a free port of loopback. Rejects with what it said when it ends before it listens. */
export async function startGstServer({
  streams,
  auth,
}: Pick<RtspServerOptions, 'streams' | 'auth'>): Promise<GstServer> {
  const child = spawn(python, [script], { stdio: 'pipe' })
  const closed = once(child, 'close')
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const count = { connected: 0, mostAtOnce: 0, total: 0 }
  const tell = (order: unknown) => void child.stdin.write(`${JSON.stringify(order)}\n`)
  const port = new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as { port?: number; clients?: number }
      if (said.port !== undefined) resolve(said.port)
      if (said.clients !== undefined) recount(count, said.clients)
    })
    void closed.then(() => reject(new Error(`GStreamer's server ended: ${complaint}`)))
  })
  tell({ streams, auth: auth ? { scheme: 'digest', ...auth } : null })
  const address = `127.0.0.1:${await port}`
  const signIn = auth ? `${encodeURIComponent(auth.username)}:${encodeURIComponent(auth.password)}@` : ''
  return {
    url: (name, withCredentials = false) => `rtsp://${withCredentials ? signIn : ''}${address}/${name}`,
    clients: () => ({ ...count }),
    fault: (fault) => tell({ command: 'fault', fault: fault ?? null }),
    drop: () => tell({ command: 'drop' }),
    stop: async () => {
      child.stdin.end()
      await closed
    },
  }
}

function recount(count: { connected: number; mostAtOnce: number; total: number }, now: number): void {
  if (now > count.connected) count.total += now - count.connected
  count.connected = now
  count.mostAtOnce = Math.max(count.mostAtOnce, now)
}
