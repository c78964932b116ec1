import type { FileHandle } from 'node:fs/promises'

/**
 * Appends parts to a file as they are. To join them first would double the share of a camera in the heap, and the garbage collector
 * would run twice as often. After each write, `note` gets its bytes. Rejects with the disk's error.
 */
export async function writeParts(
  file: Pick<FileHandle, 'writev'>,
  parts: readonly Buffer[],
  note: (bytes: number) => void = () => {},
): Promise<void> {
  for (let rest = [...parts]; rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest)
    note(bytesWritten)
    rest = after(rest, bytesWritten)
  }
}

/** Returns the rest of the parts after their first bytes. */
function after(parts: readonly Buffer[], bytes: number): Buffer[] {
  let left = bytes
  const first = parts.findIndex((part) => {
    if (part.length > left) return true
    left -= part.length
    return false
  })
  if (first < 0) return []
  return [(parts[first] as Buffer).subarray(left), ...parts.slice(first + 1)]
}
