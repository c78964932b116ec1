import { readdirSync } from 'node:fs'
import { cruise, type ICruiseResult, type IForbiddenRuleType, type IReporterOutput } from 'dependency-cruiser'

/** The rooms from the roof to the ground; imports run downward only. `platform` and `errors` import nothing of ours. */
export const rooms = [
  'cli',
  'setup',
  'doctor',
  'hub',
  'app',
  'console',
  'stream',
  'alerting',
  'health',
  'upgrade',
  'takeout',
  'backup',
  'mirror',
  'feed',
  'evidence',
  'governance',
  'webhooks',
  'upload',
  'floor',
  'accounts',
  'retention',
  'exchange',
  'privacy',
  'cameras',
  'scales',
  'counts',
  'imports',
  'units',
  'ledger',
  'photos',
  'labels',
  'devices',
  'warehouse',
  'oidc',
  'auth',
  'clock',
  'journal',
  'log',
  'proof',
  'video',
  'http',
  'database',
  'config',
  'flow',
  'errors',
  'platform',
]

/** The one reader of codes is pure; in the browser it comes without the room around it. */
const readerOfCodes = 'warehouse/barcodes/barcode\\.ts$'

/** The views of the console. The other folders of the page are shared. */
const views = 'cameras|evidence|find|floor|goods|hub|people|plan|scan|system|wall|work'

/** Fewer files than this means that the tool saw nothing, which it reports as success. */
const leastFiles = 80

function rules(): IForbiddenRuleType[] {
  const upward = rooms.map((room, i) => ({
    name: `${room} imports only what lies below it`,
    severity: 'error' as const,
    from: { path: `^src/${room}/` },
    to: { path: `^src/(main\\.ts$|(${rooms.slice(0, i).join('|') || 'main'})/)` },
  }))
  const ground = ['errors', 'platform'].map((room) => ({
    name: `${room} imports nothing of ours`,
    severity: 'error' as const,
    from: { path: `^src/${room}/` },
    to: { path: '^src/', pathNot: `^src/${room}/` },
  }))
  return [
    ...upward,
    ...ground,
    {
      name: "a room is entered through its index only (platform's files stand for themselves)",
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.+', pathNot: `^src/($1/|platform/|[^/]+/index\\.ts$|${readerOfCodes})` },
    },
    {
      name: 'only the page reads codes without the rest of the room warehouse',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(warehouse|console/page)/' },
      to: { path: `^src/${readerOfCodes}` },
    },
    {
      name: "a view of the console imports no other view; what two share is in the page's shared folders",
      severity: 'error',
      from: { path: `^src/console/page/(${views})/` },
      to: { path: `^src/console/page/(${views})/`, pathNot: '^src/console/page/$1/' },
    },
    { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'src imports neither tests nor scripts',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts)/' },
    },
  ]
}

/** Throws with the offending imports, or when `src` has a room that the order does not name. */
export async function importDirection(): Promise<void> {
  const unknown = readdirSync('src', { withFileTypes: true }).filter((e) => e.isDirectory() && !rooms.includes(e.name))
  if (unknown.length > 0)
    throw new Error(`rooms without a place in the order: ${unknown.map((e) => e.name).join(', ')}`)
  const done: IReporterOutput = await cruise(
    ['src'],
    {
      ruleSet: { forbidden: rules() },
      validate: true,
      doNotFollow: { path: 'node_modules' },
      tsPreCompilationDeps: true,
    },
    { extensions: ['.ts', '.tsx', '.js'] } as never,
  )
  const { modules, summary } = done.output as ICruiseResult
  const own = modules.filter((m) => m.source.startsWith('src/')).length
  if (own < leastFiles) throw new Error(`only ${own} files were looked at, expected at least ${leastFiles}`)
  if (summary.violations.length === 0) return
  throw new Error(summary.violations.map((v) => `${v.rule.name}: ${v.from} -> ${v.to}`).join('\n'))
}
