import { readFileSync } from 'node:fs'

const path = 'SECURITY.md'
const attackers = [
  ...[
    'unknown caller',
    'viewer',
    'stolen handheld',
    'careless operator',
    'camera',
    'storage server',
    'receiver',
    'head office',
  ],
  ...['update server', 'local user', 'holder of a backup'],
]

/** Returns what is wrong with the table of attackers. `roomPages` looks whether each test exists. */
export function attackerProblems(text = readFileSync(path, 'utf8')): string[] {
  const rows = text.split('\n').filter((line) => /^\| /.test(line) && line.includes('`test/'))
  return attackers
    .filter((one) => !rows.some((row) => row.startsWith(`| ${one}`) && /`test\/[\w./-]+\.test\.ts`/.test(row)))
    .map((one) => `${path}: the table of attackers names no test that stops: ${one}`)
}
