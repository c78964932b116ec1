import { readdirSync, readFileSync } from 'node:fs'
import { cpuMs } from './workshop.ts'

/** The children that a process has now. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )
}

/** A process and its children. */
export const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid)]

/** Processor time of the children that a process has now, in milliseconds. One that ends meanwhile counts with the ended ones. */
export const cpuMsOfChildren = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + (readIfThere(child) ?? 0), 0)

function readIfThere(pid: number): number | undefined {
  try {
    return cpuMs(pid)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
