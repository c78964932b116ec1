import type { ReadTx, UnitOfWork } from '../database/index.ts'
import type { Clock } from '../platform/index.ts'
import { holdQueueAgain, type NewFile, releaseQueue, type UploadQueue } from './queue.ts'
import * as store from './store.ts'
import type { UploadKind } from './tables.ts'

/** Where files of one kind come from: append-only rows with ascending numbers. */
export type Source = {
  readonly kind: UploadKind
  /** The next rows behind this one, at most `limit`: the number of the last one, and the files to upload among them. */
  readonly after: (
    tx: ReadTx,
    row: number,
    limit: number,
  ) => { readonly upTo: number; readonly files: NewFile[] } | undefined
}

const rowsAtOnce = 200

/**
 * Queues what was recorded while `storage.upload` was not set: each source from where it was last read, in slices. The
 * queue holds its files while the key is set, and only then.
 */
export async function queueBacklog(needs: {
  readonly work: UnitOfWork
  readonly queue: UploadQueue
  readonly sources: readonly Source[]
  readonly clock: Pick<Clock, 'now'>
  readonly isStopping: () => boolean
}): Promise<void> {
  const { work, queue, sources, clock, isStopping } = needs
  if (!queue.isConfigured) {
    await work.write(releaseQueue)
    return
  }
  let held: number | undefined = 0
  while (held !== undefined && !isStopping()) {
    const behind: number = held
    held = await work.write((tx) => holdQueueAgain(tx, behind, clock.now()))
  }
  for (const source of sources) {
    let isDone = false
    while (!isDone && !isStopping() && queue.isConfigured) {
      isDone = await work.write((tx) => {
        const slice = source.after(tx, store.lookedUpTo(tx, source.kind), rowsAtOnce)
        if (!slice) return true
        for (const file of slice.files) queue.enqueue(tx, file)
        store.lookUpTo(tx, source.kind, slice.upTo)
        return false
      })
    }
  }
}
