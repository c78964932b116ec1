/** A line to a real PostgreSQL on which a test may change what the server answers, or cut it. */
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestPostgres } from './postgres.ts'

/** Returns what the client gets of these bytes of the server; undefined cuts the line before it gets any. */
export type PassOn = (fromServer: Buffer) => Buffer | undefined

/** Returns the same server behind such a line, over TCP. */
export async function behindLine(
  t: { teardown(work: () => unknown): void },
  postgres: TestPostgres,
  passOn: PassOn,
): Promise<TestPostgres> {
  const server = createServer((socket) => {
    const onward = connect({ path: join(postgres.folder, '.s.PGSQL.5432') })
    for (const one of [socket, onward]) one.on('error', () => undefined)
    socket.pipe(onward)
    onward.on('data', (bytes) => {
      const passed = passOn(bytes)
      if (passed) socket.write(passed)
      else for (const one of [socket, onward]) one.destroy()
    })
    onward.on('close', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const addressOf = (name: string) => (user: string) => `postgres://${user}@127.0.0.1:${port}/${name}`
  return {
    ...postgres,
    addressOf,
    database: async (name, template) => {
      await postgres.database(name, template)
      return addressOf(name)
    },
  }
}
