import { work } from '../handheld.ts'
import { Yard } from '../yard.ts'
import { recalled, type Site } from './sites.ts'
import type { HubStoryOptions } from './story.ts'

/** Slots and pallets that the story does not touch. */
const untouched = { slots: 16, pallets: 15 }

type Playing = Parameters<NonNullable<HubStoryOptions['after']>>[0]

/**
 * Shows the head office after the story, with people at work at every site, until the signal fires. Throws when the head office ends
 * by itself.
 */
export async function stay(scene: Playing, print: (line: string) => void, signal: AbortSignal): Promise<void> {
  print(welcome(scene))
  const gone = new AbortController()
  const ended = scene.office.ended().then((how) => {
    gone.abort()
    return how
  })
  const either = AbortSignal.any([signal, gone.signal])
  await Promise.all(Object.values(scene.sites).map((site) => keepBusy(site, print, either)))
  if (!signal.aborted) throw new Error(`the head office ended by itself: ${await ended}`)
  print('stopping …')
}

async function keepBusy({ siteId, clients, floor }: Site, print: (line: string) => void, signal: AbortSignal) {
  const rest = {
    ...floor,
    slots: floor.slots.slice(untouched.slots),
    pallets: floor.pallets.slice(untouched.pallets),
  }
  const shared = { yard: new Yard({ floor: rest, chance: Math.random }), signal }
  const tell = (line: string) => print(`${siteId.padEnd(8)} ${line}`)
  await Promise.all([
    work({ ...shared, print: tell, client: clients['scanner-1'], next: (yard) => yard.moving() }),
    work({ ...shared, print: tell, client: clients.supervisor, next: (yard) => yard.judging() }),
  ])
}

function welcome({ office, account, sites }: Playing): string {
  const gateways = Object.values(sites).map(
    ({ siteId, gateway, accounts }) => `${siteId.padEnd(8)} ${gateway.url}/  admin  ${accounts.admin.secret}`,
  )
  return `
The head office is up, with three sites at which people go on moving pallets.

  address   ${office.url}/ (in a browser: it warns, because the authority was made for this run)
  trust     ${office.caFile}
  sign in   ${account.username}  ${account.secret}
            (bearer token or Basic password, with X-Storage-Instance: ${office.url})
  ask       a recall of GTIN ${recalled.gtin}, lot ${recalled.lot}
  sites     ${gateways.join('\n            ')}
  its log   ${office.logFile}
  stop it   Ctrl-C; everything is removed then
`
}
