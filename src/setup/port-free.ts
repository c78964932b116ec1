import { createServer } from 'node:net'

/** Resolves with why a port cannot be listened at; undefined: it is free. */
export function whyTaken(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? `another program listens at ${host}:${port}` : `${host}:${port}: ${code}`),
    )
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}
