import { setFlagsFromString } from 'node:v8'
import { libc } from './libc.ts'

/** By then a daemon has freed what only its start needed. */
const afterStartMs = 30_000
/** Exports, backups and verifications come between. */
const everyMs = 10 * 60_000

/**
 * Returns freed memory of this process to the system, half a minute after now and every ten minutes. Otherwise glibc keeps it: 25
 * MiB after a start. It takes 6 ms the first time, less than 0.1 ms when there is nothing to give. Where the C library does not
 * offer it, nothing happens.
 */
export function giveBackFreeMemory(): void {
  setTimeout(giveBack, afterStartMs).unref()
  setInterval(giveBack, everyMs).unref()
}

/** Gives what is free now. */
export function giveBack(): void {
  try {
    libc().mallocTrim(0)
  } catch {
    // No koffi here, or a C library without malloc_trim: the memory stays with the process, as without this.
  }
}

/**
 * Holds V8's space for new objects at its first size, and lets it grow again half a minute later. At a start most objects stay, so
 * V8 would make it 32 times as large, and an idle program keeps it so: 19 MiB.
 */
export function startWithSmallHeap(): void {
  // V8 reads this flag whenever it might grow that part. The one for the most it may take is read once, before any code of ours.
  setFlagsFromString('--semi-space-growth-factor=1')
  setTimeout(() => setFlagsFromString('--semi-space-growth-factor=2'), afterStartMs).unref()
}
