import type { ConfiguredCameras } from '../cameras/index.ts'
import type { Config } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, PageLanguage } from '../http/index.ts'
import type { Clock } from '../platform/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import { type Notice, noticeOf } from './notice.ts'

type NoticesNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly cameras: ConfiguredCameras
  readonly warehouse: Pick<WarehouseService, 'timezoneOf'>
  readonly config: () => Pick<Config, 'privacy' | 'retention' | 'site' | 'storage'>
  /** Says whether clips of a camera are to be uploaded, as the config or a start through the API has it. */
  readonly uploadsClips: (cctvId: number) => boolean
}

/** Makes the notices for the doors of rooms with a camera, from the current config. */
export class Notices {
  readonly #needs: NoticesNeeds

  constructor(needs: NoticesNeeds) {
    this.#needs = needs
  }

  /** Returns the notice of a camera in this language. Throws NOT_FOUND, also for a camera that the caller may not see. */
  notice(cctvId: number | undefined, caller: Caller, language: PageLanguage): Notice {
    if (cctvId === undefined) throw AppError.notFound('Camera')
    const { work, clock, cameras, warehouse, uploadsClips } = this.#needs
    const { privacy, retention, site, storage } = this.#needs.config()
    const camera = cameras.visible(cctvId, caller)
    const facts = {
      cctvId,
      camera: camera.name,
      site: site.id,
      controller: privacy.controller,
      contact: privacy.contact,
      legalBasis: privacy.legalBasis,
      purpose: camera.purpose,
      hours: camera.recordingHours ?? [],
      timezone: work.read((tx) => warehouse.timezoneOf(tx, cameras.warehouseOf(cctvId))),
      retentionDays: camera.retentionDays ?? retention.clips.maxAgeDays,
      continuousHours: camera.history.hours,
      filmsEvents: camera.slots.length > 0,
      copiesAt: storage.upload && uploadsClips(cctvId) ? new URL(storage.upload.instance).host : null,
      issuedAtMs: clock.now(),
    }
    return noticeOf(facts, language)
  }
}
