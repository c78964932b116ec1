import { createHash } from 'node:crypto'
import { AppError } from '../errors/index.ts'
import type { Ask } from '../http/index.ts'
import { type Clock, isoTime, neighbourhoodOf, type RandomBytes, randomSecret } from '../platform/index.ts'
import { qrPicture } from './qr-picture.ts'
import type { CollectedPairing, Device, Enrolment, NewDevice, NewPairing, OpenPairing } from './schema.ts'

const openForMs = 10 * 60_000
/** A screen that is loaded again asks again; the oldest codes of its address end. */
const mostOfAddress = 8
const mostInAll = 400
/** Read aloud and typed without mistakes: no vowels, no letter that looks like a digit. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ23456789'
const codeLength = 8

type Pairing = {
  readonly code: string
  readonly tokenHash: string
  readonly address: string
  readonly untilMs: number
  status: 'waiting' | 'confirming' | 'confirmed'
  /** Until the screen has fetched it. */
  enrolmentCode?: string
}

type Needs = {
  readonly clock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly siteUrl: () => string
  readonly makeDevice: (device: NewDevice, ask: Ask) => Promise<{ readonly body: Enrolment }>
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
const plain = (code: string): string => code.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

function largest(all: readonly Pairing[], groupOf: (one: Pairing) => string): readonly Pairing[] {
  const groups = [...Map.groupBy(all, groupOf).values()]
  return groups.reduce<readonly Pairing[]>((most, one) => (one.length > most.length ? one : most), [])
}

/** Screens that show a code and wait for confirmation. Kept in memory: after a restart a screen shows another code. */
export class Pairings {
  readonly #needs: Needs
  readonly #open = new Map<string, Pairing>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** Begins for a screen at this address. Only that screen gets the token. */
  begin(address: string): NewPairing {
    this.#sweep(address)
    const token = randomSecret(this.#needs.random)
    const code = this.#newCode()
    const untilMs = this.#needs.clock.now() + openForMs
    this.#open.set(code, { code, tokenHash: hashOf(token), address, untilMs, status: 'waiting' })
    const url = `${this.#needs.siteUrl().replace(/\/+$/, '')}/pair/${code}`
    const qr = qrPicture(url)
    return { success: true, code, token, url, qr, expiresAt: isoTime(untilMs) }
  }

  /** Returns the pairing of a code. Throws NOT_FOUND. */
  describe(code: string): OpenPairing {
    const { address, untilMs, status, ...found } = this.#find(code)
    return { code: found.code, address, expiresAt: isoTime(untilMs), confirmed: status === 'confirmed' }
  }

  /** Makes a wall screen of it. Throws NOT_FOUND, ALREADY_EXISTS, REFERENCE_NOT_FOUND. */
  async confirm(code: string, device: Pick<NewDevice, 'name' | 'warehouseIds'>, ask: Ask): Promise<Device> {
    const pairing = this.#find(code)
    if (pairing.status !== 'waiting')
      throw new AppError('ALREADY_EXISTS', 'This screen is enrolled already', { details: 'code: is used' })
    pairing.status = 'confirming'
    try {
      const { body } = await this.#needs.makeDevice({ ...device, kind: 'kiosk', role: undefined }, ask)
      const { enrolment, success: _, ...made } = body
      pairing.enrolmentCode = enrolment.code
      pairing.status = 'confirmed'
      return made
    } finally {
      if (pairing.status !== 'confirmed') pairing.status = 'waiting'
    }
  }

  /** Hands the screen its enrolment code, once. Throws NOT_FOUND for a token that is none or has ended. */
  collect(token: string): CollectedPairing {
    const hash = hashOf(token)
    const pairing = [...this.#open.values()].find(({ tokenHash }) => tokenHash === hash)
    if (!pairing || this.#isOver(pairing)) throw AppError.notFound('Pairing')
    const { enrolmentCode } = pairing
    if (enrolmentCode === undefined) return { success: true, enrolmentCode: null }
    delete pairing.enrolmentCode
    return { success: true, enrolmentCode }
  }

  #find(code: string): Pairing {
    const pairing = this.#open.get(plain(code))
    if (!pairing || this.#isOver(pairing)) throw AppError.notFound('Pairing')
    return pairing
  }

  #isOver({ untilMs }: Pairing): boolean {
    return untilMs <= this.#needs.clock.now()
  }

  #sweep(address: string): void {
    for (const [code, pairing] of this.#open) if (this.#isOver(pairing)) this.#open.delete(code)
    const own = [...this.#open.values()].filter((one) => one.address === address && one.status === 'waiting')
    for (const { code } of own.slice(0, Math.max(0, own.length - mostOfAddress + 1))) this.#open.delete(code)
    if (this.#open.size < mostInAll) return
    // The network with the most codes gives one up, of its address with the most. So no network ends the codes of another.
    const ofNetwork = largest([...this.#open.values()], (one) => neighbourhoodOf(one.address))
    const [oldest] = largest(ofNetwork, (one) => one.address)
    if (oldest) this.#open.delete(oldest.code)
  }

  #newCode(): string {
    for (;;) {
      // Bytes from the end would make some letters more likely.
      const fair = [...this.#needs.random(codeLength * 4)].filter((byte) => byte < 256 - (256 % letters.length))
      const code = fair
        .slice(0, codeLength)
        .map((byte) => letters[byte % letters.length])
        .join('')
      if (code.length === codeLength && !this.#open.has(code)) return code
    }
  }
}
