import { z } from 'zod'
import {
  always,
  type CrossCheck,
  distinct,
  field,
  listOf,
  namespaceOf,
  siteIsNoInstance,
  tell,
} from './cross-checks.ts'
import { databaseUrl, file, folder, keyName, network, oneOf, secretFile, serverUrl, textLike } from './kinds.ts'
import { nameProblem, readName } from './names.ts'
import { type DeepReadonly, listenKey } from './schema.ts'
import { auth, hostNames, noProviders, storage, user } from './sections/access.ts'
import { caller, key, section } from './sections/shared.ts'

/** Refuses a region of an account or a group that `hub.regions` has not. */
const regionsAreKnown: CrossCheck = (config, context) => {
  const known = field(config, 'hub', 'regions')
  const isKnown = (region: unknown) =>
    typeof region !== 'string' || (typeof known === 'object' && known !== null && Object.hasOwn(known, region))
  for (const list of ['users', 'groups']) {
    for (const [i, entry] of listOf(field(config, 'auth', list)).entries()) {
      const named = [entry, ...listOf(field(entry, 'elsewhere'))].flatMap((one) => listOf(field(one, 'regions')))
      const unknown = named.find((region) => !isKnown(region))
      if (unknown !== undefined) tell(context, ['auth', list, i, 'regions'], `hub.regions has no ${unknown}`)
    }
  }
}

/** Refuses a group that no storage server of the config could name. */
const groupsAreOfAServer: CrossCheck = (config, context) => {
  for (const [i, entry] of listOf(field(config, 'auth', 'groups')).entries()) {
    const text = field(entry, 'group')
    if (typeof text !== 'string') continue
    const problem = nameProblem({ ...readName(text), kind: 'group' }, namespaceOf(config), 'group')
    if (problem !== undefined) tell(context, ['auth', 'groups', i, 'group'], problem)
  }
}

const restart = { applies: 'restart' } as const

const database = {
  url: key(databaseUrl(), 'The database, as the daemon uses it.', { example: 'postgres://hub_app@127.0.0.1/hub' }),
  ownerUrl: key(
    databaseUrl().nullable().prefault(null),
    'The same database as the user who owns its tables; "gatehouse hub migrate" uses it. null: url.',
    { example: 'postgres://hub_owner@127.0.0.1/hub' },
  ),
  passwordFile: key(secretFile().nullable().prefault(null), 'File with the password of the user in url.', {
    example: 'secrets/database',
  }),
  ownerPasswordFile: key(secretFile().nullable().prefault(null), 'File with the password of the user in ownerUrl.', {
    example: 'secrets/database-owner',
  }),
  caFile: key(
    file().nullable().prefault(null),
    'Certificates in PEM to trust for the database; with it, the connection is encrypted and the host is verified.',
    { example: 'database-ca.pem' },
  ),
  engine: key(
    oneOf(['postgresql', 'citus']).prefault('postgresql'),
    'citus: the tables are distributed over the workers of a Citus cluster.',
  ),
}

const siteId = textLike(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'the site.id of a gateway')
const sites = key(z.array(siteId).nullable().prefault(null), 'The sites that the account may see; null: all of them.', {
  example: ['dc-7'],
})

const regions = key(
  z.array(z.string().min(1).max(64)).nullable().prefault(null),
  'Regions of hub.regions whose sites the account may see too.',
  { example: ['north'] },
)

const group = key(
  caller(),
  'A group of the storage server (NAME, or NAME@URL where there are several). A user in several groups has what each of them gives.',
  { example: 'logistics' },
)

const elsewhere = key(
  z.array(z.strictObject({ role: user.role, sites, regions })).prefault([]),
  'Other roles at other sites. Without them the role holds at all sites that the account may see.',
)

/** The whole config of a head office (`gatehouse hub serve`). */
export const hubConfigSchema = z
  .strictObject({
    site: key(
      section({
        id: key(
          textLike(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a name of 1 to 64 letters, digits, dots, - and _'),
          'Name of the head office.',
          { example: 'head-office' },
        ),
        url: key(serverUrl().nullable().prefault(null), 'The address under which gateways and people reach it.', {
          derived: 'the address of the first listener',
          example: 'https://hub.example',
        }),
      }),
      'Name and address of the head office.',
      restart,
    ),
    listen: listenKey,
    dataDir: key(folder().prefault('/var/lib/gatehouse-hub'), 'Folder of its keys.', restart),
    auth: key(
      section({
        users: key(
          z
            .array(z.strictObject({ ...user, sites, regions, elsewhere }))
            .superRefine(distinct('username'), always)
            .prefault([]),
          'Accounts that may ask. Gateways need none: they have tokens.',
          { identity: 'username' },
        ),
        groups: key(
          z
            .array(z.strictObject({ group, role: user.role, sites, regions, elsewhere }))
            .superRefine(distinct('group'), always)
            .prefault([]),
          'Groups of the storage servers whose users may ask. A user in none of them is refused.',
          { identity: 'group' },
        ),
        oidc: noProviders,
        freshFor: auth.freshFor,
        staleFor: auth.staleFor,
      }),
      'Accounts.',
      restart,
    ),
    storage: key(
      section({ instances: storage.instances }),
      'File storage servers whose users may sign in, as on a gateway.',
      restart,
    ),
    http: key(
      section({
        hostNames,
        trustedProxies: key(z.array(network()).prefault([]), 'Proxies whose X-Forwarded-For is believed.', {
          example: ['10.0.0.5/32'],
        }),
      }),
      'HTTP.',
      restart,
    ),
    hub: key(
      z.strictObject({
        database: key(z.strictObject(database), 'Database of the logs of all sites.'),
        regions: key(
          z.record(z.string().min(1).max(64), z.array(siteId)).prefault({}),
          'Names of regions and the sites of each, for accounts.',
          { example: { north: ['dc-7', 'dc-8'] } },
        ),
        witness: key(
          section({
            name: key(
              keyName().nullable().prefault(null),
              'Name under which it cosigns the logs of its gateways; it is chosen once. null: HOST/w1, with the host of site.url.',
              { example: 'hub.example/w1' },
            ),
          }),
          'The head office confirms that each log only grows.',
        ),
        openings: key(
          oneOf(['never', 'names']).prefault('never'),
          'never: names of people that a gateway sends are dropped. names: they are stored, until the gateway says that they were erased.',
        ),
      }),
      'The head office.',
      restart,
    ),
  })
  .superRefine(regionsAreKnown, always)
  .superRefine(siteIsNoInstance, always)
  .superRefine(groupsAreOfAServer, always)

type Parsed = z.output<typeof hubConfigSchema>

/** The config of a head office; frozen, with durations, sizes and paths as in `Config`. */
export type HubConfig = DeepReadonly<Omit<Parsed, 'site'> & { site: Omit<Parsed['site'], 'url'> & { url: string } }>
