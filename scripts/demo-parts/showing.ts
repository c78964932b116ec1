import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Received } from '../../test/support/receiver.ts'
import { within } from './bounds.ts'
import { type Cameras, demoCameras, openCameras } from './cameras.ts'
import { clientsOf, prepare } from './cast.ts'
import { type Account, type Client, signIn } from './client.ts'
import { Gateway, type GatewayCommand } from './gateway.ts'
import { work } from './handheld.ts'
import { type Inbox, openInbox } from './inbox.ts'
import { type DetectionFacts, detectionLine, motionLine, notificationLine } from './lines.ts'
import { portIsFree } from './ports.ts'
import { furnish } from './warehouse.ts'
import { Yard } from './yard.ts'

export const defaultPort = 8480
const openingLimitMs = 180_000

/** A reason not to go on, shown to the user as it is. */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused'
}

export type ShowingOptions = GatewayCommand & {
  readonly port: number
  /** The source tree; state goes to its var folder. */
  readonly root: string
  readonly print: (line: string) => void
  /** Ends the demo. */
  readonly signal: AbortSignal
}

const people = {
  admin: 'admin',
  supervisor: 'supervisor',
  viewer: 'viewer',
  'scanner-1': 'operator',
  'scanner-2': 'operator',
} as const

type Name = keyof typeof people

/**
 * Runs a gateway with a small busy warehouse until the signal fires. Throws DemoRefused when the port is taken or the
 * gateway ends unexpectedly. All its processes have ended when it returns.
 */
export async function show(options: ShowingOptions): Promise<void> {
  const { port, print, signal } = options
  if (!(await portIsFree(port))) {
    throw new DemoRefused(
      `port ${port} of 127.0.0.1 is taken by another program; end it, or choose another port with --port.`,
    )
  }
  const gateway = new Gateway({ ...options, folder: freshFolder(options) })
  let opened: Opened | undefined
  const inbox = await openInbox(randomBytes(24).toString('hex'), (request) => {
    void tell(request, opened?.clients.admin, print)
    forgetReceived(inbox.receiver)
  })
  let cameras: Cameras | undefined
  try {
    cameras = await within(theCameras(gateway, print), openingLimitMs, signal)
    opened = await within(open(gateway, inbox, cameras, print), openingLimitMs, signal)
    print(await welcome(options, gateway, opened.accounts))
    await keepBusy(options, gateway, opened)
    print('stopping …')
    const code = await gateway.stop()
    if (code !== 0)
      throw new DemoRefused(`the gateway did not stop as it should (exit code ${code}); see ${gateway.logFile}`)
    print('stopped; everything is still there to be looked at until the next start')
  } catch (error) {
    if (error instanceof DemoRefused || !signal.aborted) throw error
  } finally {
    await gateway.close()
    await inbox.receiver.stop()
    await cameras?.rtsp.stop()
  }
}

/**
 * Prints a notification. Leaves out event.created unless it is about a detection: the others repeat earlier lines.
 */
async function tell(request: Received, admin: Client | undefined, print: (line: string) => void): Promise<void> {
  const { type, data } = request.event
  if (type === 'motion.detected') print(motionLine(request))
  else if (type !== 'event.created') print(notificationLine(request))
  else if (data['kind'] === 'motion.detected') {
    const facts = data['event'] as DetectionFacts
    print(detectionLine(request, facts, await sizeOfClip(facts, admin)))
  }
}

/** In bytes; undefined when no one can tell. */
async function sizeOfClip({ clipUrls }: DetectionFacts, admin: Client | undefined): Promise<number | undefined> {
  if (clipUrls.playback === null) return undefined
  const headers = { Range: 'bytes=0-0' }
  const answer = await admin?.ask('GET', new URL(clipUrls.playback).pathname, { headers }).catch(() => undefined)
  const size = answer?.headers.get('content-range')?.split('/')[1]
  return size === undefined ? undefined : Number(size)
}

