import {
  databaseFile,
  executor,
  fileProblems,
  openReader,
  type ReadTx,
  type SchemaDifferences,
  schemaDifferences,
} from '../database/index.ts'
import { countUntold } from '../ledger/index.ts'
import { commitmentOf, openingsBehind } from '../log/index.ts'
import { Findings, type Mismatch } from './findings.ts'
import { checkPeople } from './people.ts'
import { statedKinds } from './stated-rows.ts'

/** Result of the checks beside the leaves. */
export type BesideLeaves = {
  /** Openings and people that were compared. */
  readonly openings: number
  readonly mismatches: readonly Mismatch[]
  readonly truncated: boolean
}

const batch = 2000

/**
 * Runs the checks of a verification that need no leaf. They cover the schema and the file of the database. Every row must have a
 * leaf and every event an entry of the audit trail. Openings must match their commitments, and links to people those of their rows.
 * This is about two fifths of a verification. Throws ExitError when the file cannot be opened.
 */
export function checkBesideLeaves(dataDir: string): BesideLeaves {
  const db = openReader(databaseFile(dataDir))
  try {
    const tx = executor(db)
    const findings = new Findings()
    checkSchema(findings, schemaDifferences(db))
    for (const { where, what } of fileProblems(tx)) findings.add(where, what)
    checkHomeless(tx, findings)
    const openings = checkOpenings(tx, findings) + checkPeople(tx, findings)
    return { openings, mismatches: findings.mismatches, truncated: findings.truncated }
  } finally {
    db.close()
  }
}

function checkSchema(findings: Findings, { lost, strange }: SchemaDifferences): void {
  for (const name of lost) findings.add('schema', `guard ${name} is missing or changed`)
  for (const name of strange) findings.add('schema', `${name} is not the gateway's`)
}

/** Finds rows that no leaf states, and events without an entry in the audit trail: another program added them. */
function checkHomeless(tx: ReadTx, findings: Findings): void {
  for (const { noun, withoutLeaf } of statedKinds) {
    const homeless = withoutLeaf(tx)
    if (homeless > 0) findings.add('ledger', `${homeless} ${noun}s without a leaf`)
  }
  const untold = countUntold(tx)
  if (untold > 0) findings.add('audit trail', `${untold} events without an entry`)
}

function checkOpenings(tx: ReadTx, findings: Findings): number {
  let count = 0
  let after = ''
  for (;;) {
    const rows = openingsBehind(tx, after, batch)
    for (const row of rows) {
      if (commitmentOf(row.salt, row.value) !== row.commitment)
        findings.add(`opening ${row.commitment.slice(0, 16)}…`, 'does not open its commitment')
    }
    count += rows.length
    after = rows.at(-1)?.commitment ?? ''
    if (rows.length < batch) return count
  }
}
