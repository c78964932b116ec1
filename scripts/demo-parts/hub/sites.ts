import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientsOf, prepare } from '../cast.ts'
import type { Account, Client } from '../client.ts'
import { Gateway, type GatewayCommand } from '../gateway.ts'
import { palletPhoto } from '../photo.ts'
import { freePort } from '../ports.ts'
import { judgement, placement, record, uploadPhoto } from '../scans.ts'
import { type Floor, furnish } from '../warehouse.ts'

/** The recalled goods: every third pallet of each hall has this item, and this lot printed on it. */
export const recalled = { gtin: '09521234543213', lot: 'L-7731' } as const
const goodsOf = (i: number) => ({ gtin: recalled.gtin, lot: i % 3 === 0 ? recalled.lot : 'L-8000' })

/** Sites by their ids, with the names that people use. */
export const siteNames = { hamburg: 'Hamburg port', bremen: 'Bremen hall', kassel: 'Kassel hub' } as const
export type SiteId = keyof typeof siteNames
export const siteIds = Object.keys(siteNames) as SiteId[]

const people = { admin: 'admin', 'scanner-1': 'operator', supervisor: 'supervisor' } as const

/** A gateway with its hall. */
export type Site = {
  readonly siteId: SiteId
  readonly gateway: Gateway
  readonly accounts: Readonly<Record<keyof typeof people, Account>>
  readonly clients: Readonly<Record<keyof typeof people, Client>>
  readonly floor: Floor
}

/** Starts a gateway of this site in its own folder, and furnishes its hall. */
export async function openSite(
  options: GatewayCommand & { readonly folder: string; readonly atEnd: (ending: () => unknown) => void },
  siteId: SiteId,
): Promise<Site> {
  const folder = join(options.folder, siteId)
  mkdirSync(folder)
  const gateway = new Gateway({ ...options, folder, port: await freePort() })
  options.atEnd(() => gateway.close())
  const site = { id: siteId, url: gateway.url }
  const accounts = await prepare(gateway, people, [], undefined, { site })
  await gateway.start()
  const clients = clientsOf(gateway, accounts)
  const serialsBehind = 1000 * (1 + siteIds.indexOf(siteId))
  const floor = await furnish(clients.admin, { name: siteNames[siteId], serialsBehind, goods: goodsOf })
  return { siteId, gateway, accounts, clients, floor }
}

/** Joins a head office with a code, as an admin does it on the box. Returns how the command ended. */
export async function joinOffice({ gateway }: Pick<Site, 'gateway'>, url: string, code: string) {
  const codeFile = join(gateway.folder, 'code')
  writeFileSync(codeFile, code, { mode: 0o600 })
  const joined = await gateway.run(['hub', 'join', url, '--code-file', codeFile, '--config', gateway.configFile])
  if (joined.code === 0) gateway.reload()
  return joined
}

/** The n-th slot of a hall and a pallet, which may come from another one. */
type At = { readonly slot: number; readonly pallet: string }

/** A pallet is put into a slot, with a photo. */
export async function place({ siteId, clients, floor }: Site, { slot: n, pallet }: At): Promise<void> {
  const scanner = clients['scanner-1']
  const slot = floor.slots[n] ?? floor.slots[0]
  if (!slot) throw new Error('a hall has slots')
  const { url: photoUrl } = await uploadPhoto(scanner, palletPhoto(Date.now() % 2 ** 32))
  await record(scanner, placement({ slot, pallet, photoUrl, key: `${siteId}-in-${pallet}` }))
}

/** A pallet leaves its slot. */
export async function takeOut({ siteId, clients, floor }: Site, { slot: n, pallet }: At): Promise<void> {
  const slot = floor.slots[n]
  if (!slot) throw new Error(`a hall has no slot ${n}`)
  await record(clients['scanner-1'], judgement('REMOVED', slot, pallet, `${siteId}-out-${pallet}`))
}

/** A pallet of the hall with the recalled lot. */
export function recalledPallet({ floor }: Pick<Site, 'floor'>, n = 0): string {
  return palletOf({ floor }, 3 * n)
}

/** The i-th pallet of the hall. */
export function palletOf({ floor }: Pick<Site, 'floor'>, i: number): string {
  const pallet = floor.pallets[i]
  if (pallet === undefined) throw new Error(`a hall has no pallet ${i}`)
  return pallet
}

/** Keeps a copy of a gateway's state, made while it does not run. */
export function copyState({ gateway }: Site): void {
  cpSync(gateway.dataDir, `${gateway.dataDir}-copy`, { recursive: true })
}

/** Puts the copy in the place of what is there, as somebody with a shell would. */
export function putBack({ gateway }: Site): void {
  rmSync(gateway.dataDir, { recursive: true })
  renameSync(`${gateway.dataDir}-copy`, gateway.dataDir)
}
