import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cameras } from './cameras.ts'
import { type Account, Client } from './client.ts'
import type { Gateway } from './gateway.ts'
import type { Inbox } from './inbox.ts'

/** Requests a minute of a person with a scanner; the default is for people at a screen. */
const scannerPerMinute = 600

export type Role = Account['role']

/**
 * Makes everything that the gateway needs before its start. Its own command makes the accounts, as for an admin, and the
 * config holds their hashes. Returns the account of each user name.
 *
 * @param more additions to the config
 */
export async function prepare<Name extends string>(
  gateway: Gateway,
  people: Readonly<Record<Name, Role>>,
  receivers: readonly Inbox[],
  cameras: Cameras | undefined,
  more: Record<string, unknown> = {},
): Promise<Record<Name, Account>> {
  const { accounts, known } = await enrol(gateway, people, receivers)
  gateway.configure({ ...known, ...(cameras && { cameras: cameras.config }), ...more })
  return accounts
}

/** Makes the accounts. @returns the account of each user name, and the part of the config that knows people and receivers */
export async function enrol<Name extends string>(
  gateway: Gateway,
  people: Readonly<Record<Name, Role>>,
  receivers: readonly Inbox[],
): Promise<{ accounts: Record<Name, Account>; known: Record<string, unknown> }> {
  // Without users first: `gatehouse credential` takes the site's address from the config.
  gateway.configure()
  const entries = Object.entries(people) as [Name, Role][]
  const made = await Promise.all(
    entries.map(async ([name, role]) => [name, await gateway.credential(name, role)] as const),
  )
  const caFile = join(gateway.folder, 'receivers.pem')
  writeFileSync(caFile, receivers.map(({ receiver }) => `${receiver.caPem}\n`).join(''))
  const known = {
    auth: { users: made.map(([username, { role, secretHash }]) => ({ username, role, secretHash })) },
    webhooks: { allowNetworks: ['127.0.0.0/8'], caFile },
    rateLimit: { users: Object.fromEntries(entries.map(([name]) => [name, scannerPerMinute])) },
  }
  return { accounts: Object.fromEntries(made) as Record<Name, Account>, known }
}

/** A client of that gateway for each account. */
export function clientsOf<Name extends string>(
  gateway: Gateway,
  accounts: Record<Name, Account>,
): Record<Name, Client> {
  const entries = Object.entries<Account>(accounts)
  const clients = entries.map(([name, account]) => [name, new Client({ url: gateway.url, account })])
  return Object.fromEntries(clients) as Record<Name, Client>
}
