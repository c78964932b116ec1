import { z } from 'zod'
import { always, distinct, providersDiffer } from '../cross-checks.ts'
import {
  duration,
  file,
  flag,
  host,
  issuer,
  keyOneOf,
  kinds,
  network,
  oneOf,
  remoteFolder,
  secretFile,
  secretHash,
  serverUrl,
  size,
  text,
  textLike,
  wholeNumber,
} from '../kinds.ts'
import { roleNames } from '../roles.ts'
import { caller, id, key, role, username } from './shared.ts'

export const site = {
  id: key(
    textLike(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a name of 1 to 64 letters, digits, dots, - and _'),
    'Name of this site; it is in every leaf of the log, so it is chosen once.',
    { example: 'dc-7' },
  ),
  url: key(
    serverUrl().nullable().prefault(null),
    'The address under which this gateway is reached; it also names the local accounts in X-Storage-Instance.',
    { derived: 'the address of the first listener', example: 'http://127.0.0.1:8480' },
  ),
  warehouseId: key(id().prefault(1), 'The warehouse of everything that names none.'),
}

const tls = {
  certFile: key(file(), 'Certificate chain in PEM.', { example: 'tls/cert.pem' }),
  keyFile: key(secretFile(), 'Its private key in PEM.', { example: 'tls/key.pem' }),
}

export const listener = {
  host: key(host().prefault('127.0.0.1'), 'Address to listen on; 0.0.0.0 is every one of this machine.'),
  port: key(wholeNumber(0, 65_535).prefault(8480), 'Port; 0 is any free one.'),
  tls: key(z.strictObject(tls).nullable().prefault(null), 'With it the listener speaks HTTPS, without it HTTP.'),
  allowPlainHttp: key(
    flag().prefault(false),
    'Without tls, only this machine itself is served. true serves the network, where everybody may then read all secrets.',
  ),
}

/** An account of the config. The head office adds which sites it may see. */
export const user = {
  username: key(username(), 'The account, as X-Storage-Username names it.', { example: 'dock-admin' }),
  role: key(role().prefault('viewer'), 'Role of the account.', { example: 'admin' }),
  secretHash: key(secretHash(), 'The hash that "gatehouse credential" printed.', { example: 'scrypt:…' }),
}

const serverCa = () => file().nullable().prefault(null)

const provider = {
  issuer: key(issuer(), 'The provider, exactly as its discovery document names it under "issuer".', {
    example: 'https://login.example.com/realms/floor',
  }),
  clientId: key(text(256), 'Id of this gateway at the provider.', { example: 'gatehouse-dc7' }),
  clientSecretFile: key(secretFile(), 'File with the secret of this gateway at the provider.', {
    example: 'secrets/login',
  }),
  caFile: key(serverCa(), 'Certificates in PEM to trust for this provider instead of the public ones.'),
  groupsClaim: key(
    text(256).prefault('groups'),
    'Claim that lists the groups of a person; dots lead into it, as in realm_access.roles.',
  ),
  groupRoles: key(
    z.record(text(256), role()).prefault({}),
    'Role of the members of a group, as the provider names the group; of several groups the highest. Without one: defaultRole.',
    { example: { 'wh-operators': 'operator' } },
  ),
}

/** The head office refuses providers in words, because admins write the same `auth` there. */
export const noProviders = key(
  z
    .array(z.unknown())
    .max(0)
    .register(kinds, {
      name: 'empty list',
      expected:
        'no provider: people of OpenID providers sign in at gateways alone; here name users, or groups of a storage server',
    })
    .prefault([]),
  'Empty: people of OpenID providers sign in at gateways alone.',
)

export const auth = {
  shift: key(duration().prefault('12h'), 'How long a sign-in by badge lasts on a handheld.'),
  defaultRole: key(role().prefault('viewer'), 'Role of a verified user whose groups have none.'),
  freshFor: key(
    duration().prefault('5m'),
    'How long a verified answer is believed without asking the storage server again.',
  ),
  staleFor: key(
    duration().prefault('12h'),
    'How long a verified answer serves while the storage server cannot be reached.',
  ),
  groupRoles: key(
    z.record(caller(), role()).prefault({}),
    'Role of the members of a group of the storage server (NAME, or NAME@URL where there are several); of several groups the highest.',
    { example: { 'wh-operators': 'operator', 'wh-supervisors': 'supervisor' } },
  ),
  secondFactor: key(
    z.record(keyOneOf(roleNames), oneOf(['required', 'optional'])).prefault({}),
    'Roles whose local accounts and people of auth.oidc need a second factor at the console. Without an entry it is optional.',
    { example: { admin: 'required', supervisor: 'optional' } },
  ),
  oidc: key(
    z.array(z.strictObject(provider)).superRefine(providersDiffer, always).prefault([]),
    'OpenID Connect providers whose people may sign in at the console.',
  ),
  users: key(
    z.array(z.strictObject(user)).superRefine(distinct('username'), always).prefault([]),
    'Local accounts, which work without any storage server.',
    { identity: 'username' },
  ),
}

const instance = {
  url: key(serverUrl(), 'Address of the server; callers name it in X-Storage-Instance.', {
    example: 'https://cloud.example.com',
  }),
  caFile: key(serverCa(), 'Certificates in PEM to trust for this server instead of the public ones.'),
}

const upload = {
  instance: key(serverUrl(), 'The one of storage.instances that receives the evidence.', {
    example: 'https://cloud.example.com',
  }),
  username: key(username(), 'The account to upload as.', { example: 'gatehouse-dc7' }),
  passwordFile: key(secretFile(), 'File with the application password of that account.', { example: 'secrets/cloud' }),
  root: key(remoteFolder().prefault('/gatehouse'), 'Folder of that account under which evidence is stored.'),
  maxBytesPerSecond: key(
    size().nullable().prefault(null),
    'Most bytes a second of all uploads together, such as 128KiB; null: as fast as the line is.',
    { example: '128KiB' },
  ),
}

export const storage = {
  instances: key(
    z.array(z.strictObject(instance)).superRefine(distinct('url'), always).prefault([]),
    'File storage servers that may verify callers; no other server is ever asked.',
  ),
  upload: key(
    z.strictObject(upload).nullable().prefault(null),
    'Where clips, photos and reports are copied to; null: they stay on this box.',
  ),
}

export const metricsListener = {
  host: key(host().prefault('127.0.0.1'), 'Address to listen on.'),
  port: key(wholeNumber(0, 65_535).prefault(9480), 'Port; 0 is any free one.'),
  tokenFile: key(
    secretFile().nullable().prefault(null),
    'File with the bearer token to ask for; null: metrics-token in dataDir, made at the first start.',
  ),
  networks: key(z.array(network()).prefault([]), 'Networks that may ask beside this machine.', {
    example: ['10.0.9.0/24'],
  }),
}

const rate = () => wholeNumber(1, 1_000_000, 'requests a minute')

export const rateLimit = {
  requestsPerMinute: key(rate().prefault(100), 'Requests a minute of one user, or of one address without a user.'),
  users: key(z.record(caller(), rate()).prefault({}), 'Requests a minute of single users; goes before roles.', {
    example: { 'scanner-1': 600 },
  }),
  roles: key(z.record(keyOneOf(roleNames), rate()).prefault({}), 'Requests a minute of each user with a role.', {
    example: { admin: 1000 },
  }),
  photoBytesPerMinute: key(size().prefault('120MiB'), 'Bytes of photos that one user may send in a minute.'),
}

export const hostNames = key(
  z.array(z.string().regex(/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i, 'expected a host name')).prefault([]),
  "Further names by which this server is asked, such as a proxy's. Addresses, localhost, the machine's name, the host of site.url and the names of the certificates need no entry.",
  { example: ['gatehouse.example.com'] },
)
