import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { UnitOfWork } from '../../database/index.ts'
import { backoffMs } from '../../flow/index.ts'
import { errorCode } from '../../platform/faults.ts'
import { type Clock, type Logger, ownFile } from '../../platform/index.ts'
import type { OpenClipRow } from '../tables.ts'
import type { Outcome, Part } from '../transfer.ts'
import * as store from './open-clip-store.ts'

/** A transport stream is made of these; a part never cuts one. */
const packetBytes = 188
/** The first part goes off a narrow line in about a second, and holds a key frame. */
const firstPartBytes = 1394 * packetBytes
/** Later ones are larger: each costs some requests. */
const laterPartBytes = 5577 * packetBytes
/** From the beginning of one part to that of the next, so that a slow camera does not make hundreds. */
export const partEveryMs = 2000
const retry = { firstMs: 2000, longestMs: 60_000 }

type Failure = Exclude<Outcome, { kind: 'uploaded' }>

/** The server, for the parts of clips. */
export type Parts = {
  send(part: Part): Promise<Outcome>
  /** Removes files of a folder, and the folder when nothing else is in it. `cannot`: the server refuses it for ever. */
  clear(folder: string, names: readonly string[]): Promise<'done' | 'cannot' | Failure>
}

type OpenClipsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'monotonic'>
  readonly log: Logger
  /** Where clips are recorded. */
  readonly folder: string
}

/**
 * Sends clips that an incident needs while they are being recorded: what is new of each goes to the server as one more
 * numbered file. Joined in their order they are a transport stream that can be played, from the first one on.
 */
export class OpenClips {
  readonly #needs: OpenClipsNeeds
  /** When the last part of a clip was begun; monotonic. */
  readonly #begunMs = new Map<number, number>()
  /** Failures of a clip in a row, and when it is tried again; monotonic. */
  readonly #delays = new Map<number, { readonly failures: number; readonly untilMs: number }>()

  constructor(needs: OpenClipsNeeds) {
    this.#needs = needs
  }

  /** Says whether clips are being recorded that have to be looked at again and again. */
  get isRecording(): boolean {
    return this.#needs.work.read(store.hasRecording)
  }

  /** Says whether there is something to send or to remove, or may be soon. */
  get hasWork(): boolean {
    return this.isRecording || this.#needs.work.read(store.replacedClips).length > 0
  }

  /**
   * Sends what has been recorded, and removes the parts of clips that are on the server. A clip that fails is tried again later,
   * and the others go on; when the server takes nothing, the pass ends. Returns what it says of the server: the failure that ended
   * the pass, else the last one after which a file waits.
   */
  async pass(server: Parts): Promise<Failure | undefined> {
    const failures: Failure[] = []
    await this.#sendAll(server, failures)
    if (!failures.some(isOfServer)) await this.#clearAll(server, failures)
    return failures.find(isOfServer) ?? failures.findLast(({ kind }) => kind === 'wait')
  }

  #failed({ detection_id: id }: OpenClipRow, { error: problem }: Failure): void {
    const failures = (this.#delays.get(id)?.failures ?? 0) + 1
    this.#delays.set(id, { failures, untilMs: this.#needs.clock.monotonic() + backoffMs(retry, failures) })
    this.#needs.log.warn({ detectionId: id, problem }, 'a part of a clip could not be sent; it is tried again')
  }

  #waits({ detection_id: id }: OpenClipRow): boolean {
    return this.#needs.clock.monotonic() < (this.#delays.get(id)?.untilMs ?? Number.NEGATIVE_INFINITY)
  }

  async #sendAll(server: Parts, failures: Failure[]): Promise<void> {
    const { work } = this.#needs
    for (let hasSent = true; hasSent; ) {
      hasSent = false
      for (const row of work.read(store.recordingClips)) {
        const outcome = this.#waits(row) ? undefined : await this.#sendNext(server, row)
        if (outcome?.kind === 'uploaded') {
          this.#delays.delete(row.detection_id)
          hasSent = true
        } else if (outcome) {
          this.#failed(row, outcome)
          failures.push(outcome)
          if (isOfServer(outcome)) return
        }
      }
    }
  }

  /** Returns undefined when nothing of this clip is to be sent now. */
  async #sendNext(server: Parts, row: OpenClipRow): Promise<Outcome | undefined> {
    const bytes = await this.#nextBytes(row)
    if (!bytes) return undefined
    const { work, clock, log } = this.#needs
    const { detection_id: id, parts } = row
    this.#begunMs.set(id, clock.monotonic())
    await work.write((tx) => store.decidePart(tx, id, bytes.length))
    const path = `${row.root}/${row.path}/${partName(parts + 1)}`
    const outcome = await server.send({ path, bytes, about: parts === 0 ? row.about : null })
    if (outcome.kind === 'uploaded') await work.write((tx) => store.notePart(tx, id, bytes.length))
    if (outcome.kind === 'uploaded' && parts === 0) {
      log.info({ detectionId: id, bytes: bytes.length }, 'the beginning of an incident’s clip is on the storage server')
    }
    return outcome
  }

  /** The next part: as it was decided, or what has been recorded since. */
  async #nextBytes(row: OpenClipRow): Promise<Buffer | undefined> {
    const path = join(this.#needs.folder, `${row.detection_id}.ts.part`)
    const isFirst = row.parts === 0
    const begunMs = this.#begunMs.get(row.detection_id) ?? Number.NEGATIVE_INFINITY
    const size = await sizeOf(path)
    const fresh = size - row.sent_bytes
    const most = isFirst ? firstPartBytes : laterPartBytes
    if (row.part_bytes === 0 && fresh < most && this.#needs.clock.monotonic() - begunMs < partEveryMs) return undefined
    const wanted = row.part_bytes || Math.min(fresh - (fresh % packetBytes), most)
    // A clip that is cut off at its end may become shorter than what was decided: then it is finished soon.
    return wanted <= 0 || fresh < wanted ? undefined : read(path, row.sent_bytes, wanted)
  }

  async #clearAll(server: Parts, failures: Failure[]): Promise<void> {
    const { work, log } = this.#needs
    for (const row of work.read(store.replacedClips)) {
      if (this.#waits(row)) continue
      const { detection_id: id, parts } = row
      const names = [asideName, ...Array.from({ length: parts + 1 }, (_, i) => partName(i + 1))]
      const cleared = await server.clear(`${row.root}/${row.path}`, names)
      if (typeof cleared === 'object') {
        this.#failed(row, cleared)
        failures.push(cleared)
        if (isOfServer(cleared)) return
        continue
      }
      if (cleared === 'cannot')
        log.warn(
          { detectionId: id, path: row.path },
          'the parts of a clip stay on the storage server: it removes nothing',
        )
      this.#begunMs.delete(id)
      this.#delays.delete(id)
      await work.write((tx) => store.forgetOpen(tx, id))
    }
  }
}

const partName = (n: number): string => `${String(n).padStart(5, '0')}.ts`
const asideName = '00001.json'

/** Says whether a failure is one of the server and not of the file: then nothing else is sent now. */
const isOfServer = ({ kind }: Failure): boolean => kind === 'pause' || kind === 'unauthorized'

/** Zero while the recording has not begun, and when it has become a clip. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0
    throw error
  }
}

/** Undefined when the recording has meanwhile become a clip. */
async function read(path: string, from: number, length: number): Promise<Buffer | undefined> {
  const file = await open(path, ownFile.read).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await file.read(bytes, 0, length, from)
    return bytesRead === length ? bytes : undefined
  } finally {
    await file.close()
  }
}
