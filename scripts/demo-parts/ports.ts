import { createServer } from 'node:net'

/** Whether no one listens on that port of 127.0.0.1. */
export async function portIsFree(port: number): Promise<boolean> {
  return (await bindOnce(port)) !== undefined
}

/** A port of 127.0.0.1 that no one had a moment ago. */
export async function freePort(): Promise<number> {
  const port = await bindOnce(0)
  if (port === undefined) throw new Error('this machine has no free port')
  return port
}

function bindOnce(port: number): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
  )
  server.listen(port, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
  })
  return promise
}
