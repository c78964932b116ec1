import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { checkConfig, loadHubConfig } from '../../src/config/index.ts'

const issuer = 'https://login.example/realms/floor'
const entry = { issuer, clientId: 'gatehouse', clientSecretFile: 'secret' }

/** Returns what `config check` says of these providers, as `path: message`. */
function check(t: { teardown(work: () => void): void }, oidc: unknown, more: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-providers-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gatehouse.yaml')
  writeFileSync(join(folder, 'secret'), 'a secret', { mode: 0o600 })
  writeFileSync(file, stringify({ site: { id: 'dc-7', url: 'https://gate.example' }, auth: { oidc }, ...more }))
  const { problems, faults } = checkConfig(file)
  return [...problems, ...faults].map(({ path, message }) => `${path}: ${message}`)
}

t.test('a whole entry is enough to sign in', (t) => {
  t.same(check(t, [entry]), [])
  t.same(check(t, [{ ...entry, issuer: `${issuer}/`, groupRoles: { '/wh operators': 'operator' } }]), [])
  t.end()
})

t.test('an incomplete or wrong entry is refused', (t) => {
  for (const [wrong, what] of [
    [{ issuer: undefined }, /^auth\.oidc\[0\]\.issuer: /],
    [{ clientId: undefined }, /^auth\.oidc\[0\]\.clientId: /],
    [{ clientSecretFile: undefined }, /^auth\.oidc\[0\]\.clientSecretFile: /],
    [{ clientSecretFile: 'missing' }, /^auth\.oidc\[0\]\.clientSecretFile: .*there is no such file/],
    [{ caFile: 'missing' }, /^auth\.oidc\[0\]\.caFile: .*there is no such file/],
    [{ issuer: 'http://login.example' }, /issuer: expected an https URL/],
    [{ issuer: `${issuer}?a=b` }, /issuer: expected an https URL/],
    [{ issuer: 'https://me:secret@login.example' }, /issuer: expected an https URL/],
    [{ groupRoles: { wh: 'boss' } }, /groupRoles\.wh: expected one of auditor/],
    [{ groupClaim: 'roles' }, /groupClaim/],
  ] as const) {
    const said = check(t, [{ ...entry, ...wrong }])
    t.equal(said.length, 1, JSON.stringify(said))
    t.match(said[0], what)
  }
  t.end()
})

t.test('two providers whose answers would come back at one address are refused', (t) => {
  for (const other of [issuer, `${issuer}/`, 'https://login.example/realms-floor']) {
    t.match(check(t, [entry, { ...entry, issuer: other }]), [
      'auth.oidc[1].issuer: entry 1 of the list has the redirect address …/login.example-realms-floor already',
    ])
  }
  t.same(check(t, [entry, { ...entry, issuer: 'https://login.example/realms/office' }]), [])
  t.end()
})

t.test('names of people of a provider are those of a configured one', (t) => {
  const viewers = (...names: string[]) => check(t, [entry], { warehouses: [{ id: 1, viewers: names }] })
  t.same(viewers(`nora~k3f9@oidc:${issuer}`, `group:wh@oidc:${issuer}/`), [])
  t.match(viewers('nora~k3f9@oidc:https://other.example'), [/oidc:https:\/\/other\.example is none of auth\.oidc$/])
  t.match(viewers(`nora~k3f9@${issuer}`), [/is neither site\.url nor one of storage\.instances$/])
  const groupRoles = { [`wh@oidc:${issuer}`]: 'operator' }
  t.match(
    check(t, [entry], {
      auth: { oidc: [entry], groupRoles },
      storage: { instances: [{ url: 'https://cloud.example' }] },
    }),
    [/groups of an OpenID provider get their role in groupRoles of its entry/],
  )
  t.end()
})

t.test('a head office says that it takes no providers', (t) => {
  const file = join(t.testdir({}), 'hub.yaml')
  const hub = { database: { url: 'postgres://hub_app@127.0.0.1/hub' } }
  writeFileSync(file, stringify({ site: { id: 'office', url: 'https://hub.example' }, hub, auth: { oidc: [entry] } }))
  t.throws(
    () => loadHubConfig(file),
    /auth\.oidc: expected no provider: people of OpenID providers sign in at gateways/,
  )
  t.end()
})
