import type { FunctionComponent } from 'preact'
import type { ReceiptProps } from './evidence/receipt-page.tsx'
import type { FindProps } from './find/find-page.tsx'
import type { ViewName, ViewProps } from './kit/views.ts'
import type { MissingProps } from './missing-page.tsx'
import type { PairProps } from './system/pair-page.tsx'

/** Export of a view's file: the view, as a component. */
export type ViewFile<Props = ViewProps> = { readonly View: FunctionComponent<Props> }
export type Load<Props> = () => Promise<ViewFile<Props>>

/** Loads a view at its first visit, so that the floor does not wait for its file. */
export const viewFiles: Partial<Record<ViewName, Load<ViewProps>>> = {
  cameras: () => import('./cameras/camera-page.tsx'),
  units: () => import('./goods/units-page.tsx'),
  audit: () => import('./evidence/audit-page.tsx'),
  plan: () => import('./plan/editor.tsx'),
  counts: () => import('./work/counts-page.tsx'),
  labels: () => import('./goods/labels-page.tsx'),
  incidents: () => import('./evidence/incidents-page.tsx'),
  reports: () => import('./evidence/reports-page.tsx'),
  alerts: () => import('./system/alerts-page.tsx'),
  system: () => import('./system/system-page.tsx'),
  devices: () => import('./system/devices-page.tsx'),
  people: () => import('./people/people-page.tsx'),
  webhooks: () => import('./system/webhooks/webhooks-page.tsx'),
  uploads: () => import('./system/uploads-page.tsx'),
  todo: () => import('./work/todo-page.tsx'),
  verify: () => import('./work/verify/verify-page.tsx'),
}

export const findFile: Load<FindProps> = () => import('./find/find-page.tsx')
export const receiptFile: Load<ReceiptProps> = () => import('./evidence/receipt-page.tsx')
export const missingFile: Load<MissingProps> = () => import('./missing-page.tsx')
export const pairFile: Load<PairProps> = () => import('./system/pair-page.tsx')
export const wallFile: Load<object> = () => import('./wall/wall-page.tsx')

/**
 * Says whether the gateway has replaced this page, as an update does: its own script is not there. False without an answer.
 */
export async function isReplaced(): Promise<boolean> {
  const answer = await fetch(import.meta.url, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
  return answer?.status === 404
}

const known = new Map<unknown, unknown>()

/** Returns a file that was loaded before: then the view is there without a moment between. */
export const knownFile = <Props>(load: Load<Props>): ViewFile<Props> | undefined =>
  known.get(load) as ViewFile<Props> | undefined

/** Loads a file and keeps it. Rejects when it cannot be fetched. */
export async function keepFile<Props>(load: Load<Props>): Promise<void> {
  known.set(load, await load())
}
