import type { KnownLog } from '../../log/index.ts'
import type { Findings } from '../findings.ts'

type Leaf = { readonly seq: number; readonly kind: string; readonly facts: Readonly<Record<string, unknown>> }

/**
 * Checks the fork of a log from the log that it continues. Its first leaf, and no other, is a `log-fork` with the parent that
 * `log_identity` names. The recomputed root of the parent at that size is `parentRoot`, in hex. It is undefined when the parent is
 * on another box.
 */
export function checkFork(
  { parent }: KnownLog,
  { seq, kind, facts }: Leaf,
  where: string,
  parentRoot: string | undefined,
  findings: Findings,
): void {
  if (kind !== 'log-fork') {
    if (parent && seq === 1)
      findings.add(where, `the log continues log ${parent.logId}, but its first leaf is no log-fork`)
    return
  }
  if (seq !== 1) findings.add(where, 'states a fork, which only the first leaf of a log can')
  if (!parent) {
    findings.add(where, 'states a fork, but the log continues no other one')
    return
  }
  const expected = { parentLogId: parent.logId, parentSize: parent.size, ...(parentRoot && { parentRoot }) }
  for (const [key, value] of Object.entries(expected)) {
    if (facts[key] !== value) findings.add(where, `says ${key} ${String(facts[key])}, expected ${value}`)
  }
}
