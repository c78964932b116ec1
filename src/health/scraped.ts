import { Counter, Gauge, type Registry } from 'prom-client'
import { type ApplianceImage, clockStates } from '../platform/index.ts'
import type { BoxSample } from './box.ts'

/** The functions that the metrics call at each scrape. */
export type MetricSources = {
  readonly logSize: () => number
  /** Numbers of leaves of the log by evidence state. */
  readonly secured: () => { readonly signed: number; readonly witnessed: number; readonly timestamped: number }
  /** The newest checkpoint of the log. */
  readonly checkpoint: () => { readonly signed_at_ms: number } | undefined
  readonly storageServers: () => { open: number; down: number }
  readonly webhooks: () => {
    total: number
    failing: number
    slowed: number
    disabled: number
    offline: number
    pending: number
  }
  readonly freeBytes: () => number
  /** Files that are not on the storage server yet. */
  readonly uploads: () => {
    readonly pending: number
    readonly parked: number
    readonly pendingBytes: number
    readonly oldestMs: number | null
  }
  /** Leaves that the head office has acknowledged; null: none is configured, or it has not answered yet. */
  readonly hub: () => number | null
  /** The scheduled backups. */
  readonly backups: () => {
    readonly newestMs: number | null
    readonly rehearsedMs: number | null
    readonly segments: { readonly currentMs: number | null; readonly rehearsedMs: number | null }
  }
  /** State of the clock, and the number of its steps. */
  readonly clock: () => { readonly state: string; readonly offsetMs: number | null; readonly steps: number }
  /** Origin of the config in use; `refused`: the last reload, when it was refused. */
  readonly configNow: () => {
    readonly loadedMs: number
    readonly refused: object | null
    readonly waiting: readonly string[]
  }
  /** The system image of an appliance. */
  readonly image: () => ApplianceImage | undefined
  readonly nowMs: () => number
  /** The level of each component, and the number of troubles by kind. */
  readonly health: () => {
    readonly levels: Readonly<Record<string, number>>
    readonly troubles: Readonly<Record<string, number>>
  }
  readonly box: () => Promise<BoxSample>
  readonly version: string
}

/** Adds all figures that are read at each scrape. */
export function addScraped(registry: Registry, sources: MetricSources): void {
  const figures = new Scraped(registry)
  addHealth(figures, sources)
  addAppliance(figures, sources)
  addConfig(figures, sources)
  addLog(figures, sources)
  addCopies(figures, sources)
  addOutside(figures, sources)
  addBox(figures, sources)
}

/** Makes figures of a registry that are read at each scrape. */
class Scraped {
  readonly #registers: Registry[]

  constructor(registry: Registry) {
    this.#registers = [registry]
  }

  /** Adds a figure. It is absent until it has a value, and keeps its last one while it has none. */
  gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
    new Gauge({
      name,
      help,
      registers: this.#registers,
      async collect() {
        const value = await read()
        if (value !== undefined && Number.isFinite(value)) this.set(value)
      },
    })
  }

  /** Adds a figure that is NaN while it is not known. */
  gaugeOrNaN(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: this.#registers,
      collect() {
        this.set(read())
      },
    })
  }

  /** Adds a figure for each value of a label. */
  byLabel(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: this.#registers,
      collect() {
        this.reset()
        for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count)
      },
    })
  }

  /** Adds a count that something else keeps. It is absent while that is not known. */
  counted(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
    new Counter({
      name,
      help,
      registers: this.#registers,
      async collect() {
        const value = await read()
        this.reset()
        if (value === undefined) this.remove()
        else this.inc(value)
      },
    })
  }
}

