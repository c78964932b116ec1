import type { FC } from 'hono/jsx/dom'
import type { FindProps } from './find-page.tsx'
import type { MissingProps } from './missing-page.tsx'
import type { PairProps } from './pair-page.tsx'
import type { ReceiptProps } from './receipt-page.tsx'
import type { ViewName, ViewProps } from './views.ts'

/** Export of a view's file: the view, as a component. */
export type ViewFile<Props = ViewProps> = { readonly View: FC<Props> }
export type Load<Props> = () => Promise<ViewFile<Props>>

/** Loads a view at its first visit, so that the floor does not wait for its file. */
export const viewFiles: Partial<Record<ViewName, Load<ViewProps>>> = {
  cameras: () => import('./camera-page.tsx'),
  units: () => import('./units-page.tsx'),
  audit: () => import('./audit-page.tsx'),
  plan: () => import('./plan-editor.tsx'),
  counts: () => import('./counts-page.tsx'),
  labels: () => import('./labels-page.tsx'),
  incidents: () => import('./incidents-page.tsx'),
  reports: () => import('./reports-page.tsx'),
  alerts: () => import('./alerts-page.tsx'),
  system: () => import('./system-page.tsx'),
  devices: () => import('./devices-page.tsx'),
  webhooks: () => import('./webhooks-page.tsx'),
  uploads: () => import('./uploads-page.tsx'),
  todo: () => import('./todo-page.tsx'),
  verify: () => import('./verify-page.tsx'),
}

export const findFile: Load<FindProps> = () => import('./find-page.tsx')
export const receiptFile: Load<ReceiptProps> = () => import('./receipt-page.tsx')
export const missingFile: Load<MissingProps> = () => import('./missing-page.tsx')
export const pairFile: Load<PairProps> = () => import('./pair-page.tsx')
export const wallFile: Load<object> = () => import('./wall-page.tsx')

const known = new Map<unknown, unknown>()

/** Returns a file that was loaded before: then the view is there without a moment between. */
export const knownFile = <Props>(load: Load<Props>): ViewFile<Props> | undefined =>
  known.get(load) as ViewFile<Props> | undefined

/** Loads a file and keeps it. Rejects when it cannot be fetched. */
export async function keepFile<Props>(load: Load<Props>): Promise<void> {
  known.set(load, await load())
}
