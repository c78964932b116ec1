import { readEnrolment } from '../codes/enrolment-code.ts'
import { unsubscribe } from '../push/subscribe.ts'
import { type Credential, headersOf, post } from './gateway.ts'
import type { Item, ItemStore } from './items.ts'
import { scanTexts as texts } from './texts.ts'

type Shift = Credential & { /** Signed out, but scans of this person still wait. */ readonly isLeaving?: boolean }
type Shifts = Readonly<Record<string, Shift>>

/** This device and the people who signed in on it, in the browser's store. */
export class Handheld {
  readonly #store: ItemStore
  #device: Credential | undefined
  #shifts: Shifts = {}
  #person: string | undefined

  private constructor(store: ItemStore) {
    this.#store = store
  }

  static async open(store: ItemStore): Promise<Handheld> {
    const handheld = new Handheld(store)
    handheld.#device = await store.fact<Credential>('device')
    handheld.#shifts = (await store.fact<Shifts>('shifts')) ?? {}
    handheld.#person = await store.fact<string>('person')
    return handheld
  }

  get device(): Credential | undefined {
    return this.#device
  }

  /** The person who scans. */
  get person(): Credential | undefined {
    return this.#person === undefined ? undefined : this.#shifts[this.#person]
  }

  isScanning(username: string): boolean {
    return this.#person === username
  }

  /** Returns the sign-in that sends the items of a person; undefined: it has ended. */
  shiftOf(username: string): Credential | undefined {
    return this.#shifts[username]
  }

  /** Exchanges an enrolment code for this device's secret. Returns the problem; '' when it is enrolled. */
  async enrol(text: string): Promise<string> {
    const { code, url } = readEnrolment(text)
    if (url !== undefined && url !== location.origin) return texts.enrol.elsewhere(url)
    const outcome = await post('/api/devices/enrol', undefined, { code })
    if (outcome.kind !== 'acknowledged') return outcome.kind === 'later' ? outcome.words : texts.enrol.wrong
    this.#device = credentialOf(outcome.answer)
    await this.#store.setFact('device', this.#device)
    // The gateway ended it with the last secret. A browser that keeps it is enrolled all the same.
    await unsubscribe().catch(() => undefined)
    return ''
  }

  /** Begins a shift. Returns the problem; '' when the person is signed in. */
  async signIn(badge: string, pin: string): Promise<string> {
    const outcome = await post('/api/devices/sign-in', this.#device, { badge, pin })
    if (outcome.kind === 'later') return `${outcome.words}. ${texts.signIn.needsNetwork}`
    if (outcome.kind === 'refused') return outcome.words
    if (outcome.kind === 'sign-in') return texts.signIn.wrong
    const shift = credentialOf(outcome.answer)
    await this.#keep({ ...this.#shifts, [shift.username]: shift }, shift.username)
    return ''
  }

  /** Ends the shift; its token stays until all scans of the person were sent. */
  async signOut(): Promise<void> {
    const { person } = this
    if (!person) return
    await this.#keep({ ...this.#shifts, [person.username]: { ...person, isLeaving: true } }, undefined)
  }

  /** The gateway refuses this person's sign-in. */
  async ended(username: string): Promise<void> {
    const { [username]: _, ...others } = this.#shifts
    await this.#keep(others, this.#person === username ? undefined : this.#person)
  }

  /** Ends the shifts of people who have left and whose scans are all sent. */
  async endShifts(items: readonly Item[]): Promise<void> {
    for (const shift of Object.values(this.#shifts)) {
      const { username, isLeaving } = shift
      if (!isLeaving || items.some((item) => item.by === username)) continue
      if ((await hasEnded(shift)) && this.#shifts[username]?.isLeaving) await this.ended(username)
    }
  }

  async #keep(shifts: Shifts, person: string | undefined): Promise<void> {
    this.#shifts = shifts
    this.#person = person
    await this.#store.setFact('shifts', shifts)
    await this.#store.setFact('person', person)
  }
}

/** Whether the gateway ended the shift, or did not know it. */
async function hasEnded(shift: Credential): Promise<boolean> {
  const path = '/api/devices/sign-out'
  const answer = await fetch(path, { method: 'POST', headers: headersOf(shift), cache: 'no-store' }).catch(
    () => undefined,
  )
  return answer?.status === 204 || answer?.status === 401
}

const credentialOf = ({ username, instance, secret, role }: Readonly<Record<string, unknown>>): Credential => ({
  username: String(username),
  instance: String(instance),
  secret: String(secret),
  role: String(role),
})
