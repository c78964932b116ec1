import BetterSqlite3 from 'better-sqlite3'
import { databaseFile } from '../../src/database/index.ts'
import { type Answer, type TestGateway, type TestGatewayOptions, testGateway } from './gateway.ts'
import { SimulatedClock } from './simulated-clock.ts'
import { StorageServer, type StorageServerOptions, type StorageUser } from './storage-server.ts'
import { patienceMs } from './waiting.ts'

type Test = { teardown(work: () => unknown): void }

/** The company's users; each has the application password `NAME-app-password`. */
export const cloudUsers = (): StorageUser[] =>
  [
    { id: 'otto', groups: ['staff', 'wh-operators'] },
    { id: 'selma', groups: ['wh-operators', 'wh-supervisors'] },
    { id: 'adele', groups: ['wh-admins'] },
    { id: 'gast', groups: [] },
  ].map((user) => ({ ...user, appPasswords: [`${user.id}-app-password`], password: `${user.id} login` }))

const groupRoles = { 'wh-operators': 'operator', 'wh-supervisors': 'supervisor', 'wh-admins': 'admin' }

export type Cloud = { readonly server: StorageServer; readonly gateway: TestGateway }

/** A gateway with a storage server that vouches for its callers, under one simulated clock. */
export async function cloudFor(
  t: Test,
  options: { server?: Partial<StorageServerOptions>; gateway?: TestGatewayOptions; auth?: object; ca?: string } = {},
): Promise<Cloud> {
  const clock = new SimulatedClock()
  const server = await StorageServer.start({ users: cloudUsers(), now: clock.now, ...options.server })
  t.teardown(() => server.stop())
  const { config, ...rest } = options.gateway ?? {}
  const gateway = await testGateway({
    clock,
    ...rest,
    config: {
      storage: { instances: [{ url: server.url, ...(options.ca && { caFile: options.ca }) }] },
      auth: { groupRoles, ...options.auth },
      ...config,
    },
  })
  return { server, gateway }
}

/** Headers of a request by this user of the server. */
export function byCloud(
  server: { readonly url: string },
  username: string,
  authorization = `Bearer ${username}-app-password`,
): { headers: Record<string, string> } {
  return {
    headers: { Authorization: authorization, 'X-Storage-Instance': server.url, 'X-Storage-Username': username },
  }
}

export const basic = (username: string, secret: string): string =>
  `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`

/** Any request that every caller may make. */
export const look = (gateway: TestGateway, ask: object): Promise<Answer> => gateway.ask('GET', '/api/whms/zones', ask)

/** A request from another address. */
export async function lookFrom(
  gateway: TestGateway,
  remoteAddress: string,
  ask: { headers: Record<string, string> },
): Promise<number> {
  return (await answerFrom(gateway, remoteAddress, ask)).status
}

export async function answerFrom(
  gateway: TestGateway,
  remoteAddress: string,
  ask: { headers: Record<string, string> },
): Promise<{ readonly status: number; readonly code: string | undefined; readonly details: string | undefined }> {
  const env = { incoming: { socket: { remoteAddress } } }
  const response = await gateway.api.request('/api/whms/zones', ask, env)
  const { error } = (await response.json()) as { error?: { code: string; details: string } }
  return { status: response.status, code: error?.code, details: error?.details }
}

/** Rows of the database, as they are on the disk. */
export function inFile<Row>(gateway: TestGateway, query: string): Row[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  try {
    return db.prepare(query).all() as Row[]
  } finally {
    db.close()
  }
}

export type AuditedCaller = {
  action: string
  actor: string | null
  operator: string | null
  mode: string | null
  address: string | null
  changes: Record<string, unknown> | null
}

/** Returns the audit entries of callers, after all writes outside of requests. */
export async function auditOfCallers(gateway: TestGateway): Promise<AuditedCaller[]> {
  await gateway.audit('flushed', {})
  const rows = inFile<AuditedCaller & { changes: string | null }>(
    gateway,
    `SELECT action, changes, auth_mode AS mode, address,
       (SELECT name FROM person WHERE id = p.actor_id) AS actor,
       (SELECT name FROM person WHERE id = p.operator_id) AS operator
     FROM audit_entry a LEFT JOIN audit_person p ON p.entry_id = a.id WHERE entity = 'caller' ORDER BY id`,
  )
  return rows.map((row) => ({ ...row, changes: row.changes === null ? null : JSON.parse(row.changes) }))
}

/** Lets the network do its work until something is so. Looks at each turn of the event loop: however quick the machine is. */
export async function until(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + patienceMs; !isSo(); ) {
    if (performance.now() > end) throw new Error('it never came to be so')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
