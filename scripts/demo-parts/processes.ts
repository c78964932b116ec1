import { readdirSync, readFileSync } from 'node:fs'

type Entry = { readonly pid: number; readonly parent: number; readonly line: string }

/** Returns the command lines of all processes below `pid`, as every user of this machine can read them. */
export function commandLinesBelow(pid: number): string[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? entry(Number(name)) : []))
  const below = new Set([pid])
  // A parent may have a higher pid than its child, so once through the list is not enough.
  for (let before = 0; before < below.size; ) {
    before = below.size
    for (const one of all) if (below.has(one.parent)) below.add(one.pid)
  }
  return all.filter((one) => one.pid !== pid && below.has(one.pid)).map(({ line }) => line)
}

function entry(pid: number): Entry[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in parentheses and may hold anything; state and parent follow it.
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(parent), line: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }]
  } catch {
    // It has just ended.
    return []
  }
}
