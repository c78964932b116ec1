import t from 'tap'
import { type Role, roleNames } from '../../src/config/index.ts'
import { descriptionOf, operationsOf } from '../support/description.ts'
import { people, signedIn } from '../support/gateway.ts'
import { cheapAccount, headersOfPerson, siteWithProvider } from '../support/provider-site.ts'

const roles = ['auditor', 'viewer', 'operator', 'supervisor', 'admin'] as const satisfies readonly Role[]
const asker = (role: Role) => ({ username: `the-${role}`, role })

const everyone: readonly Role[] = roles
const readers: readonly Role[] = ['auditor', 'operator', 'supervisor', 'admin']
const floor: readonly Role[] = ['operator', 'supervisor', 'admin']
const leads: readonly Role[] = ['supervisor', 'admin']
const leadsAndAuditor: readonly Role[] = ['auditor', ...leads]
const admins: readonly Role[] = ['admin']
const adminsAndAuditor: readonly Role[] = ['auditor', 'admin']

/** The roles allowed to run each operation; the first matching line decides. */
const mayAsk: readonly (readonly [operation: RegExp, allowed: readonly Role[]])[] = [
  [
    /^\w+ \/api\/(health|ping|session(\/(challenge|passkey|step-up|provider(\/(step-up|sign-out))?))?|signed-urls|devices\/(enrol|sign-in|sign-out)|device-pairings(\/collect)?)$/,
    everyone,
  ],
  [/^\w+ \/api\/device-pairings\/\{code\}/, leads],
  [/^GET \/api\/metrics(\/day)?$/, admins],
  [/^\w+ \/api\/(devices|operators|accounts|sight)\b/, admins],
  // The service asks whether an account or a session is the caller's own.
  [/^\w+ \/api\/(own-account|sessions)\b/, everyone],
  [/^GET \/api\/whms\/evidence\/opening-lists/, leadsAndAuditor],
  [/^(POST \/api\/whms\/counts|POST .*\/counts\/\{id\}\/(recount|approve|cancel))$/, leads],
  [/^GET .*\/counts\/\{id\}\/review$/, leads],
  [/^GET \/api\/whms\/transport-units\/\{id\}\/receipt-link$/, floor],
  [/^(GET \/api\/whms\/|GET \/api\/iot\/scale-readings|GET \/api\/openapi|GET \/api\/webhooks\/event-types)/, everyone],
  [/^(POST|PUT) \/api\/whms\/(warehouses|zones|slots|assets)\b/, admins],
  [/^DELETE \/api\/whms\/warehouses\b/, admins],
  [/^POST \/api\/whms\/transport-units\/\{id\}\/cancel$/, leads],
  [/^POST \/api\/whms\/(events|moves|evidence|transport-units|labels|sscc|counts)\b/, floor],
  [/^POST \/api\/iot\/scale-readings$/, floor],
  [/^GET \/api\/iot\/exports$/, leadsAndAuditor],
  [/^GET \/api\/iot\//, everyone],
  [/^GET \/api\/stream$/, everyone],
  [/^GET \/api\/console\/object-detection/, everyone],
  // Owners may, as with motion detection.
  [/^POST \/api\/iot\/detection-events\/\{id\}\/(redact|export)$/, everyone],
  [/^POST \/api\/iot\/exports\/\{id\}\/(approve|refuse)$/, leads],
  // Owners may, whatever their role; of a camera that is not there the answer is 404 for all.
  [/^POST \/api\/iot\/(detection\/motion-stream|cctv\/\{id\}\/what-if)$/, everyone],
  [/^\w+ \/api\/webhooks\b/, admins],
  [/^GET \/api\/(alerts|alert-channels|alert-messages|alert-silences)$/, adminsAndAuditor],
  [/^POST \/api\/(alerts|alert-channels|alert-silences)(\/|$)/, admins],
  // The own browsers; the messages follow the rights of the owner.
  [/^\w+ \/api\/push-subscriptions\b/, everyone],
  [/^GET \/api\/log\/tile\/entries\//, leadsAndAuditor],
  [/^GET \/api\/log\//, everyone],
  [/^GET \/api\/uploads$/, adminsAndAuditor],
  [/^POST \/api\/uploads\//, admins],
  [/^GET \/api\/governance\/audit(\/export)?$/, leadsAndAuditor],
  [/^GET \/api\/governance\/clock$/, leadsAndAuditor],
  [/^GET \/api\/governance\/incidents\/\{id\}\/package$/, leadsAndAuditor],
  [/^GET \/api\/governance\/incidents/, readers],
  [/^POST \/api\/whms\/discrepancies\//, leads],
  [/^POST \/api\/governance\/incidents$/, floor],
  [/^POST \/api\/governance\/incidents\//, leads],
  [/^GET \/api\/governance\/reports/, leadsAndAuditor],
  [/^POST \/api\/governance\/reports$/, leads],
]

const endsSessions = /^(DELETE \/api\/session|POST \/api\/sessions\/end|POST \/api\/session\/provider\/sign-out)$/

t.test('every role is decided, from the least to the most', (t) => {
  t.strictSame(roleNames, roles)
  t.end()
})

t.test('each role may do what is decided for it, and nothing else', async (t) => {
  const accounts = [...Object.values(people), ...roles.map(asker)]
  const site = await siteWithProvider(t, {
    provider: { people: roles.map((role) => ({ sub: role, groups: [`all-${role}s`] })) },
    entry: { groupRoles: Object.fromEntries(roles.map((role) => [`all-${role}s`, role])) },
    auth: { users: accounts.map(({ username, role }) => cheapAccount(username, role)) },
  })
  const { gateway } = site
  /** The ways in which a caller of each role comes: by headers, and by a session of a person of the provider. */
  const callers = new Map<Role, readonly Record<string, string>[]>()
  for (const role of roles) callers.set(role, [signedIn(asker(role)), await headersOfPerson(site, role)])
  const operations = operationsOf(await descriptionOf(gateway))
  t.ok(operations.length > 100)
  for (const { method, path } of operations) {
    const decided = mayAsk.find(([operation]) => operation.test(`${method} ${path}`))
    t.ok(decided, `${method} ${path} is decided`)
    if (!decided) continue
    const address = path.replace(/\{\w+\}/g, '999999')
    for (const role of roles) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
      for (const headers of callers.get(role) ?? []) {
        // These end the session that the crawl needs.
        if ('Cookie' in headers && endsSessions.test(`${method} ${path}`)) continue
        const answer = await gateway.ask(method, address, { headers, ...body })
        const isRefused = answer.body?.error?.code === 'PERMISSION_DENIED'
        const who = `${role}${'Cookie' in headers ? ' of the provider' : ''}`
        t.equal(isRefused, !decided[1].includes(role), `${who}: ${method} ${path}`)
        t.equal(answer.status === 403, isRefused, `${who}: ${method} ${path} ${answer.status}`)
      }
    }
  }
})

t.test('an auditor in another group too has the role of that group', async (t) => {
  const { roleOfGroups } = await import('../../src/auth/config-names.ts')
  const settings = {
    siteUrl: 'https://gate.example',
    instances: ['https://cloud.example'],
    groupRoles: { revision: 'auditor', pickers: 'operator' },
    defaultRole: 'viewer',
  } as const
  const roleOf = (...groups: string[]) => roleOfGroups(groups, 'https://cloud.example', settings)
  t.equal(roleOf('revision'), 'auditor')
  t.equal(roleOf('revision', 'pickers'), 'operator')
  t.equal(roleOf(), 'viewer')
})
