import { join } from 'node:path'
import { kernelText, namesIn } from './kernel-files.ts'

/** Throttling of the processor, as the kernel reports it. Null: this box does not report it. */
export type Throttling = {
  /** It is slowed down now, by heat or by a weak power supply. Low voltage alone does not slow it down. */
  readonly throttled: boolean | null
  /** It was, since the start of the box. */
  readonly wasThrottled: boolean | null
  /** The voltage is too low now. Only a Raspberry Pi reports it. */
  readonly underVoltage: boolean | null
  /** Number of times that it was slowed down since the start of the box. */
  readonly count: number | null
}

/**
 * Reads the firmware of a Raspberry Pi, the counters of Intel processors and the thermal framework of the kernel. The package
 * systeminformation knows temperatures and speeds, and nothing of this.
 * @param sys where the kernel describes its devices
 */
export function throttlingOf(sys = '/sys'): Throttling {
  return raspberryThrottling(sys) ?? kernelThrottling(sys)
}

/** Bits of the firmware: 0 to 3 now, 16 to 19 since its start (under-voltage, capped, throttled, hot). */
function raspberryThrottling(sys: string): Throttling | undefined {
  const text = kernelText(join(sys, 'devices/platform/soc/soc:firmware/get_throttled'))
  if (text === undefined) return undefined
  const bits = Number.parseInt(text, 16)
  return {
    throttled: (bits & 0xe) !== 0,
    wasThrottled: ((bits >>> 16) & 0xe) !== 0,
    underVoltage: (bits & 1) !== 0,
    count: null,
  }
}

function kernelThrottling(sys: string): Throttling {
  const cooled = coolingStates(sys)
  const counts = throttleCounts(sys)
  const count = counts.length === 0 ? null : counts.reduce((sum, one) => sum + one, 0)
  const throttled = cooled.length === 0 && count === null ? null : cooled.some((state) => state > 0)
  return { throttled, wasThrottled: count === null ? null : count > 0, underVoltage: null, count }
}

/** States of the cooling devices that slow the processor down; 0: full speed. */
function coolingStates(sys: string): number[] {
  const folder = join(sys, 'class/thermal')
  return namesIn(folder, /^cooling_device\d+$/).flatMap((name) => {
    const type = kernelText(join(folder, name, 'type')) ?? ''
    const state = Number(kernelText(join(folder, name, 'cur_state')) ?? Number.NaN)
    return /^(Processor$|thermal-cpufreq-|cpufreq-)/.test(type) && Number.isFinite(state) ? [state] : []
  })
}

function throttleCounts(sys: string): number[] {
  const folder = join(sys, 'devices/system/cpu')
  return namesIn(folder, /^cpu\d+$/).flatMap((name) => {
    const text = kernelText(join(folder, name, 'thermal_throttle/core_throttle_count'))
    return text === undefined ? [] : [Number(text)]
  })
}