/** Adds health, clock state and version. */
function addHealth(figures: Scraped, sources: MetricSources): void {
  figures.byLabel(
    'gatehouse_health_status',
    'How a component is: 0 healthy, 1 degraded, 2 unhealthy',
    'component',
    () => sources.health().levels,
  )
  figures.byLabel('gatehouse_health_troubles', 'Present troubles, by kind', 'kind', () => sources.health().troubles)
  figures.gauge(
    'gatehouse_clock_synchronised',
    '1 while a time service says that the clock is synchronized; else 0',
    () => Number(sources.clock().state === 'synchronized'),
  )
  figures.byLabel(
    'gatehouse_clock_state',
    '1 for the state of the clock: unknown while no service can say',
    'state',
    () => Object.fromEntries(clockStates.map((state) => [state, Number(sources.clock().state === state)])),
  )
  figures.gaugeOrNaN(
    'gatehouse_clock_offset_seconds',
    'This clock minus that of the time server, as the time service estimates it; NaN: not known',
    () => (sources.clock().offsetMs ?? Number.NaN) / 1000,
  )
  figures.counted(
    'gatehouse_clock_steps_total',
    'Times that the clock was set by more than 2 s, since the first start',
    () => sources.clock().steps,
  )
  figures.byLabel('gatehouse_build_info', '1, with the version', 'version', () => ({ [sources.version]: 1 }))
}

/** The system image of an appliance and its updates. */
function addAppliance(figures: Scraped, sources: MetricSources): void {
  figures.byLabel(
    'gatehouse_appliance_image_info',
    '1 for the system image that runs; none where there is none',
    'version',
    () => {
      const image = sources.image()
      return image ? { [image.version]: 1 } : {}
    },
  )
  figures.byLabel(
    'gatehouse_appliance_update_result',
    '1 for the result of the last try to install a newer image: installed, current, refused, failed or unreachable; refused and fell_back stay until that image is settled',
    'result',
    () => {
      const { lastUpdate, openUpdate } = sources.image() ?? {}
      return {
        ...(lastUpdate ? { [lastUpdate.result]: 1 } : {}),
        ...(openUpdate ? { [openUpdate.result === 'refused' ? 'refused' : 'fell_back']: 1 } : {}),
      }
    },
  )
  figures.gauge(
    'gatehouse_appliance_update_asked_timestamp_seconds',
    'When the update server last answered an appliance; NaN: never, or there is none',
    () => (sources.image()?.askedAtMs ?? Number.NaN) / 1000,
  )
}

/** The config in use. */
function addConfig(figures: Scraped, sources: MetricSources): void {
  figures.gauge('gatehouse_config_last_reload_successful', '0 while the config on disk is refused; else 1', () =>
    Number(sources.configNow().refused === null),
  )
  figures.gauge(
    'gatehouse_config_last_reload_success_timestamp_seconds',
    'When the config in use was read: at the start, or at the last reload that was not refused',
    () => sources.configNow().loadedMs / 1000,
  )
  figures.gauge(
    'gatehouse_config_waiting_keys',
    'Keys whose values on disk wait for the next start',
    () => sources.configNow().waiting.length,
  )
}

/** The log, how far it is secured, and how far the head office has it. */
function addLog(figures: Scraped, sources: MetricSources): void {
  figures.gauge('gatehouse_log_leaves', 'Leaves in the log', () => sources.logSize())
  figures.gauge('gatehouse_log_signed_leaves', 'Leaves that a signed checkpoint covers', () => sources.secured().signed)
  figures.gauge(
    'gatehouse_log_witnessed_leaves',
    'Leaves that a quorum of witnesses has cosigned',
    () => sources.secured().witnessed,
  )
  figures.gauge(
    'gatehouse_log_signed_timestamp_seconds',
    'When the newest checkpoint was signed; 0 before the first',
    () => (sources.checkpoint()?.signed_at_ms ?? 0) / 1000,
  )
  figures.gauge(
    'gatehouse_log_timestamped_leaves',
    'Leaves that a time stamp authority has stamped',
    () => sources.secured().timestamped,
  )
  figures.gauge(
    'gatehouse_hub_lag_leaves',
    'Leaves that the head office has not acknowledged; NaN: none is configured, or it has not answered yet',
    () => sources.logSize() - (sources.hub() ?? Number.NaN),
  )
}

