import { setTimeout as pause } from 'node:timers/promises'
import { footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'
import { childrenOf } from '../bench/family.ts'
import { type Served, serveGateway } from '../bench/served.ts'
import { makeAccount, signedIn } from '../bench/site.ts'
import { cpuMs, cpuMsOfEnded, memoryOf, type Workshop } from '../bench/workshop.ts'
import { type Act, ages, type Found, missedAndFalse, type WallFindings } from './wall-truth.ts'

export type WallOptions = {
  readonly cameras: number
  readonly minutes: number
  readonly say?: (line: string) => void
}

export type WallReport = WallFindings & {
  readonly cameras: number
  readonly minutes: number
  /** Samples of the newest picture's age that were over a second late, of all: cameras that are faulty on purpose left out. */
  readonly lateShare: number
  /** The most connections that any of the cameras ever had at once. */
  readonly mostConnections: number
  /** From the end of the run until every found event had its clip; null: some had none after three minutes. */
  readonly clipsDoneAfterMs: number | null
  /** Shares of one core over the run without the outages; those of ffmpeg with the cutting of clips. */
  readonly gatewayCores: number
  readonly ffmpegCores: number
  /** At the end of the run. */
  readonly gatewayBytes: number
  readonly ffmpegBytesEach: number
  /** From when the port answers again until each camera has pictures, for every camera and each of two outages. */
  readonly backAfterMs: { readonly most: number; readonly median: number }
}

const lookEveryMs = 250
const settleMs = 90_000
/** A box that is too busy to cut clips as fast as they come has them later; what was not cut then counts as missed. */
const longestCutMs = 180_000
const outages = 2
const outageMs = 8000
const faultMs = 20_000
const motion = { sensitivity: 0.3, preRecordSeconds: 3, postRecordSeconds: 1, cooldownSeconds: 0 }

/**
 * A wall of cameras on one gateway: each shows a person and a forklift every 20 s, each at other times. One camera freezes
 * and one drops its connections for a while; at the end all lose the network twice. Every event must be found.
 */
export async function soakCameras(workshop: Workshop, { cameras, minutes, say = () => {} }: WallOptions) {
  const scene = await footage('crossing')
  const names = Array.from({ length: cameras }, (_, i) => `cam${i + 1}`)
  const rtsp = await startRtspServer({ streams: Object.fromEntries(names.map((name) => [name, scene])) })
  try {
    for (const [i, name] of names.entries()) rtsp.seek(name, (i * scene.durationMs) / cameras)
    const wall = names.map((name, i) => ({ id: i + 1, url: rtsp.url(name), motion }))
    const served = await serveGateway(workshop, workshop.newFolder('wall'), await makeAccount(), { cameras: wall })
    const watch = new Watch(served, rtsp, scene.motion, names)
    await watch.untilAll(settleMs)
    say(`${cameras} cameras are live`)
    const report = await watch.run(minutes, say)
    await served.end()
    return report
  } finally {
    await rtsp.stop()
  }
}

/** Looks at the gateway from outside while it runs. */
class Watch {
  readonly #served: Served
  readonly #rtsp: RtspServer
  readonly #acts: readonly { fromMs: number; toMs: number }[]
  readonly #names: readonly string[]
  readonly #truth = new Map<string, Act>()
  readonly #ages: { cameraId: number; ageMs: number; atMs: number }[] = []
  /** When a camera had a fault of ours, or was coming back from it. */
  readonly #faulty: { cameraId: number; fromMs: number; toMs: number }[] = []

  constructor(
    served: Served,
    rtsp: RtspServer,
    acts: readonly { fromMs: number; toMs: number }[],
    names: readonly string[],
  ) {
    this.#served = served
    this.#rtsp = rtsp
    this.#acts = acts
    this.#names = names
  }

  async untilAll(patienceMs: number): Promise<void> {
    const sinceMs = Date.now()
    while (Date.now() < sinceMs + patienceMs) {
      if ((await this.#cameras()).every(({ online }) => online)) return
      await pause(lookEveryMs)
    }
    throw new Error(`not all cameras gave pictures within ${patienceMs / 1000} s`)
  }

  async run(minutes: number, say: (line: string) => void): Promise<WallReport> {
    const [fromMs, cpuBefore] = [Date.now(), this.#cpu()]
    const toMs = fromMs + minutes * 60_000
    const faults = this.#withFaults(fromMs, toMs, say)
    while (Date.now() < toMs) await this.#look()
    await faults
    const cpu = this.#cpu()
    const seconds = (Date.now() - fromMs) / 1000
    const memory = this.#memory()
    const { findings, clipsDoneAfterMs } = await this.#findings({ fromMs: fromMs + 5000, toMs: toMs - 10_000 })
    say('all cameras lose the network, twice')
    const back = await this.#loseNetwork()
    const late = ages(this.#ages, this.#faulty)
    return {
      ...findings,
      clipsDoneAfterMs,
      cameras: this.#names.length,
      minutes,
      lateShare: late,
      mostConnections: Math.max(...this.#names.map((name) => this.#rtsp.clients(name).mostAtOnce)),
      gatewayCores: (cpu.ours - cpuBefore.ours) / 1000 / seconds,
      ffmpegCores: (cpu.children - cpuBefore.children) / 1000 / seconds,
      ...memory,
      backAfterMs: { most: Math.max(...back), median: back.toSorted((a, b) => a - b)[back.length >> 1] ?? 0 },
    }
  }

  /** Asks until every event has its clip, or for as long as clips may take. */
  async #findings(within: { fromMs: number; toMs: number }) {
    const acts = [...this.#truth.values()]
    const sinceMs = Date.now()
    for (;;) {
      const findings = missedAndFalse({ acts, found: await this.#detections(), within, faulty: this.#faulty })
      const lastedMs = Date.now() - sinceMs
      const isDone = findings.missed.length + findings.withoutClip === 0
      if (isDone || lastedMs > longestCutMs) return { findings, clipsDoneAfterMs: isDone ? lastedMs : null }
      await pause(1000)
    }
  }

  /** Freezes the first camera a third into the run, and drops the second one every few seconds two thirds into it. */
  async #withFaults(fromMs: number, toMs: number, say: (line: string) => void): Promise<void> {
    const [frozen, dropped] = this.#names
    if (frozen === undefined || dropped === undefined) return
    const third = (toMs - fromMs) / 3
    await pause(third)
    say('the first camera freezes')
    this.#faulty.push({ cameraId: 1, fromMs: Date.now(), toMs: Date.now() + faultMs + 15_000 })
    this.#rtsp.fault('freeze', frozen)
    await pause(faultMs)
    this.#rtsp.fault(undefined, frozen)
    await pause(Math.max(0, third - faultMs))
    say('the second camera drops its connections')
    this.#faulty.push({ cameraId: 2, fromMs: Date.now(), toMs: Date.now() + faultMs + 45_000 })
    for (let i = 0; i < faultMs / 4000; i += 1) {
      this.#rtsp.drop(dropped, i % 2 === 0 ? 'reset' : 'close')
      await pause(4000)
    }
  }

  async #loseNetwork(): Promise<number[]> {
    const back: number[] = []
    for (let outage = 0; outage < outages; outage += 1) {
      await this.#rtsp.unplug()
      await pause(outageMs)
      await this.#rtsp.plugIn()
      const pluggedInMs = Date.now()
      const waiting = new Set(this.#names.map((_, i) => i + 1))
      while (waiting.size > 0 && Date.now() < pluggedInMs + settleMs) {
        for (const { id, online, lastFrameAt } of await this.#cameras()) {
          if (!waiting.has(id) || !online || Date.parse(lastFrameAt ?? '') < pluggedInMs) continue
          waiting.delete(id)
          back.push(Date.parse(lastFrameAt ?? '') - pluggedInMs)
        }
        await pause(lookEveryMs / 5)
      }
      if (waiting.size > 0) throw new Error(`cameras ${[...waiting].join(', ')} did not come back`)
    }
    return back
  }

  async #look(): Promise<void> {
    const atMs = Date.now()
    for (const { id, lastFrameAt } of await this.#cameras()) {
      this.#ages.push({ cameraId: id, ageMs: atMs - Date.parse(lastFrameAt ?? ''), atMs })
    }
    this.#noteActs()
    await pause(lookEveryMs)
  }

  #noteActs(): void {
    for (const [i, name] of this.#names.entries()) {
      for (const { fromMs, toMs } of this.#acts) {
        for (const at of this.#rtsp.takenAt(name, fromMs)) {
          this.#truth.set(`${i} ${at}`, { cameraId: i + 1, fromMs: at, toMs: at + toMs - fromMs })
        }
      }
    }
  }

  async #detections(): Promise<Found[]> {
    const found: Found[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page = await this.#ask(`/api/iot/detection-events?limit=500${query}`)
      for (const { cctvId, timestamp, clipStatus } of page.data) {
        found.push({ cameraId: cctvId, atMs: Date.parse(timestamp), clipStatus })
      }
      cursor = page.pagination.nextCursor
    }
    return found
  }

  async #cameras(): Promise<{ id: number; online: boolean; lastFrameAt: string | null }[]> {
    return (await this.#ask('/api/iot/cctv')).data
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
  async #ask(path: string): Promise<any> {
    return (await fetch(`${this.#served.url}${path}`, { headers: signedIn })).json()
  }

  #cpu(): { ours: number; children: number } {
    const { pid } = this.#served
    const living = this.#ofChildren(cpuMs).reduce((sum, ms) => sum + ms, 0)
    return { ours: cpuMs(pid), children: living + cpuMsOfEnded(pid) }
  }

  #memory(): { gatewayBytes: number; ffmpegBytesEach: number } {
    const children = this.#ofChildren((pid) => memoryOf(pid).residentBytes)
    const all = children.reduce((sum, bytes) => sum + bytes, 0)
    return { gatewayBytes: memoryOf(this.#served.pid).residentBytes, ffmpegBytesEach: all / children.length }
  }

  /** One that ends meanwhile has no file to read any more, or no memory. */
  #ofChildren(measure: (pid: number) => number): number[] {
    return childrenOf(this.#served.pid)
      .map((pid) => {
        try {
          return measure(pid)
        } catch {
          return Number.NaN
        }
      })
      .filter((measured) => Number.isFinite(measured))
  }
}
