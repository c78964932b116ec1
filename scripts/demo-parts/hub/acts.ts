import { eventually } from '../../../test/support/waiting.ts'
import type { Account } from '../client.ts'
import { holds, same } from '../expect.ts'
import type { Office } from './office.ts'
import {
  copyState,
  joinOffice,
  palletOf,
  place,
  putBack,
  recalled,
  recalledPallet,
  type Site,
  type SiteId,
  siteNames,
  takeOut,
} from './sites.ts'

/** The acts of the story of the head office, each with all its claims checked. The text that they return is printed. */

/** An account may ask the head office 300 times a minute. */
const arrival = { withinMs: 90_000, everyMs: 500 }

export type Scene = {
  readonly office: Office
  readonly account: Account
  readonly sites: Readonly<Record<SiteId, Site>>
}

type ActResult = { readonly detail: string }
type Found = { readonly siteId: string; readonly asset_barcode: string; readonly state: string }

const keyOf = (pallet: string) => pallet.replace(/^00(?=\d{18}$)/, '')
const all = ({ sites }: Scene) => Object.values(sites)

export async function joins({ office, account, sites }: Scene): Promise<ActResult> {
  const used: string[] = []
  for (const site of Object.values(sites)) {
    const { code } = await office.enrol(site.siteId, siteNames[site.siteId])
    const { code: exit, stderr } = await joinOffice(site, office.url, code)
    same(`exit code of gatehouse hub join at ${site.siteId} (${stderr.trim()})`, exit, 0)
    used.push(code)
  }
  const again = await joinOffice(sites.kassel, office.url, used[0] ?? '')
  holds(again.code !== 0 && again.stderr.includes('403'), `a used code was taken again: ${again.stdout}${again.stderr}`)
  const { data } = await eventually(
    () => office.get(account, '/api/hub/sites'),
    ({ data: known }) => known.length === 3 && known.every(({ fedAt }: { fedAt: string | null }) => fedAt !== null),
    arrival,
  )
  const heard = data.map(({ siteId, version }: { siteId: string; version: string }) => `${siteId} (${version})`)
  return { detail: `heard of ${heard.join(', ')}; a used code is refused` }
}

/** Two pallets of the recalled lot and one of another come to every site. */
export async function receives(scene: Scene): Promise<ActResult> {
  for (const site of all(scene)) {
    await place(site, { slot: 0, pallet: recalledPallet(site, 0) })
    await place(site, { slot: 1, pallet: recalledPallet(site, 1) })
    await place(site, { slot: 2, pallet: palletOf(site, 1) })
  }
  for (const site of all(scene)) await stands(scene, palletOf(site, 1), site)
  return { detail: '3 pallets at each site, seen at the head office' }
}

/**
 * Lists exactly the pallets of the lot that are still in slots, as JSON and as a list to send, beside those that have left.
 */
export async function recalls({ office, account }: Scene, expected: readonly (readonly [SiteId, string])[]) {
  const path = `/api/hub/recall?gtin=${recalled.gtin}&lot=${recalled.lot}`
  const { data } = (await office.get(account, path)) as { data: readonly Found[] }
  const standing = data.filter(({ state }) => state === 'here')
  const found = standing.map(({ siteId, asset_barcode }) => `${siteId} ${keyOf(asset_barcode)}`).toSorted()
  same('what the recall lists', found, expected.map(([siteId, pallet]) => `${siteId} ${keyOf(pallet)}`).toSorted())
  const csv = String(await office.get(account, `${path}&format=csv`))
  same('rows of the list to send', csv.trim().split('\r\n').length, 1 + data.length)
  const sites = new Set(expected.map(([siteId]) => siteId))
  return { detail: `GTIN ${recalled.gtin}, lot ${recalled.lot}: ${expected.length} pallets at ${sites.size} sites` }
}

/** The pallet leaves with a truck. */
export async function ships({ office, account, sites: { hamburg } }: Scene): Promise<ActResult> {
  const pallet = recalledPallet(hamburg)
  const unit = { reference: 'LKW-7', direction: 'outbound', sscc: keyOf(pallet) }
  await hamburg.clients.supervisor.create('/api/whms/transport-units', unit)
  await takeOut(hamburg, { slot: 0, pallet })
  const found = await eventually(
    () => office.get(account, `/api/hub/search?code=${pallet}`),
    ({ data }) => data[0]?.state === 'in_transit',
    arrival,
  )
  same('its unit', found.unit?.reference, 'LKW-7')
  return { detail: `…${pallet.slice(-5)}: ${found.data[0].state} from ${found.data[0].siteId} with LKW-7` }
}

/** The pallet arrives at another site: one way over both. */
export async function arrives(scene: Scene): Promise<ActResult> {
  const { hamburg, bremen } = scene.sites
  const pallet = recalledPallet(hamburg)
  await place(bremen, { slot: 3, pallet })
  const { data, trail } = await stands(scene, pallet, bremen)
  const way = trail.map((step: { siteId: string; event_type: string }) => `${step.event_type} at ${step.siteId}`)
  same('its way', way, ['PLACED at hamburg', 'REMOVED at hamburg', 'PLACED at bremen'])
  return { detail: `stands in ${data[0].slot} of ${data[0].siteId}; ${way.join(', ')}` }
}

