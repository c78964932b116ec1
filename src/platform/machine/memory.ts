import { totalmem } from 'node:os'

/** Returns the bytes of memory that this process may use: those of the machine, or of its control group if that is less. */
export function memoryOfBox(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