/** `var/demo`, made anew; another port has its own folder, so that two demos don't share one. */
function freshFolder({ root, port }: ShowingOptions): string {
  const folder = join(root, 'var', port === defaultPort ? 'demo' : `demo-${port}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** A demo may run for days, so printed notifications are dropped. */
function forgetReceived({ received }: { readonly received: readonly Received[] }): void {
  ;(received as Received[]).length = 0
}

type Opened = { accounts: Record<Name, Account>; clients: Record<Name, Client>; yard: Yard }

function theCameras({ folder }: Gateway, print: (line: string) => void): Promise<Cameras> {
  return openCameras({ folder, atDock: 'crossing', owner: 'admin', viewers: ['supervisor', 'viewer'], print })
}

async function open(gateway: Gateway, inbox: Inbox, cameras: Cameras, print: (line: string) => void): Promise<Opened> {
  print('making accounts and starting the gateway …')
  const accounts = await prepare(gateway, people, [inbox], cameras)
  await gateway.start()
  const clients = clientsOf(gateway, accounts)
  print('furnishing a small warehouse …')
  const floor = await furnish(clients.admin)
  const floorEvents = ['whms.placement', 'whms.removal', 'whms.verification', 'whms.dispute']
  const events = [...floorEvents, 'motion.detected', 'event.created']
  await clients.admin.create('/api/webhooks', { url: inbox.receiver.url, events, secret: inbox.secret })
  return { accounts, clients, yard: new Yard({ floor, chance: Math.random }) }
}

/** Two move pallets, one judges; until the signal fires, or the gateway is gone. */
async function keepBusy({ print, signal }: ShowingOptions, gateway: Gateway, { clients, yard }: Opened): Promise<void> {
  const gone = new AbortController()
  const ended = gateway.ended().then((how) => {
    gone.abort()
    return how
  })
  const shared = { yard, print, signal: AbortSignal.any([signal, gone.signal]) }
  const moving = (one: Yard) => one.moving()
  await Promise.all([
    work({ ...shared, client: clients['scanner-1'], next: moving }),
    work({ ...shared, client: clients['scanner-2'], next: moving }),
    work({ ...shared, client: clients.supervisor, next: (one) => one.judging() }),
  ])
  if (!signal.aborted) throw new DemoRefused(`the gateway ended by itself: ${await ended}`)
}

async function welcome(
  { command, root }: ShowingOptions,
  gateway: Gateway,
  accounts: Record<Name, Account>,
): Promise<string> {
  const shown = [accounts.admin, accounts.supervisor, accounts.viewer]
  const headers = Object.entries(signIn(accounts.admin)).map(([name, value]) => `-H '${name}: ${value}'`)
  const short = (path: string) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path)
  const cameras = Object.values(demoCameras).map(({ id, name }) => `${id} ${name}`)
  return `
The gateway is up, with a small warehouse in which two people move pallets and one verifies, and two cameras, past the
first of which somebody walks or drives every few seconds.

  address   ${gateway.url}${(await hasConsole(gateway)) ? '/ (in a browser: the console)' : ''}
  sign in   ${shown.map(({ username, secret }) => `${username.padEnd(10)}  ${secret}`).join('\n            ')}
            (made for this run; bearer token or Basic password, with X-Storage-Instance: ${gateway.url})
  try it    curl ${headers.join(' ')} ${gateway.url}/api/whms/slots
  cameras   ${cameras.join(', ')} (simulated; clips in ${short(join(gateway.dataDir, 'clips'))})
  ledger    ${join(gateway.dataDir, 'gatehouse.db')} (made anew at each start)
  check it  ${short(command)} ledger verify --config ${short(gateway.configFile)}
  its log   ${short(gateway.logFile)}
  stop it   Ctrl-C
`
}

async function hasConsole({ url }: Gateway): Promise<boolean> {
  const page = await fetch(`${url}/`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
  return page?.status === 200
}
