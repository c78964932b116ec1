import { setTimeout as pause } from 'node:timers/promises'
import { waitUntil } from '../../test/support/waiting.ts'
import type { Client } from './client.ts'
import { judgement, placement, type Scan, send } from './scans.ts'
import type { Floor } from './warehouse.ts'

const handhelds = 3
const paceMs = 25

/** A scan, and the body of the 201 that answered it. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
export type Answered = { readonly scan: Scan; readonly event: any }

type ShiftNeeds = { readonly scanner: Client; readonly floor: Floor; readonly photoUrl: string }

/** Handhelds that place and remove pallets, each in its own slots, until the gateway answers no more. */
export class Shift {
  /** In the order of the answers. */
  readonly answered: Answered[] = []
  /** Scans under way when the gateway stopped answering: their handhelds still hold them. */
  readonly unanswered: Scan[] = []
  readonly #needs: ShiftNeeds
  #fault: string | undefined
  #isOver = false
  #working: Promise<unknown> = Promise.resolve()

  constructor(needs: ShiftNeeds) {
    this.#needs = needs
  }

  begin(): void {
    this.#working = Promise.all(Array.from({ length: handhelds }, (_, n) => this.#work(n)))
  }

  /** Resolves when so many more scans were answered. */
  async answers(more: number): Promise<void> {
    const enough = this.answered.length + more
    await waitUntil(`${more} scans were answered`, () => {
      if (this.#fault !== undefined) throw new Error(this.#fault)
      return this.answered.length >= enough
    })
  }

  /** Resolves when every handheld has stopped: by `end`, or because no one answers any more. */
  over(): Promise<unknown> {
    return this.#working
  }

  end(): Promise<unknown> {
    this.#isOver = true
    return this.#working
  }

  async #work(handheld: number): Promise<void> {
    for (const scan of this.#scansOf(handheld)) {
      if (this.#isOver) return
      const answer = await send(this.#needs.scanner, scan).catch(() => undefined)
      if (!answer) {
        this.unanswered.push(scan)
        return
      }
      if (answer.status !== 201) {
        this.#fault = `scan ${scan.key} was answered with ${answer.status}: ${answer.body?.error?.message}`
        return
      }
      this.answered.push({ scan, event: answer.body })
      await pause(paceMs)
    }
  }

  /** Without an end: into each of its slots, and out again. */
  *#scansOf(handheld: number): Generator<Scan> {
    const { floor, photoUrl } = this.#needs
    const isIts = (_: unknown, n: number) => n % handhelds === handheld
    const slots = floor.slots.filter(isIts)
    const pallets = floor.pallets.filter(isIts)
    for (let turn = 1; ; turn += 1) {
      for (const [n, slot] of slots.entries()) {
        const pallet = pallets[n % pallets.length] ?? ''
        const key = `shift-${handheld}-${turn}-${slot.label}`
        yield placement({ slot, pallet, photoUrl, key: `${key}-in` })
        yield judgement('REMOVED', slot, pallet, `${key}-out`)
      }
    }
  }
}
