import { open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UnitOfWork } from '../database/index.ts'
import { unlinked, unlinksAfter } from '../log/index.ts'
import { type Logger, ownFile } from '../platform/index.ts'

type UnlinkerNeeds = {
  readonly work: UnitOfWork
  readonly logger: Logger
  readonly dataDir: string
}

/** Unlinks the files whose removal is in the ledger, also those that a crash left between the row and the file. */
export class Unlinker {
  readonly #needs: UnlinkerNeeds

  constructor(needs: UnlinkerNeeds) {
    this.#needs = needs
  }

  /** Unlinks everything that has to go. A file that cannot be unlinked is logged and tried again at the next call. */
  async run(): Promise<void> {
    const { work, dataDir } = this.#needs
    for (let after = 0; ; ) {
      const from = after
      const batch = work.read((tx) => unlinksAfter(tx, from))
      const last = batch.at(-1)
      if (!last) return
      const gone: number[] = []
      for (const { removalId, path } of batch) if (await this.#unlink(path)) gone.push(removalId)
      for (const folder of new Set(batch.map(({ path }) => dirname(path)))) await sync(join(dataDir, folder))
      if (gone.length > 0) {
        await work.write((tx) => {
          for (const removalId of gone) unlinked(tx, removalId)
        })
      }
      after = last.removalId
    }
  }

  async #unlink(path: string): Promise<boolean> {
    try {
      await rm(join(this.#needs.dataDir, path), { force: true })
      return true
    } catch (err) {
      this.#needs.logger.error({ err, path }, 'a file whose removal is in the ledger cannot be unlinked')
      return false
    }
  }
}

/** Makes unlinking durable before the database forgets it; a power cut would leave files that no row names. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, ownFile.read).catch(() => undefined)
  await handle?.sync().finally(() => handle.close())
}
