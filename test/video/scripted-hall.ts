/** A camera on a clock that is moved by hand, with lines of the shell in place of ffmpeg. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { retimed, type Unit, UnitSplitter } from '../../src/video/format/transport-stream.ts'
import { CameraSet, type CameraSettings, type FromCameras } from '../../src/video/index.ts'
import { footage } from '../support/footage.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'
import { tapeOf } from '../support/taped-camera.ts'
import { waitUntil } from '../support/waiting.ts'

export const passer = await footage('passer')
export const { tables, units } = tapeOf(passer)

/** Some rounds of the footage, as ffmpeg writes them. */
export const rounds = (from: number, to: number) =>
  Buffer.concat([
    tables,
    ...Array.from({ length: to - from }, (_, i) =>
      units.map((unit) => retimed(unit, unit.ptsMs + (from + i) * passer.durationMs).bytes),
    ).flat(),
  ])

const motion = {
  ...{ sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 2, postRecordSeconds: 1 },
  ...{ masks: [], zones: [] },
}
export const recorded: CameraSettings = {
  ...{ cameraId: 1, url: 'rtsp://127.0.0.1:1/', detectUrl: null, username: null, passwordFile: null },
  ...{ detecting: false, streaming: false, motion, filmSeconds: 0 },
  history: { isOn: true, hours: 1, stream: 'main' },
}

/** The folder of a hall. tap removes a folder before it calls the first teardown that is registered later, so one comes first. */
export function hallFolder(t: Test, files: Parameters<Test['testdir']>[0]): string {
  t.teardown(() => {})
  return t.testdir(files)
}

export class ScriptedHall {
  readonly clock = new SimulatedClock()
  readonly messages: FromCameras[] = []
  readonly thread: CameraSet
  readonly #folder: string
  #isStopped = false

  constructor(t: Test, folder: string, lines: string, more: Partial<CameraSettings> = {}) {
    this.#folder = folder
    const program = join(folder, 'ffmpeg')
    writeFileSync(program, `#!/bin/sh\ncd '${folder}'\n${lines}\nexec tail -f /dev/null\n`, { mode: 0o755 })
    this.thread = new CameraSet({
      ...{ clock: this.clock, random: systemRandom, log: silentLogger(), readSecret: () => '' },
      freeBytes: () => Infinity,
      ffmpeg: { path: program, dialect: { listOptions: true, setsTimes: true } },
      clipsFolder: join(folder, 'clips'),
      historyFolder: join(folder, 'history'),
      cellsFolder: join(folder, 'scores'),
      post: (message: FromCameras) => this.messages.push(message),
    })
    t.teardown(() => this.stop())
    this.set(more)
  }

  /** Resolves when all that was read is on the disk. */
  async stop(): Promise<void> {
    if (!this.#isStopped) this.thread.receive({ type: 'stop' })
    this.#isStopped = true
    await waitUntil('it has stopped', () => this.of('stopped').length > 0)
  }

  /** Seconds of continuous video that are on the disk. */
  get keptSeconds(): number {
    const folder = join(this.#folder, 'history')
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
    return secondsUntil(new UnitSplitter({ timesAreKnown: true }).push(Buffer.concat(bytes), 0).at(-1))
  }

  set(more: Partial<CameraSettings>): void {
    this.thread.receive({ type: 'camera', settings: { ...recorded, ...more } })
  }

  of<T extends FromCameras['type']>(type: T) {
    return this.messages.filter((one): one is Extract<FromCameras, { type: T }> => one.type === type)
  }

  get states() {
    return this.of('state').map(({ problem, state }) => problem ?? state)
  }

  /** Seconds of video that were read. */
  get seconds(): number {
    return secondsUntil(this.thread.camera(1)?.ring.newest)
  }
}

const secondsUntil = (unit: Unit | undefined) => (unit ? Math.floor((unit.ptsMs - (units[0]?.ptsMs ?? 0)) / 1000) : 0)
