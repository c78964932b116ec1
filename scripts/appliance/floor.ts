import { Agent, request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { type Account, signIn } from '../demo-parts/client.ts'
import { holds } from './trial.ts'

/** An emulated box takes its time. */
const answerWithinMs = 60_000
const handhelds = 4

type Recorded = { readonly id: number; readonly evidenceHash: string }

/** State of a floor that the next run continues from. */
export type FloorState = {
  readonly account: Account
  readonly slots: readonly { readonly id: number }[]
  readonly sent: number
  readonly acknowledged: readonly (readonly [string, Recorded])[]
}

/** Where a box answers. */
type Where = { readonly url: string; readonly socketPath?: string }

/** Handhelds in front of a box, which note every event that it acknowledged. */
export class Floor {
  readonly acknowledged: Map<string, Recorded>
  readonly #where: Where
  readonly #account: Account
  readonly #slots: readonly { readonly id: number }[]
  // The box is on loopback, and its authority is new with every image.
  readonly #agent = new Agent({ rejectUnauthorized: false, keepAlive: true, maxSockets: handhelds })
  #sent: number
  #scanning: Promise<void> | undefined
  #isOver = false

  constructor(where: Where, { account, slots, sent, acknowledged }: FloorState) {
    this.#where = where
    this.#account = account
    this.#slots = slots
    this.#sent = sent
    this.acknowledged = new Map(acknowledged)
  }

  get state(): FloorState {
    return { account: this.#account, slots: this.#slots, sent: this.#sent, acknowledged: [...this.acknowledged] }
  }

  /** Scans until `stop`. Resends a scan without an answer under its key. */
  start(): void {
    this.#isOver = false
    this.#scanning = Promise.all(Array.from({ length: handhelds }, () => this.#handheld())).then(() => undefined)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#scanning
  }

  /** Waits until `count` more events were acknowledged. */
  async more(count: number, limitMs: number): Promise<void> {
    const wanted = this.acknowledged.size + count
    const untilMs = performance.now() + limitMs
    while (this.acknowledged.size < wanted) {
      holds(performance.now() < untilMs, `only ${this.acknowledged.size} of ${wanted} events were acknowledged`)
      await pause(50)
    }
  }

  async #handheld(): Promise<void> {
    while (!this.#isOver) {
      this.#sent += 1
      const slot = this.#slots[this.#sent % this.#slots.length]
      const key = `scan-${this.#sent}`
      const body = {
        event_type: 'PLACED',
        slot_id: slot?.id,
        asset_barcode: `P-${this.#sent}`,
        photo_url: `https://photos.example/${this.#sent}.jpg`,
      }
      while (!this.#isOver) {
        const answer = await this.ask('POST', '/api/whms/events', body, key).catch(() => undefined)
        if (answer?.status === 201) {
          this.acknowledged.set(key, { id: answer.body.id, evidenceHash: answer.body.evidence_hash })
          break
        }
        await pause(200)
      }
    }
  }

  /** Throws unless every event that was acknowledged is there, as it was answered. */
  async allThere(): Promise<void> {
    const there = new Map<number, string>()
    for (let offset = 0; ; ) {
      const { status, body } = await this.ask('GET', `/api/whms/events?limit=100&offset=${offset}`)
      holds(status === 200, `the events were answered with ${status}`)
      for (const { id, evidence_hash } of body.data) there.set(id, evidence_hash)
      offset += body.data.length
      if (body.data.length === 0) break
    }
    const lost = [...this.acknowledged].filter(([, { id, evidenceHash }]) => there.get(id) !== evidenceHash)
    holds(lost.length === 0, `${lost.length} acknowledged events are lost: ${lost.slice(0, 5).map(([key]) => key)}`)
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  ask(method: string, path: string, body?: unknown, key?: string): Promise<{ status: number; body: any }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...signIn(this.#account),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
      }
      const { url, socketPath } = this.#where
      const how = { method, headers, agent: this.#agent, ...(socketPath !== undefined && { socketPath }) }
      const sent = request(`${url}${path}`, how, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.once('error', reject)
        response.once('end', () => {
          if (!response.complete) return reject(new Error('the answer is cut off'))
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text || 'null') })
        })
      })
      sent.setTimeout(answerWithinMs, () => sent.destroy(new Error(`no answer in ${answerWithinMs / 1000} s`)))
      sent.once('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
}
