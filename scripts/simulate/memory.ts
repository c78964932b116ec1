import { readFileSync } from 'node:fs'

type Sample = { readonly atMs: number; readonly bytes: number }

/** Growth that counts as flat, and the shortest time that says anything about it. */
const flat = { share: 0.2, bytes: 48 << 20 }
const leastMs = 60_000

/** Watches the memory of a process that may be replaced by another one. */
export class MemoryWatch {
  #samples: Sample[] = []
  #most = 0
  readonly #timer: NodeJS.Timeout

  /** `pid` may be another one at each call; undefined while there is none. */
  constructor(pid: () => number | undefined) {
    this.#timer = setInterval(() => {
      const bytes = residentBytes(pid())
      if (bytes === undefined) return
      this.#most = Math.max(this.#most, bytes)
      this.#samples.push({ atMs: performance.now(), bytes })
    }, 1000)
  }

  /** From now on it counts whether memory grows: a new process grows at first. */
  restarted(): void {
    this.#samples = []
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The largest sample, in bytes. */
  get most(): number {
    return this.#most
  }

  /** Growth from the second quarter since the last restart to the last one; undefined when that is too short to say. */
  growth(): { readonly from: number; readonly to: number; readonly isFlat: boolean } | undefined {
    const first = this.#samples[0]?.atMs ?? 0
    const lengthMs = (this.#samples.at(-1)?.atMs ?? 0) - first
    if (lengthMs < leastMs) return undefined
    const mean = (low: number, high: number) => {
      const part = this.#samples.filter(({ atMs }) => atMs >= first + low * lengthMs && atMs <= first + high * lengthMs)
      return part.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(1, part.length)
    }
    const [from, to] = [mean(0.25, 0.5), mean(0.75, 1)]
    return { from, to, isFlat: to - from <= Math.max(flat.bytes, from * flat.share) }
  }
}

function residentBytes(pid: number | undefined): number | undefined {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    return undefined
  }
}
