import { setTimeout as pause } from 'node:timers/promises'
import { Floor, type FloorState } from './floor.ts'
import { bundleName, type Update } from './image-make.ts'
import { holds, Skipped } from './trial.ts'

/** Emulated beside other work, a start with a first set-up took eight minutes. */
export const startLimitMs = 1_800_000

/** The box that the trials are about, whatever it runs in. */
export type Box = {
  readonly isOn: boolean
  /** Path of the output of GRUB. */
  readonly console: string
  /** Switches it on; resolves at once. */
  start(): Promise<void>
  /** Cuts its power. */
  cut(): Promise<void>
  /** Runs a shell line as root inside. Returns its stdout. Rejects when it fails. */
  must(script: string, limitMs?: number): Promise<string>
  /** Returns the answer of /api/health. Rejects unless its status is 200. */
  health(): Promise<string>
  /** How its kernel calls the partition of a slot. */
  partition(slot: 'A' | 'B'): string
  /** Where the floor finds it. */
  readonly url: string
  readonly socketPath?: string
}

let current: Box | undefined
let floor: Floor | undefined
/** How often its power was cut under load. */
export const made = { cuts: 0 }

export const box = (): Box => {
  if (!current) throw new Skipped('there is no box')
  return current
}

export const hasBox = (): boolean => current !== undefined

export const theFloor = (): Floor => {
  if (!floor) throw new Skipped('no floor was opened')
  return floor
}

export const floorState = (): FloorState | undefined => floor?.state

export function openFloor(state: FloorState): void {
  floor = new Floor(box(), state)
}

/** From now on the trials are about this one. */
export function take(next: Box): void {
  current = next
  floor = undefined
  made.cuts = 0
}

export async function switchOff(): Promise<void> {
  await current?.cut()
  current = undefined
  floor = undefined
}

/** Asks again and again until the answer is there. Rejects with the last problem. */
export async function until<Answer>(what: string, ask: () => Promise<Answer>, limitMs = startLimitMs): Promise<Answer> {
  const untilMs = performance.now() + limitMs
  let last = 'nothing'
  while (performance.now() < untilMs) {
    if (!box().isOn) throw new Error(`the box went off while waiting: ${what}; see ${box().console}; before: ${last}`)
    try {
      return await ask()
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    await pause(3000)
  }
  throw new Error(`${what} did not come within ${limitMs / 1000} s: ${last}`)
}

export async function healthy(): Promise<void> {
  const said = await box().health()
  holds(/"status":"(healthy|degraded)"/.test(said), said)
}

export const secondsSince = (ms: number): number => Math.round((performance.now() - ms) / 1000)

/**
 * Installs an update from the stick. After success the box starts from it. Returns the output of
 * the updater.
 */
export async function install(update: Update): Promise<string> {
  const command = `/usr/lib/gatehouse-appliance/update ${onStick(update)} 2>&1 || echo refused`
  return (await box().must(`${withStick}; ${command}`, startLimitMs).catch(lastWords)).trim()
}

/** The box may restart before it closes the ssh connection. */
function lastWords(error: { readonly stdout?: string }): string {
  if (error.stdout && /starts from it$/m.test(error.stdout)) return error.stdout
  throw error
}

export const withStick = 'mkdir -p /run/stick && { mountpoint -q /run/stick || mount -o ro LABEL=updates /run/stick; }'
export const onStick = (update: Update): string => `/run/stick/${bundleName(update)}`

/** Slot and version of the system that runs, as `B 2.0`. */
export const systemNow = async (): Promise<string> =>
  (await box().must("sed -n 's/.*rauc.slot=\\([AB]\\).*/\\1/p' /proc/cmdline; cat /etc/gatehouse-image"))
    .trim()
    .replace('\n', ' ')

/** Waits until the box runs this system, is healthy, and has reported this to the bootloader. */
export async function runs(wanted: string): Promise<void> {
  await until(`${wanted} runs`, async () => {
    const now = await systemNow()
    holds(now === wanted, `${now} runs`)
    await healthy()
    await box().must(
      `test "$(cat /state/update/healthy-${wanted[0]})" = '${wanted}' && ! systemctl is-active -q gatehouse-slot`,
    )
  })
}

export const startNumber = (): Promise<string> => box().must('cat /proc/sys/kernel/random/boot_id')

export async function anotherStart(before: string): Promise<void> {
  await until('another start', async () => holds((await startNumber()) !== before, 'the same'))
}
