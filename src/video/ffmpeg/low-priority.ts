import { constants, setPriority } from 'node:os'

/** Lets cameras go before a process that no one waits for. A system that does not allow it runs it at the usual priority. */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It may have ended already.
  }
}
