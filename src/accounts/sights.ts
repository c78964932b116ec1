import type { ConfigNames } from '../auth/index.ts'
import { type ConfiguredCameras, mayControl, mayExport, whySees } from '../cameras/index.ts'
import { permissions, readName } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, DeclaredOperation } from '../http/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import type { Sight } from './schema.ts'

type SightsNeeds = {
  /** Finds a caller without a credential: account, device, badge, or a storage user that was verified before. */
  readonly callerNamed: (username: string, instance: string, isDevice: boolean) => Caller | undefined
  readonly warehouse: Pick<WarehouseService, 'warehouses' | 'whyVisible' | 'isVisible'>
  readonly cameras: ConfiguredCameras
  readonly names: ConfigNames
  readonly siteUrl: () => string
  /** `warehouses` of the config. */
  readonly narrowed: () => readonly { readonly id: number; readonly viewers: readonly string[] }[]
}

/** Says what somebody may see and why, by the rules of the rooms themselves. */
export class Sights {
  readonly #needs: SightsNeeds

  constructor(needs: SightsNeeds) {
    this.#needs = needs
  }

  /**
   * Returns the sight of a caller. Throws NOT_FOUND for a name that the gateway does not know.
   * @param name as the config writes it
   * @param admin sees every warehouse, so the list is complete
   */
  of(name: string, admin: Caller, operations: readonly DeclaredOperation[]): Sight {
    const caller = this.#callerOf(name)
    const { username, instance, isDevice = false, role, groups } = caller
    return {
      success: true,
      ...{ username, instance, isDevice, role, groups: [...groups] },
      warehouses: this.#warehouses(caller, admin),
      cameras: this.#cameras(caller),
      routes: routesOf(caller, operations),
    }
  }

  #callerOf(text: string): Caller {
    const { kind, name, instance = this.#needs.siteUrl() } = readName(text)
    if (kind === 'group') throw AppError.field('name', 'is a group; name one of its members')
    const caller = this.#needs.callerNamed(name, instance, kind === 'device')
    if (!caller || (kind === 'device') !== (caller.isDevice === true)) throw AppError.notFound('Person or device')
    return caller
  }

  #warehouses(caller: Caller, admin: Caller): Sight['warehouses'] {
    return this.#needs.warehouse.warehouses(admin).map(({ id, name }) => {
      const viewers = this.#needs.narrowed().find((one) => one.id === id)?.viewers ?? []
      const seen = this.#needs.warehouse.isVisible(caller, id)
      return { id, name, seen, why: this.#needs.warehouse.whyVisible(caller, id), by: this.#by(viewers, caller) }
    })
  }

  #cameras(caller: Caller): Sight['cameras'] {
    const { names, cameras } = this.#needs
    return cameras.site.cameras.map((camera) => {
      const why = whySees(names, caller, camera)
      const seen = cameras.isVisible(camera.id, caller)
      const may = {
        control: seen && mayControl(names, caller, camera),
        export: seen && mayExport(names, caller, camera),
      }
      return { id: camera.id, name: camera.name, seen, why, by: this.#by(camera.viewers, caller), ...may }
    })
  }

  /** Lists the entries that mean the caller. */
  #by(viewers: readonly string[], caller: Caller): string[] {
    return viewers.filter((one) => this.#needs.names.mean([one], caller))
  }
}

function routesOf(caller: Caller, operations: readonly DeclaredOperation[]): Sight['routes'] {
  return (['caller', ...permissions] as const).map((permission) => ({
    permission,
    granted: permission === 'caller' || caller.permissions.has(permission),
    operations: operations.filter(({ access }) => access.includes(permission)).map(({ name }) => name),
  }))
}
