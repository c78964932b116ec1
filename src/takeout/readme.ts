import type { ColumnNote } from '../database/index.ts'

export type DescribedTable = {
  readonly file: string
  readonly columns: readonly ColumnNote[]
  /** Columns that are not in the file. */
  readonly withheld: readonly string[]
}

type Described = {
  readonly siteId: string
  readonly madeAt: string
  readonly tables: readonly DescribedTable[]
  /** Commands that bring the floor to an empty gateway. */
  readonly commands: readonly string[]
  /** Tables that are not in the export, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
}

/** Returns a command line of gatehouse for a shell. */
export function commandOf(...words: readonly string[]): string {
  const quoted = words.map((word) => (/^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
  return ['gatehouse', ...quoted].join(' ')
}

export function readme({ siteId, madeAt, tables, commands, leftOut }: Described): string {
  return `All data of a gatehouse gateway, in open formats.

Site ${siteId}, ${madeAt}. manifest.json has each file with its rows, bytes and SHA-256. It is written last: a folder without it
is no whole export. The files hold names of people, photos and clips. Protect them.

  tables/*.jsonl   the rows of each table, a line of JSON each (UTF-8), all of one moment
  events/          the placements as the API shows them, oldest first; JSON lines, and CSV for spreadsheets
  import/*.csv     lists for "gatehouse import" on an empty gateway: slots, assets, and the pallets that stand in slots now
  log/             the signed log with its keys and checkpoints; log/README.txt says how to check it
  files/           photos, clips, snapshots, reports and imported lists, named as in the tables media and detection_event;
                   files/history has continuous video (MPEG-TS) where it is on

Columns that end in _ms are milliseconds since 1970-01-01 UTC. Binary columns are base64. A column X_commitment is the hash that the
log has in place of a name or text. The field X beside it is that name or text; it is missing after an erasure.

The row with leaf_seq N states leaf N of its log (log/logs/LOG/leaves.jsonl, line N). The SHA-256 of the line is its evidence_hash.

Not in the export: the config file, which is the admin's own; secrets and keys; scores of motion (numbers of 7 days for the
detector); and these tables:
${Object.entries(leftOut)
  .map(([name, why]) => `  ${name}: ${why}`)
  .join('\n')}

TO ANOTHER GATEWAY

Run these commands there, in this folder. Zones get their type, but no color and outline. The ledger begins with the pallets that
stand in slots now; earlier events stay in this copy.

${commands.map((command) => `  ${command}`).join('\n')}

FILES AND THEIR COLUMNS

The columns of events/ are those of GET /api/whms/events in the API description ("gatehouse openapi").

${tables.map(tableText).join('\n')}`
}

function tableText({ file, columns, withheld }: DescribedTable): string {
  const width = Math.max(...columns.map(({ name }) => name.length))
  const lines = columns.map(({ name, type, note }) => `    ${name.padEnd(width)} ${note === '' ? type : note}\n`)
  const without = withheld.length > 0 ? `    not in it: ${withheld.join(', ')}\n` : ''
  return `  ${file}\n${lines.join('')}${without}`
}
