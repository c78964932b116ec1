import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { uptime } from 'node:os'
import { basename, join } from 'node:path'
import { bytesWrittenTo, diskDevice } from '../../platform/index.ts'
import type { WearFacts } from '../findings/box.ts'

type WearNeeds = {
  readonly folder: string
  /** Where the kernel describes its devices. Default: /sys. */
  readonly sys?: string
  /** Runs smartctl; resolves with its output, undefined when it cannot. */
  readonly smartctl?: (device: string) => Promise<string | undefined>
  /** Device number of the disk of the folder. Default: the folder's own. */
  readonly device?: number
  readonly nowMs: number
}

const nothing: WearFacts = {
  device: null,
  usedPercent: null,
  powerOnHours: null,
  isFailing: false,
  writtenPerDay: null,
}
const answerWithinMs = 10_000
/** A day's figure from less than this would be a guess. */
const leastUptimeSeconds = 3600

/**
 * Reads the wear of the disk of a folder. For eMMC it asks the kernel (JESD84-B51, DEVICE_LIFE_TIME_EST). For SSD and NVMe it asks
 * smartctl, where it is installed and this process may use it. Never rejects.
 */
export async function wearOf(needs: WearNeeds): Promise<WearFacts> {
  const { folder, sys = '/sys', smartctl = runSmartctl } = needs
  const disk = diskDevice(needs.device ?? statSync(folder).dev, sys)
  if (disk === undefined) return nothing
  const device = basename(disk)
  const facts = { ...nothing, device, writtenPerDay: writtenPerDay(disk) }
  const emmc = emmcLife(readText(join(disk, 'device', 'life_time')), readText(join(disk, 'device', 'pre_eol_info')))
  if (emmc)
    return { ...facts, ...emmc, powerOnHours: hoursSinceMade(readText(join(disk, 'device', 'date')), needs.nowMs) }
  const said = await smartctl(`/dev/${device}`)
  return { ...facts, ...(said !== undefined && smartLife(said)) }
}

/** Reads `0x01 0x03`: steps of ten percent that are used up, of two kinds of memory; the worse one counts. */
export function emmcLife(lifeTime: string | undefined, preEol: string | undefined) {
  const steps = (lifeTime ?? '')
    .trim()
    .split(/\s+/)
    .map(Number)
    .filter((step) => step > 0)
  if (steps.length === 0) return undefined
  const worst = Math.max(...steps)
  // 0x0b: more than its estimated life. 3 of pre_eol_info: nine tenths of the reserved blocks are used up.
  return { usedPercent: Math.min(worst * 10, 100), isFailing: worst >= 0x0b || Number(preEol ?? 0) >= 3 }
}

/**
 * Reads the month in which an eMMC was made, such as `03/2024`, and returns its age in hours. An eMMC counts no hours itself, and a
 * box runs most of its life. Null: the disk does not report it.
 */
export function hoursSinceMade(date: string | undefined, nowMs: number): number | null {
  const [, month, year] = /^(0[1-9]|1[0-2])\/(20\d\d)$/.exec((date ?? '').trim()) ?? []
  const hours = Math.floor((nowMs - Date.UTC(Number(year), Number(month) - 1)) / 3_600_000)
  return hours > 0 ? hours : null
}

type Smart = {
  smart_status?: { passed?: boolean }
  power_on_time?: { hours?: number }
  nvme_smart_health_information_log?: { percentage_used?: number }
  ata_smart_attributes?: { table?: { id: number; value: number }[] }
}

/** SSD_Life_Left, Media_Wearout_Indicator, Wear_Leveling_Count, Percent_Lifetime_Remain: 100 when new, 0 at the end. */
const lifeLeftAttributes = [231, 233, 177, 202]

/** Reads the JSON of `smartctl --all`. */
export function smartLife(text: string): Partial<WearFacts> {
  try {
    const smart = JSON.parse(text) as Smart
    const table = smart.ata_smart_attributes?.table ?? []
    const left = lifeLeftAttributes
      .map((id) => table.find((one) => one.id === id)?.value)
      .find((value) => value !== undefined)
    return {
      usedPercent: smart.nvme_smart_health_information_log?.percentage_used ?? (left === undefined ? null : 100 - left),
      powerOnHours: smart.power_on_time?.hours ?? null,
      isFailing: smart.smart_status?.passed === false,
    }
  } catch {
    return {}
  }
}

function writtenPerDay(disk: string): number | null {
  const seconds = uptime()
  const bytes = bytesWrittenTo(disk)
  return bytes === null || seconds < leastUptimeSeconds ? null : (bytes * 86_400) / seconds
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** smartctl reports findings by bits of its exit code, so only its output counts. */
function runSmartctl(device: string): Promise<string | undefined> {
  const options = { timeout: answerWithinMs, killSignal: 'SIGKILL' } as const
  return new Promise((resolve) => {
    execFile('smartctl', ['--json', '--all', device], options, (_, stdout) => resolve(stdout || undefined))
  })
}
