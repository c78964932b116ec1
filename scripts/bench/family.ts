import { readdirSync, readFileSync } from 'node:fs'

/** The children that a process has now. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )
}

/** A process and its children. */
export const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid)]
