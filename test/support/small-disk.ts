import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from './needs.ts'

export type SmallDisk = {
  readonly folder: string
  /** Leaves so many bytes; 0: not one. */
  fill(leaveBytes?: number): void
  /** Gives back what `fill` took. */
  empty(): void
  end(): void
}

/** For tests on a small disk. */
export const onSmallDisk = needs('the right to mount a tmpfs')

/** A disk of so many MiB that really gets full. */
export function smallDisk(sizeMiB: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'))
  mount(folder, `${sizeMiB}m`)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill: (leaveBytes = 0) => {
      const spare = join(folder, 'spare')
      if (leaveBytes > 0) fillFile(spare, leaveBytes)
      fillFile(ballast)
      rmSync(spare, { force: true })
    },
    empty: () => rmSync(ballast, { force: true }),
    end: () => {
      execFileSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function mount(folder: string, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder], { stdio: 'pipe' })
}

/** Writes until the disk takes no more, or so many bytes. */
function fillFile(file: string, upToBytes = Number.POSITIVE_INFINITY): void {
  const fd = openSync(file, 'a')
  try {
    for (let size = 1 << 20, written = 0; size >= 1 && written < upToBytes; ) {
      try {
        written += writeSync(fd, Buffer.alloc(Math.min(size, upToBytes - written), 1))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        size = Math.floor(size / 2)
      }
    }
  } finally {
    closeSync(fd)
  }
}
