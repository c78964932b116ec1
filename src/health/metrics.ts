import { Counter, Gauge, Registry } from 'prom-client'
import { type RequestTimes, requestMetrics } from '../http/index.ts'
import { type ApplianceImage, clockStates } from '../platform/index.ts'
import type { BoxSample } from './box.ts'

/** The functions that the metrics call at each scrape. */
export type MetricSources = {
  readonly logSize: () => number
  /** How many leaves of the log are secured, step by step. */
  readonly secured: () => { readonly signed: number; readonly witnessed: number; readonly timestamped: number }
  /** The newest checkpoint of the log. */
  readonly checkpoint: () => { readonly signed_at_ms: number } | undefined
  readonly storageServers: () => { open: number; down: number }
  readonly webhooks: () => { total: number; failing: number; disabled: number; offline: number; pending: number }
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
  /** What is known about the clock, and the number of its steps. */
  readonly clock: () => { readonly state: string; readonly offsetMs: number | null; readonly steps: number }
  /** How the config in use came to be; `refused`: the last reload, when it was refused. */
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

/** The gateway's metrics in the Prometheus text format. Labels never carry ids, names or addresses. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: RequestTimes
  readonly #attempts: Counter<'outcome'>
  readonly #verifications: Counter<'outcome'>
  readonly #healthChanges: Counter<'kind'>
  readonly #uploaded: Counter<'kind'>
  readonly #uploadedBytes: Counter<'kind'>
  readonly #stampRequests: Counter<'outcome'>
  readonly #witnessQuestions: Counter<'outcome'>
  readonly #hubFeeds: Counter<'outcome'>
  readonly #hubLeaves: Counter
  readonly #hubBytes: Counter
  readonly #outcomes = new Map<string, Counter.Internal>()

  constructor() {
    const registers = [this.#registry]
    this.#requests = requestMetrics(this.#registry)
    this.#attempts = new Counter({
      name: 'gatehouse_webhook_attempts_total',
      help: 'Delivery attempts by outcome',
      labelNames: ['outcome'],
      registers,
    })
    this.#verifications = new Counter({
      name: 'gatehouse_storage_verifications_total',
      help: 'Credentials of storage users decided upon: by the server (verified, wrong), by what is remembered of it (fresh, remembered_wrong, stale), or not at all (unknown)',
      labelNames: ['outcome'],
      registers,
    })
    this.#uploaded = new Counter({
      name: 'gatehouse_uploads_total',
      help: 'Files whose copies on the storage server were compared, by kind',
      labelNames: ['kind'],
      registers,
    })
    this.#uploadedBytes = new Counter({
      name: 'gatehouse_upload_bytes_total',
      help: 'Bytes of these files, by kind',
      labelNames: ['kind'],
      registers,
    })
    this.#stampRequests = new Counter({
      name: 'gatehouse_stamp_requests_total',
      help: 'Requests for RFC 3161 time stamps, by outcome: stamped or failed',
      labelNames: ['outcome'],
      registers,
    })
    this.#witnessQuestions = new Counter({
      name: 'gatehouse_witness_questions_total',
      help: 'Checkpoints that witnesses were asked to cosign, by outcome: cosigned, or what was wrong',
      labelNames: ['outcome'],
      registers,
    })
    this.#hubFeeds = new Counter({
      name: 'gatehouse_hub_feeds_total',
      help: 'Feeds that were sent to the head office, by outcome: fed, or what was wrong',
      labelNames: ['outcome'],
      registers,
    })
    this.#hubLeaves = new Counter({
      name: 'gatehouse_hub_leaves_total',
      help: 'Leaves that the head office has taken in',
      registers,
    })
    this.#hubBytes = new Counter({
      name: 'gatehouse_hub_bytes_total',
      help: 'Bytes that were sent to the head office, compressed',
      registers,
    })
    this.#healthChanges = new Counter({
      name: 'gatehouse_health_changes_total',
      help: 'Changes of health to the worse or the better, by kind, such as camera.offline and camera.online',
      labelNames: ['kind'],
      registers,
    })
  }

  /** Counts a request to a time stamp authority. */
  stampAsked(outcome: string): void {
    this.#stampRequests.inc({ outcome })
  }

  /** Counts a question to a witness. */
  witnessAsked(outcome: string): void {
    this.#witnessQuestions.inc({ outcome })
  }

  /** Counts a feed to the head office. */
  hubFed(outcome: string, leaves: number, bytes: number): void {
    this.#hubFeeds.inc({ outcome })
    this.#hubLeaves.inc(leaves)
    this.#hubBytes.inc(bytes)
  }

  /** Adds the figures that are read at each scrape. Called once, when everything that they read exists. */
  observe(sources: MetricSources): void {
    const registers = [this.#registry]
    byLabel(
      'gatehouse_health_status',
      'How a component is: 0 healthy, 1 degraded, 2 unhealthy',
      'component',
      () => sources.health().levels,
    )
    byLabel('gatehouse_health_troubles', 'Things that are wrong now, by kind', 'kind', () => sources.health().troubles)
    gauge('gatehouse_clock_synchronised', '1 while a time service says that the clock is synchronized; else 0', () =>
      Number(sources.clock().state === 'synchronized'),
    )
    byLabel('gatehouse_clock_state', '1 for the state of the clock: unknown while no service can say', 'state', () =>
      Object.fromEntries(clockStates.map((state) => [state, Number(sources.clock().state === state)])),
    )
    new Gauge({
      name: 'gatehouse_clock_offset_seconds',
      help: 'This clock minus that of the time server, as the time service estimates it; NaN: not known',
      registers,
      collect() {
        this.set((sources.clock().offsetMs ?? Number.NaN) / 1000)
      },
    })
    new Counter({
      name: 'gatehouse_clock_steps_total',
      help: 'Times that the clock was set by more than 2 s, since the first start',
      registers,
      collect() {
        this.reset()
        this.inc(sources.clock().steps)
      },
    })
    new Gauge({ name: 'gatehouse_build_info', help: '1, with the version', labelNames: ['version'], registers }).set(
      { version: sources.version },
      1,
    )
    byLabel(
      'gatehouse_appliance_image_info',
      '1 for the system image that runs; none where there is none',
      'version',
      () => {
        const image = sources.image()
        return image ? { [image.version]: 1 } : {}
      },
    )
    byLabel(
      'gatehouse_appliance_update_result',
      '1 for what came of the last try to install a newer image: installed, current, refused, failed or unreachable; refused and fell_back stay until that image is settled',
      'result',
      () => {
        const { lastUpdate, openUpdate } = sources.image() ?? {}
        return {
          ...(lastUpdate ? { [lastUpdate.result]: 1 } : {}),
          ...(openUpdate ? { [openUpdate.result === 'refused' ? 'refused' : 'fell_back']: 1 } : {}),
        }
      },
    )
    gauge(
      'gatehouse_appliance_update_asked_timestamp_seconds',
      'When the place of updates last answered an appliance; NaN: never, or there is none',
      () => (sources.image()?.askedAtMs ?? Number.NaN) / 1000,
    )
    gauge('gatehouse_config_last_reload_successful', '0 while the config on disk is refused; else 1', () =>
      Number(sources.configNow().refused === null),
    )
    gauge(
      'gatehouse_config_last_reload_success_timestamp_seconds',
      'When the config in use was read: at the start, or at the last reload that was not refused',
      () => sources.configNow().loadedMs / 1000,
    )
    gauge(
      'gatehouse_config_waiting_keys',
      'Keys whose values on disk wait for the next start',
      () => sources.configNow().waiting.length,
    )
    gauge('gatehouse_log_leaves', 'Leaves in the log', () => sources.logSize())
    gauge('gatehouse_log_signed_leaves', 'Leaves that a signed checkpoint covers', () => sources.secured().signed)
    gauge(
      'gatehouse_log_witnessed_leaves',
      'Leaves that a quorum of witnesses has cosigned',
      () => sources.secured().witnessed,
    )
    gauge(
      'gatehouse_log_signed_timestamp_seconds',
      'When the newest checkpoint was signed; 0 before the first',
      () => (sources.checkpoint()?.signed_at_ms ?? 0) / 1000,
    )
    gauge(
      'gatehouse_log_timestamped_leaves',
      'Leaves that a time stamp authority has stamped',
      () => sources.secured().timestamped,
    )
    gauge(
      'gatehouse_hub_lag_leaves',
      'Leaves that the head office has not acknowledged; NaN: none is configured, or it has not answered yet',
      () => sources.logSize() - (sources.hub() ?? Number.NaN),
    )
    gauge(
      'gatehouse_backup_timestamp_seconds',
      'When the newest scheduled backup was made; 0 without one',
      () => (sources.backups().newestMs ?? 0) / 1000,
    )
    gauge(
      'gatehouse_backup_rehearsed_timestamp_seconds',
      'When a backup last came back in a rehearsal; 0 before the first',
      () => (sources.backups().rehearsedMs ?? 0) / 1000,
    )
    gauge(
      'gatehouse_segments_timestamp_seconds',
      'Until when everything is in segments at their target; 0 without any',
      () => (sources.backups().segments.currentMs ?? 0) / 1000,
    )
    gauge(
      'gatehouse_segments_rehearsed_timestamp_seconds',
      'When segments last came back in a rehearsal; 0 before the first',
      () => (sources.backups().segments.rehearsedMs ?? 0) / 1000,
    )
    gauge('gatehouse_disk_free_bytes', 'Free space where the ledger is', () => sources.freeBytes())
    gauge('gatehouse_uploads_pending', 'Files that wait for their upload', () => sources.uploads().pending)
    gauge('gatehouse_uploads_pending_bytes', 'Bytes that wait for their upload', () => sources.uploads().pendingBytes)
    gauge('gatehouse_uploads_parked', 'Files that are not tried again by themselves', () => sources.uploads().parked)
    gauge('gatehouse_uploads_oldest_seconds', 'Age of the oldest file that waits for its upload; 0 without one', () =>
      Math.max((sources.nowMs() - (sources.uploads().oldestMs ?? sources.nowMs())) / 1000, 0),
    )
    gauge('gatehouse_webhook_deliveries_pending', 'Deliveries not yet done', () => sources.webhooks().pending)
    gauge(
      'gatehouse_storage_breakers_open',
      'Storage servers that are not asked because they fail',
      () => sources.storageServers().open,
    )
    gauge(
      'gatehouse_storage_servers_down',
      'Storage servers that have not answered for over a minute',
      () => sources.storageServers().down,
    )
    gauge('gatehouse_webhooks_failing', 'Webhooks marked failing', () => sources.webhooks().failing)
    gauge('gatehouse_webhooks_disabled', 'Webhooks disabled after failures', () => sources.webhooks().disabled)
    gauge(
      'gatehouse_webhooks_offline',
      'Webhooks whose deliveries are held because the gateway itself is offline towards them',
      () => sources.webhooks().offline,
    )
    gauge('gatehouse_box_cpu_load_percent', 'Load of all cores', async () => (await sources.box()).cpuLoadPercent)
    gauge(
      'gatehouse_box_memory_available_bytes',
      'Memory that programs can have',
      async () => (await sources.box()).memoryAvailableBytes,
    )
    gauge(
      'gatehouse_box_temperature_celsius',
      'Processor temperature, where there is a sensor',
      async () => (await sources.box()).temperatureCelsius,
    )

    gauge(
      'gatehouse_box_throttled',
      '1 while the processor is slowed down by heat or by its power supply, 0 while it is not; absent where the box does not tell',
      async () => flagOf((await sources.box()).throttled),
    )
    gauge(
      'gatehouse_box_under_voltage',
      '1 while the voltage is too low, else 0; absent where the box does not tell',
      async () => flagOf((await sources.box()).underVoltage),
    )
    counted(
      'gatehouse_disk_written_bytes_total',
      'Bytes that everything on this box wrote to the disk of the ledger since the box started; absent where the box does not tell',
      async () => (await sources.box()).diskWrittenBytes,
    )
    counted(
      'gatehouse_written_bytes_total',
      'Bytes that gatehouse and the programs that it ran wrote since it started; absent where the box does not tell',
      async () => (await sources.box()).ownWrittenBytes,
    )

    function counted(name: string, help: string, read: () => Promise<number | undefined>): void {
      new Counter({
        name,
        help,
        registers,
        async collect() {
          const value = await read()
          this.reset()
          if (value === undefined) this.remove()
          else this.inc(value)
        },
      })
    }

    function byLabel(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset()
          for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count)
        },
      })
    }

    function gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const value = await read()
          if (value !== undefined && Number.isFinite(value)) this.set(value)
        },
      })
    }
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  answered(answer: { method: string; route: string; status: number; seconds: number }): void {
    this.#requests.observe(
      { method: answer.method, route: answer.route, status: String(answer.status) },
      answer.seconds,
    )
  }

  attempted(outcome: string): void {
    this.#attempts.inc({ outcome })
  }

  uploaded(kind: string, bytes: number): void {
    this.#uploaded.inc({ kind })
    this.#uploadedBytes.inc({ kind }, bytes)
  }

  healthChanged(kind: string): void {
    this.#healthChanges.inc({ kind })
  }

  verified(outcome: string): void {
    // Called for each request of a storage user: looking up the labels each time would cost more than counting.
    let counted = this.#outcomes.get(outcome)
    counted ??= this.#verifications.labels({ outcome })
    this.#outcomes.set(outcome, counted)
    counted.inc()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}

const flagOf = (value: boolean | null) => (value === null ? undefined : Number(value))
