import { keysOf } from '../data/parsing.ts'
import type { Permission, Person, SignedIn } from '../data/shapes.ts'

/** Properties of a view. `asked`: the query of the address. `onLeft` is called when the sign-in has ended. */
export type ViewProps = {
  readonly siteId: string
  readonly caller: Person
  readonly pathname: string
  readonly asked: URLSearchParams
  readonly onLeft: (why: string) => void
}

export type ViewGroup = 'work' | 'goods' | 'proof' | 'box'

type Entry = {
  readonly address: string
  readonly group: ViewGroup
  /** Things of the view have addresses below it, such as `/cameras/7`. */
  readonly hasIds?: true
  /** The permission without which the view is of no use: it is left out of the navigation, and its address says so. */
  readonly needs?: Permission
}

/**
 * The views of the page, in the order of the navigation: `work` is in the bar, the other groups in its menu. A new view
 * is a line here, a name in `texts.views`, its file (`view-files.ts`), and its address in `../../routes.ts`.
 */
export const views = {
  floor: { address: '/', group: 'work' },
  todo: { address: '/todo', group: 'work' },
  verify: { address: '/verify', group: 'work', needs: 'events:verify' },
  cameras: { address: '/cameras', group: 'work', hasIds: true, needs: 'cameras:read' },
  units: { address: '/units', group: 'goods', hasIds: true, needs: 'whms:read' },
  counts: { address: '/counts', group: 'goods', hasIds: true, needs: 'whms:read' },
  labels: { address: '/labels', group: 'goods', needs: 'whms:read' },
  incidents: { address: '/incidents', group: 'proof', hasIds: true, needs: 'incidents:read' },
  reports: { address: '/reports', group: 'proof', hasIds: true, needs: 'reports:read' },
  audit: { address: '/audit', group: 'proof', needs: 'audit:read' },
  plan: { address: '/plan', group: 'box', needs: 'whms:write' },
  alerts: { address: '/alerts', group: 'box', needs: 'alerts:read' },
  system: { address: '/system', group: 'box', needs: 'metrics:read' },
  devices: { address: '/devices', group: 'box', needs: 'whms:write' },
  people: { address: '/people', group: 'box' },
  webhooks: { address: '/webhooks', group: 'box', hasIds: true, needs: 'webhooks:manage' },
  uploads: { address: '/uploads', group: 'box', needs: 'storage:read' },
} satisfies Readonly<Record<string, Entry>>

export type ViewName = keyof typeof views

/** Returns the view of an address, also of one below it such as `/cameras/7`; undefined when there is none. */
export function viewAt(pathname: string): ViewName | undefined {
  return viewNames.find((name) => {
    const { address, hasIds }: Entry = views[name]
    return (
      pathname === address ||
      (hasIds && pathname.startsWith(`${address}/`) && /^[^/]+$/.test(pathname.slice(address.length + 1)))
    )
  })
}

/** Says whether the view is of use to the caller. */
export function mayUse(name: ViewName, { permissions }: SignedIn): boolean {
  const { needs }: Entry = views[name]
  return needs === undefined || permissions.includes(needs)
}

/** Lists the views that the caller has a use for. */
export const viewsFor = (caller: SignedIn): readonly ViewName[] => viewNames.filter((name) => mayUse(name, caller))

const viewNames = keysOf(views)

export const groupOf = (name: ViewName): ViewGroup => views[name].group
