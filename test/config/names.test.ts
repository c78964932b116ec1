import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { checkConfig } from '../../src/config/index.ts'

const gate = 'https://gate.example'
const cloud = 'https://cloud.example'
const other = 'https://other.example'
const camera = (more: object) => [{ id: 1, url: 'rtsp://10.0.0.1/a', purpose: 'p', ...more }]

/** Returns the problems and warnings of `config check` with these storage servers, as `path: message`. */
function check(t: { teardown(work: () => void): void }, instances: string[], more: object) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-names-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gatehouse.yaml')
  const users = [{ username: 'dock-admin', role: 'admin', secretHash: 'scrypt:a' }]
  const site = { id: 'dc-7', url: gate }
  const privacy = { controller: 'c', contact: 'c' }
  const auth = { users, groupRoles: {} }
  writeFileSync(
    file,
    stringify({ site, auth, privacy, storage: { instances: instances.map((url) => ({ url })) }, ...more }),
  )
  const inWords = ({ path, message }: { path: string; message: string }) => `${path}: ${message}`
  const { problems, warnings, faults } = checkConfig(file)
  // The hashes here are no whole ones.
  const refused = faults.filter(({ path }) => !path.endsWith('secretHash'))
  return { problems: problems.map(inWords), warnings: warnings.map(inWords), faults: refused.map(inWords) }
}

t.test('a name in the config that could be two people is a problem that says what to write', async (t) => {
  const { problems } = check(t, [cloud, other], {
    cameras: camera({ owner: 'alice', viewers: ['dock-admin', 'wh', 'group:wh'] }),
    warehouses: [{ id: 1, viewers: ['alice@https://elsewhere.example'] }],
    rateLimit: { users: { 'scanner-1': 600 } },
    auth: { users: [{ username: 'dock-admin', secretHash: 'scrypt:a' }], groupRoles: { ops: 'operator' } },
  })
  const several = 'say whose it is, because there are 2 storage servers: '
  t.strictSame(problems.sort(), [
    `auth.groupRoles.ops: ${several}group:ops@${cloud}`,
    `cameras[0].owner: ${several}alice@${cloud}, alice@${gate} (an account or a badge), device:alice`,
    `cameras[0].viewers[1]: ${several}wh@${cloud}, group:wh@${cloud}, wh@${gate} (an account or a badge), device:wh`,
    `cameras[0].viewers[2]: ${several}group:wh@${cloud}`,
    `rateLimit.users.scanner-1: ${several}scanner-1@${cloud}, scanner-1@${gate} (an account or a badge), device:scanner-1`,
    'warehouses[0].viewers[0]: https://elsewhere.example is neither site.url nor one of storage.instances',
  ])
})

t.test('the same names written out are fine, however the address is spelled', async (t) => {
  const checked = check(t, [cloud, other], {
    cameras: camera({
      owner: `alice@${cloud}`,
      viewers: [`group:wh@${other}/`, 'dock-admin', `h-1@${gate.toUpperCase()}`],
    }),
    rateLimit: { users: { [`scanner-1@${gate}:443`]: 600 } },
    auth: {
      users: [{ username: 'dock-admin', secretHash: 'scrypt:a' }],
      groupRoles: { [`ops@${cloud}`]: 'operator', [`group:ops@${other}`]: 'viewer' },
    },
  })
  t.strictSame(checked, { problems: [], warnings: [], faults: [] })
})

t.test(
  'groups are those of this gateway where there is no storage server; an owner that is a group is a problem',
  async (t) => {
    const none = check(t, [], { cameras: camera({ owner: 'h-1', viewers: ['group:wh', `group:wh@${gate}`, 'h-2'] }) })
    t.strictSame(none, { problems: [], warnings: [], faults: [] })
    const one = check(t, [cloud], { cameras: camera({ owner: 'group:wh', viewers: ['alice@cloud.example'] }) })
    t.strictSame(one.problems, [
      'cameras[0].owner: group:wh is a group; expected a user',
      `cameras[0].viewers[0]: write the whole address behind the @: ${cloud}`,
    ])
  },
)

t.test('config check refuses a short name that could be somebody of this gateway or of the server', async (t) => {
  const users = [
    { username: 'dock-admin', secretHash: 'scrypt:a' },
    { username: 'ops', secretHash: 'scrypt:a' },
  ]
  const checked = check(t, [cloud], {
    cameras: camera({ owner: 'alice', viewers: ['staff', 'wh', 'group:staff', 'dock-admin', 'ops', 'device:wall-1'] }),
    auth: { users, groupRoles: { wh: 'operator', ops: 'operator' } },
    rateLimit: { users: { 'scanner-1': 600 } },
  })
  const unsure = 'is no account of auth.users, so it is not certain who is meant; write one of'
  const local = (name: string) => `${name}@${gate} (an account or a badge), device:${name}`
  t.strictSame(checked, {
    problems: [],
    warnings: [],
    faults: [
      `cameras[0].owner: ${unsure} alice@${cloud}, ${local('alice')}`,
      `cameras[0].viewers[0]: ${unsure} staff@${cloud}, group:staff@${cloud}, ${local('staff')}`,
      `cameras[0].viewers[4]: is an account of auth.users and a group of auth.groupRoles; write one of ops@${cloud}, group:ops@${cloud}, ${local('ops')}`,
    ],
  })
})