/** An event of a site becomes witnessed there. */
export async function confirms({ office, sites: { hamburg } }: Scene): Promise<ActResult> {
  const admin = hamburg.clients.admin
  const { data } = await admin.get('/api/whms/events?limit=1')
  const path = `/api/whms/events/${data[0].id}`
  const { evidence } = await eventually(
    () => admin.get(path),
    (event) => event.evidence.state === 'witnessed',
    arrival,
  )
  same('who confirmed it', evidence.witnesses[0]?.name, `${new URL(office.url).hostname}/w1`)
  return { detail: `event ${data[0].id} of hamburg: ${evidence.state} by ${evidence.witnesses[0].name}` }
}

/** The head office is killed and starts again. Events from that time arrive, each once. */
export async function survives(scene: Scene): Promise<ActResult> {
  const { office, sites } = scene
  await office.kill()
  await place(sites.kassel, { slot: 3, pallet: palletOf(sites.kassel, 4) })
  await office.start()
  await stands(scene, palletOf(sites.kassel, 4), sites.kassel)
  const sizes: string[] = []
  for (const site of all(scene)) sizes.push(`${site.siteId} ${await sameSize(scene, site)}`)
  return { detail: `recorded while it was away, and there now; leaves: ${sizes.join(', ')}, as at the gateways` }
}

/** @returns the leaves of a site, once the head office has as many as the gateway has signed */
async function sameSize({ office, account }: Scene, { siteId, clients }: Site): Promise<number> {
  const look = async () => {
    const { data } = await office.get(account, '/api/hub/sites')
    const note = String(await clients.admin.get('/api/log/checkpoint'))
    const there = data.find((one: { siteId: string }) => one.siteId === siteId)?.size
    return { there: Number(there), here: Number(note.split('\n')[1]) }
  }
  return (await eventually(look, ({ there, here }) => there === here, arrival)).there
}

/** An old copy of the database replaces the current one. Newer events are lost, and the box detects it. */
export async function isPutBack(scene: Scene): Promise<ActResult> {
  const { kassel } = scene.sites
  await kassel.gateway.stop()
  copyState(kassel)
  await kassel.gateway.start()
  for (const slot of [4, 5]) await place(kassel, { slot, pallet: palletOf(kassel, slot + 1) })
  await stands(scene, palletOf(kassel, 6), kassel)
  await kassel.gateway.stop()
  putBack(kassel)
  await kassel.gateway.start()
  const { body } = await eventually(
    () => kassel.clients.admin.ask('GET', '/api/health'),
    (answer) => answer.body.checks?.hub?.status === 'degraded',
    arrival,
  )
  same('health of the gateway', body.status, 'degraded')
  return { detail: `kassel says: ${body.checks.hub.reason}` }
}

/** The box continues with a second history, and the head office names the fork. The other sites still feed. */
export async function isCaught(scene: Scene): Promise<ActResult> {
  const { office, account, sites } = scene
  for (const slot of [8, 9, 10, 11, 12, 13]) await place(sites.kassel, { slot, pallet: palletOf(sites.kassel, slot) })
  // After the answer that it is behind, a gateway waits a minute before it retries. A start retries at once.
  await sites.kassel.gateway.stop()
  await sites.kassel.gateway.start()
  const forks = async () => {
    const { data } = await office.get(account, '/api/hub/alerts')
    return data.filter(({ type }: { type: string }) => type === 'log.forked')
  }
  const caught = await eventually(forks, (found) => found.length > 0, arrival)
  same('who forked', [...new Set(caught.map(({ siteId }: { siteId: string }) => siteId))], ['kassel'])
  const { data } = await office.get(account, '/api/hub/sites')
  const states = Object.fromEntries(data.map((one: { siteId: string; state: string }) => [one.siteId, one.state]))
  same('the sites', states, { hamburg: 'live', bremen: 'live', kassel: 'forked' })
  await place(sites.hamburg, { slot: 5, pallet: palletOf(sites.hamburg, 2) })
  await stands(scene, palletOf(sites.hamburg, 2), sites.hamburg)
  return { detail: `alert log.forked: kassel, at leaf or root ${caught[0].detail.place}; the other sites go on` }
}

/** The admin of the box accepts the fork: a new log states which log it continues. The alert of the fork stays. */
export async function goesOn(scene: Scene): Promise<ActResult> {
  const { office, account, sites } = scene
  const { kassel } = sites
  await kassel.gateway.stop()
  const { code, stderr } = await kassel.gateway.run([
    ...['restore', '--accept-fork', '--config', kassel.gateway.configFile],
  ])
  same(`exit code of gatehouse restore --accept-fork (${stderr.trim()})`, code, 0)
  await kassel.gateway.start()
  await place(kassel, { slot: 14, pallet: palletOf(kassel, 14) })
  await stands(scene, palletOf(kassel, 14), kassel)
  const { data } = await office.get(account, '/api/hub/alerts')
  const ofKassel = data
    .filter(({ siteId }: { siteId: string }) => siteId === 'kassel')
    .map(({ type }: { type: string }) => type)
  // Both histories are stored, and a person at the head office closes the alert.
  same('the alerts of kassel', [...new Set(ofKassel)], ['log.forked'])
  return { detail: 'a new log continues it; log.forked stands until somebody closes it' }
}

/** @returns what the head office says of a pallet, once it is at that site alone */
async function stands({ office, account }: Scene, pallet: string, { siteId }: Pick<Site, 'siteId'>) {
  return eventually(
    () => office.get(account, `/api/hub/search?code=${pallet}`),
    ({ data }) => data.some((one: { siteId: string; state: string }) => one.siteId === siteId && one.state === 'here'),
    arrival,
  )
}
