import { hotCelsius } from '../../health/index.ts'
import type { FfmpegOrigin } from '../../platform/ffmpeg.ts'
import { sizeWords, type Throttling } from '../../platform/index.ts'
import { counted } from '../amounts.ts'
import { type DoctorFinding, findingsOn } from './finding.ts'

export type FfmpegFacts =
  | { readonly path: string; readonly origin: FfmpegOrigin; readonly version: string }
  | { readonly error: string }

/** @param cameras how many cameras the config has */
export function ffmpegFinding(facts: FfmpegFacts, cameras: number): DoctorFinding {
  const of = findingsOn({ topic: 'ffmpeg' })
  const next = 'Install ffmpeg from the packages of the system, or set ffmpeg.path, and restart gatehouse.'
  if ('error' in facts) return cameras > 0 ? of.bad(facts.error, next) : of.note(`${facts.error}; no camera needs it.`)
  const { version, path, origin } = facts
  const what = `ffmpeg ${version} at ${path}`
  if (origin !== 'bundled') return of.good(`${what}, ${origin === 'system' ? 'of the system' : 'of ffmpeg.path'}.`)
  const words = `${what}: the one that came with gatehouse, of 2018 and without security updates.`
  return cameras > 0 ? of.change(words, next) : of.note(words, next)
}

export type MemoryFacts = { readonly totalBytes: number; readonly availableBytes: number }

const leastShare = 0.08

export function memoryFinding({ totalBytes, availableBytes }: MemoryFacts): DoctorFinding {
  const of = findingsOn({ topic: 'memory' })
  const what = `${sizeWords(availableBytes)} of ${sizeWords(totalBytes)} are available.`
  if (availableBytes >= totalBytes * leastShare) return of.good(what)
  return of.change(what, 'Stop other programs, take cameras off this box, or lower video.memoryBytes.')
}

/** Null: not reported. */
export type HeatFacts = { readonly celsius: number | null } & Pick<
  Throttling,
  'throttled' | 'wasThrottled' | 'underVoltage'
>

export function heatFinding({ celsius, throttled, wasThrottled, underVoltage }: HeatFacts): DoctorFinding {
  const of = findingsOn({ topic: 'heat' })
  const next =
    'Cool the box: a fan, another place, or fewer cameras. A weak power supply slows a Raspberry Pi down too.'
  const degrees = celsius === null ? '' : ` at ${Math.round(celsius)} °C`
  if (underVoltage) {
    const weak = 'The power supply is too weak: the voltage is too low, and the processor is slowed down.'
    return of.change(weak, 'Use the power supply that the maker of the box names, and a short cable.')
  }
  if (throttled) return of.change(`The processor is slowed down now${degrees}.`, next)
  if (celsius !== null && celsius >= hotCelsius)
    return of.change(`The processor is hot: ${Math.round(celsius)} °C.`, next)
  if (wasThrottled)
    return of.note(`The processor was slowed down since the start of the box; now it is not${degrees}.`, next)
  if (celsius === null && throttled === null) return of.unknown('This box has no sensor for its temperature.')
  return of.good(
    celsius === null ? 'The processor is not slowed down.' : `The processor has ${Math.round(celsius)} °C.`,
  )
}

/** `freeBytes`: null when the disk does not answer. `fault`: why the last write was not stored. */
export type DiskFacts = {
  readonly freeBytes: number | null
  readonly minFreeBytes: number
  readonly ledgerReserveBytes: number
  readonly fault: string | null
}

export function diskFinding({ freeBytes, minFreeBytes, ledgerReserveBytes, fault }: DiskFacts): DoctorFinding {
  const of = findingsOn({ topic: 'disk' })
  if (freeBytes === null || fault !== null) {
    const what = `The disk of the data folder takes no writes (${fault ?? 'it does not answer'}).`
    return of.bad(what, 'Check the disk and its mount, and free space if it is full.')
  }
  const free = `${sizeWords(freeBytes)} are free`
  const next = 'Free space, shorten retention.clips.maxAgeDays, or use a larger disk.'
  if (freeBytes < ledgerReserveBytes) {
    return of.bad(`${free}, less than the reserve of the ledger: photos and clips are refused.`, next)
  }
  if (freeBytes < minFreeBytes) return of.change(`${free}, less than retention.minFreeBytes.`, next)
  return of.good(`${free}.`)
}

/** Wear of the disk, as it reports it. */
export type WearFacts = {
  /** Its name, such as `mmcblk0`; null: the data folder is on no separate disk (a container, a RAM disk). */
  readonly device: string | null
  /** Used share of its life, as the disk counts it; null: not reported. */
  readonly usedPercent: number | null
  readonly powerOnHours: number | null
  /** It reports that it fails, or that its spare blocks run out. */
  readonly isFailing: boolean
  /** Bytes written to it a day, since the box started; null: not known yet. */
  readonly writtenPerDay: number | null
}

const hoursOfYear = 24 * 365
const wornPercent = 80

export function wearFinding(facts: WearFacts): DoctorFinding {
  const { device, usedPercent, powerOnHours, isFailing, writtenPerDay } = facts
  const of = findingsOn({ topic: 'wear', ...(device !== null && { subject: device }) })
  if (device === null) return of.unknown('The data folder is on no disk that could tell its wear.')
  const daily = writtenPerDay === null ? '' : ` ${sizeWords(writtenPerDay)} a day are written to it.`
  const next = 'Back up, and replace the disk: gatehouse backup FILE, then gatehouse restore FILE on the new one.'
  if (isFailing) return of.bad(`The disk reports that it fails.${daily}`, next)
  if (usedPercent === null) {
    return of.unknown(
      `The disk does not tell its wear.${daily}`,
      'For an SSD install smartmontools and run this as root.',
    )
  }
  const years = yearsLeft(usedPercent, powerOnHours)
  const rest =
    years === null
      ? ` It does not count ${powerOnHours === null ? 'its hours' : 'finer than that'}, so the years left are not known.`
      : ` At this rate it lasts ${years < 1 ? 'less than a year' : counted(Math.floor(years), 'more year')}.`
  const what = `${usedPercent} % of its life are used up.${rest}${daily}`
  return usedPercent >= wornPercent || (years !== null && years < 1) ? of.change(what, next) : of.good(what)
}

/**
 * Returns the years until all of its life is used up, at the average rate over its life. Null: there is too little wear for an
 * estimate.
 */
export function yearsLeft(usedPercent: number, powerOnHours: number | null): number | null {
  if (powerOnHours === null || usedPercent < 1) return null
  return ((100 - usedPercent) / usedPercent) * (powerOnHours / hoursOfYear)
}

/** `state` as the time services report it. */
export type ClockFacts = { readonly state: string; readonly source: string | null; readonly offsetMs: number | null }

export function clockFinding({ state, source, offsetMs }: ClockFacts): DoctorFinding {
  const of = findingsOn({ topic: 'clock' })
  const off = offsetMs === null ? '' : `, ${Math.abs(Math.round(offsetMs))} ms off`
  if (state === 'synchronized') return of.good(`${source} says that the clock is synchronized${off}.`)
  const next = 'Check the network and the time servers: timedatectl timesync-status, or chronyc sources.'
  if (state === 'unsynchronized') {
    return of.bad(
      `The clock is not synchronized: ${source === null ? 'it shows a time before 2026' : `${source} says so`}.`,
      next,
    )
  }
  return of.change('No time service can say whether the clock is right.', 'Install chrony or systemd-timesyncd.')
}
