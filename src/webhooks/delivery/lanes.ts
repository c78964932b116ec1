import type { ReadTx } from '../../database/index.ts'
import { lanesPerEndpoint, type Queue } from '../admission.ts'
import type { Endpoint } from '../store.ts'
import type { Pacing } from './pacing.ts'
import { dueDeliveries, oldestDue } from './store.ts'

/** A delivery in a lane of its endpoint. */
export type InLane = { readonly webhookId: string; readonly isFirst: boolean }

export type UnderWay = InLane & {
  readonly done: Promise<void>
  /** The endpoint has answered, and the result is being stored: its lane is free. */
  isAnswered: boolean
}

/** Attempts under way to each endpoint, and the number that may start beside them. */
export class Lanes {
  readonly #pacing: Pacing
  readonly underWay = new Map<string, UnderWay>()
  /** Claimed by a write that is not on disk yet, or not begun: a lane that changes hands is never counted as free meanwhile. */
  readonly claimed = new Map<string, InLane>()

  constructor(pacing: Pacing) {
    this.#pacing = pacing
  }

  isFree(id: string): boolean {
    return !this.underWay.has(id) && !this.claimed.has(id)
  }

  /** Returns the attempts and claims that take up lanes of the endpoint now. */
  of(webhookId: string): InLane[] {
    const sending = [...this.underWay.values()].filter((one) => one.webhookId === webhookId && !one.isAnswered)
    return [...sending, ...[...this.claimed.values()].filter((one) => one.webhookId === webhookId)]
  }

  setAnswered(id: string, isAnswered: boolean): void {
    const one = this.underWay.get(id)
    if (one) one.isAnswered = isAnswered
  }

  /** Returns the deliveries of an endpoint that are due, as many as its pace and its lanes may take. */
  queueOf(tx: ReadTx, endpoint: Endpoint, nowMs: number): Queue {
    const mine = this.of(endpoint.id)
    return this.#pacedQueue(tx, endpoint, mine.length, nowMs) ?? this.#freeQueue(tx, endpoint.id, mine, nowMs)
  }

  /** The oldest due first, whether tried before or not, as many as the pace allows; undefined when it sets no bound. */
  #pacedQueue(tx: ReadTx, { id, fannedOutSeq }: Endpoint, underWay: number, nowMs: number): Queue | undefined {
    const pacing = this.#pacing
    const most = pacing.mayStart(id, underWay)
    if (most === undefined) return undefined
    const queue = { firstsUnderWay: underWay, retriesUnderWay: 0, firsts: [], retries: [] }
    const untilSeq = pacing.drainsUntil(id)
    if (most === 0 && untilSeq === undefined) return queue
    const due = oldestDue(tx, id, nowMs, this.#lookedFor(id)).filter((one) => this.isFree(one.id))
    if (untilSeq !== undefined && fannedOutSeq >= untilSeq && (due[0]?.seq ?? Number.POSITIVE_INFINITY) > untilSeq) {
      pacing.drained(id)
      return undefined
    }
    return { ...queue, firsts: due.slice(0, most).map((one) => one.id) }
  }

  /** Those under way may be among the rows that look due: leases can look expired when the wall clock jumps. */
  #lookedFor(webhookId: string): number {
    const notFree = [...this.underWay.values(), ...this.claimed.values()].filter((one) => one.webhookId === webhookId)
    return lanesPerEndpoint + notFree.length
  }

  #freeQueue(tx: ReadTx, webhookId: string, mine: readonly InLane[], nowMs: number): Queue {
    const firstsUnderWay = mine.filter((one) => one.isFirst).length
    const { firsts, retries } = dueDeliveries(tx, webhookId, nowMs, this.#lookedFor(webhookId))
    const isFree = (id: string) => this.isFree(id)
    return {
      firstsUnderWay,
      retriesUnderWay: mine.length - firstsUnderWay,
      firsts: firsts.filter(isFree),
      retries: retries.filter(isFree),
    }
  }
}
