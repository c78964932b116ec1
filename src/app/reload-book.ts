/** Origin of the config of a running gateway. */
export type ConfigNow = {
  /** Undefined: embedded defaults. */
  readonly file: string | undefined
  /** When the config in use was read: at the start, or at the last reload that was not refused. */
  readonly loadedMs: number
  /** The last reload, when it was refused: the old config is still in use. Null: it was not refused. */
  readonly refused: { readonly atMs: number; readonly problems: string } | null
  /** Key paths that are changed on disk and wait for the next start. */
  readonly waiting: readonly string[]
}

/** Remembers what became of the reloads since the start. */
export class ReloadBook {
  #now: ConfigNow

  constructor(file: string | undefined, startedMs: number) {
    this.#now = { file, loadedMs: startedMs, refused: null, waiting: [] }
  }

  get now(): ConfigNow {
    return this.#now
  }

  /** Notes that the config on disk is bad, with the problems; the config in use stays. */
  refused(problems: string, nowMs: number): void {
    this.#now = { ...this.#now, refused: { atMs: nowMs, problems } }
  }

  /** Notes that the config on disk was read. `waiting`: keys whose values wait for the next start. */
  applied(waiting: readonly string[], nowMs: number): void {
    this.#now = { ...this.#now, loadedMs: nowMs, refused: null, waiting: [...waiting] }
  }
}
