import { Counter, Registry } from 'prom-client'
import { type RequestTimes, requestMetrics } from '../http/index.ts'
import { addScraped, type MetricSources } from './scraped.ts'

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
    const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers: [this.#registry] })
    this.#requests = requestMetrics(this.#registry)
    this.#attempts = counter('gatehouse_webhook_attempts_total', 'Delivery attempts by outcome', 'outcome')
    this.#verifications = counter(
      'gatehouse_storage_verifications_total',
      'Credentials of storage users, by decision: by the server (verified, wrong), by its remembered answer (fresh, remembered_wrong, stale), or none (unknown)',
      'outcome',
    )
    this.#uploaded = counter(
      'gatehouse_uploads_total',
      'Files whose copies on the storage server were compared, by kind',
      'kind',
    )
    this.#uploadedBytes = counter('gatehouse_upload_bytes_total', 'Bytes of these files, by kind', 'kind')
    this.#stampRequests = counter(
      'gatehouse_stamp_requests_total',
      'Requests for RFC 3161 time stamps, by outcome: stamped or failed',
      'outcome',
    )
    this.#witnessQuestions = counter(
      'gatehouse_witness_questions_total',
      'Checkpoints that witnesses were asked to cosign, by outcome: cosigned, or the fault',
      'outcome',
    )
    this.#hubFeeds = counter(
      'gatehouse_hub_feeds_total',
      'Feeds that were sent to the head office, by outcome: fed, or the fault',
      'outcome',
    )
    this.#hubLeaves = counter('gatehouse_hub_leaves_total', 'Leaves that the head office has taken in')
    this.#hubBytes = counter('gatehouse_hub_bytes_total', 'Bytes that were sent to the head office, compressed')
    this.#healthChanges = counter(
      'gatehouse_health_changes_total',
      'Changes of health to the worse or the better, by kind, such as camera.offline and camera.online',
      'kind',
    )
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
    addScraped(this.#registry, sources)
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
