/** The rows of the files that people take along. Columns are named as the answers in JSON name them. */
import type { AskService } from './service.ts'

type Answer<Name extends 'search' | 'recall' | 'sites' | 'floor' | 'alerts'> = Awaited<ReturnType<AskService[Name]>>

export const moveColumns = [
  ...['timestamp', 'siteId', 'event_type', 'slot', 'asset_barcode', 'operator'],
  ...['logId', 'seq', 'lostByRestore'],
]

export const moveRow =
  (isBehind: boolean) =>
  ({ slot_id: _, ...move }: Answer<'search'>['trail'][number]) => ({ ...move, lostByRestore: isBehind ? 'yes' : '' })

export const recallColumns = ['siteId', 'asset_barcode', 'slot', 'since', 'state', 'unit', 'gtin', 'lot']

export function recallRow({ unit, lots, ...row }: Answer<'recall'>['data'][number]) {
  return { ...row, lot: lots.join(' '), unit: unit === null ? '' : (unit.reference ?? unit.unitId) }
}

/** A site for which the list may be wrong, before the pallets: the person who is sent the file has no page that says so. */
export const behindRow = ({ siteId, fedAt }: Answer<'recall'>['behind'][number]) => ({
  siteId,
  since: fedAt,
  state: 'not_up_to_date',
})

export const floorColumns = [
  ...['siteId', 'warehouse', 'zone', 'slot', 'slot_id', 'state', 'assetBarcode', 'since', 'verdict'],
]

/** `verdict` is empty for a past time, at which it is not read. */
export const floorRow =
  (siteId: string) =>
  ({ isOccupied, ...slot }: Answer<'floor'>[number]) => ({
    siteId,
    ...slot,
    state: isOccupied ? 'occupied' : 'empty',
    verdict: verdictOf(slot),
  })

type Judged = { readonly slot: string; readonly isVerified?: boolean; readonly isDisputed?: boolean }

function verdictOf({ isVerified, isDisputed }: Judged): string {
  if (isDisputed) return 'disputed'
  if (isVerified === undefined) return ''
  return isVerified ? 'verified' : 'unverified'
}

export const alertColumns = [
  ...['siteId', 'type', 'severity', 'openedAt', 'closedAt', 'closedBy', 'logId', 'id', 'detail'],
]

export const alertRow = ({ detail, ...alert }: Answer<'alerts'>['data'][number]) => ({
  ...alert,
  detail: JSON.stringify(detail),
})

/** New columns are appended, for programs that read a file by position. */
export const siteColumns = [
  ...['siteId', 'name', 'state', 'health', 'version', 'size', 'fedAt', 'lagSeconds', 'leavesBehind'],
  ...['openAlerts', 'troubles', 'cameras', 'withoutPictures', 'freeBytes', 'certificateUntil', 'backupAt'],
  ...['rehearsedAt', 'configHash', 'configDiffersIn', 'gatewayAlerts', 'gatewayAlertKinds', 'regions', 'offered'],
  ...['standing', 'problems', 'offerState', 'offerWaits'],
]

export function siteRow({
  fleet,
  config,
  troubles,
  regions,
  problems,
  offerWaits,
  permissions: _,
  ...site
}: Answer<'sites'>[number]) {
  return {
    ...site,
    regions: regions.join(' '),
    problems: problems.map(({ kind }) => kind).join(' '),
    offerWaits: offerWaits ? 'yes' : '',
    gatewayAlerts: fleet?.openAlerts,
    gatewayAlertKinds: kindsOf(fleet),
    troubles: troubles.map(({ message }) => message).join('; '),
    cameras: fleet?.cameras.configured,
    withoutPictures: fleet?.cameras.withoutPictures,
    freeBytes: fleet?.freeBytes,
    certificateUntil: fleet?.certificateUntil,
    backupAt: fleet?.backupAt,
    rehearsedAt: fleet?.rehearsedAt,
    configHash: fleet?.configHash,
    configDiffersIn: config.differsIn.join(' '),
  }
}

const kindsOf = (fleet: Answer<'sites'>[number]['fleet']) =>
  [...new Set((fleet?.alerts ?? []).map(({ kind }) => kind))].join(' ')