/** Backups, segments and uploads. */
function addCopies(figures: Scraped, sources: MetricSources): void {
  figures.gauge(
    'gatehouse_backup_timestamp_seconds',
    'When the newest scheduled backup was made; 0 without one',
    () => (sources.backups().newestMs ?? 0) / 1000,
  )
  figures.gauge(
    'gatehouse_backup_rehearsed_timestamp_seconds',
    'When a rehearsal last restored a backup; 0 before the first',
    () => (sources.backups().rehearsedMs ?? 0) / 1000,
  )
  figures.gauge(
    'gatehouse_segments_timestamp_seconds',
    'Until when everything is in segments at their target; 0 without any',
    () => (sources.backups().segments.currentMs ?? 0) / 1000,
  )
  figures.gauge(
    'gatehouse_segments_rehearsed_timestamp_seconds',
    'When a rehearsal last restored segments; 0 before the first',
    () => (sources.backups().segments.rehearsedMs ?? 0) / 1000,
  )
  figures.gauge('gatehouse_uploads_pending', 'Files that wait for their upload', () => sources.uploads().pending)
  figures.gauge(
    'gatehouse_uploads_pending_bytes',
    'Bytes that wait for their upload',
    () => sources.uploads().pendingBytes,
  )
  figures.gauge(
    'gatehouse_uploads_parked',
    'Files that are not tried again by themselves',
    () => sources.uploads().parked,
  )
  figures.gauge(
    'gatehouse_uploads_oldest_seconds',
    'Age of the oldest file that waits for its upload; 0 without one',
    () => Math.max((sources.nowMs() - (sources.uploads().oldestMs ?? sources.nowMs())) / 1000, 0),
  )
}

/** Webhooks and storage servers. */
function addOutside(figures: Scraped, sources: MetricSources): void {
  figures.gauge('gatehouse_webhook_deliveries_pending', 'Deliveries not yet done', () => sources.webhooks().pending)
  figures.gauge(
    'gatehouse_storage_breakers_open',
    'Storage servers that are not asked because they fail',
    () => sources.storageServers().open,
  )
  figures.gauge(
    'gatehouse_storage_servers_down',
    'Storage servers that have not answered for over a minute',
    () => sources.storageServers().down,
  )
  figures.gauge('gatehouse_webhooks_failing', 'Webhooks marked failing', () => sources.webhooks().failing)
  figures.gauge(
    'gatehouse_webhooks_slowed',
    'Webhooks that get one attempt at a time after six failed attempts in a row',
    () => sources.webhooks().slowed,
  )
  figures.gauge('gatehouse_webhooks_disabled', 'Webhooks disabled after failures', () => sources.webhooks().disabled)
  figures.gauge(
    'gatehouse_webhooks_offline',
    'Webhooks whose deliveries are held because the gateway itself is offline towards them',
    () => sources.webhooks().offline,
  )
}

/** The box and its disk. */
function addBox(figures: Scraped, sources: MetricSources): void {
  figures.gauge('gatehouse_disk_free_bytes', 'Free space where the ledger is', () => sources.freeBytes())
  figures.gauge('gatehouse_box_cpu_load_percent', 'Load of all cores', async () => (await sources.box()).cpuLoadPercent)
  figures.gauge(
    'gatehouse_box_memory_available_bytes',
    'Memory that programs can have',
    async () => (await sources.box()).memoryAvailableBytes,
  )
  figures.gauge(
    'gatehouse_box_temperature_celsius',
    'Processor temperature, where there is a sensor',
    async () => (await sources.box()).temperatureCelsius,
  )
  figures.gauge(
    'gatehouse_box_throttled',
    '1 while the processor is slowed down by heat or by its power supply, 0 while it is not; absent where the box does not tell',
    async () => flagOf((await sources.box()).throttled),
  )
  figures.gauge(
    'gatehouse_box_under_voltage',
    '1 while the voltage is too low, else 0; absent where the box does not tell',
    async () => flagOf((await sources.box()).underVoltage),
  )
  figures.counted(
    'gatehouse_disk_written_bytes_total',
    'Bytes that everything on this box wrote to the disk of the ledger since the box started; absent where the box does not tell',
    async () => (await sources.box()).diskWrittenBytes,
  )
  figures.counted(
    'gatehouse_written_bytes_total',
    'Bytes that gatehouse and the programs that it ran wrote since it started; absent where the box does not tell',
    async () => (await sources.box()).ownWrittenBytes,
  )
}

const flagOf = (value: boolean | null) => (value === null ? undefined : Number(value))
