/**
 * The size of the house, and the table of it in src/README.md:
 *
 *   node scripts/checks/house-size.ts     writes the table
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import ts from 'typescript'

const page = 'src/README.md'
const heading = '## Size'

/** `goal`: null for a row that is only shown. */
type Row = { readonly what: string; readonly value: number; readonly goal: number | null }

/**
 * Throws when a row with a goal differs from the table in src/README.md, which may only shrink, or when the lines of the source
 * have left the table by more than a twentieth.
 */
export async function houseSize(): Promise<void> {
  const text = readFileSync(page, 'utf8')
  const problems = measured().flatMap((row) => problemOf(row, writtenIn(text, row)))
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

function problemOf({ what, value, goal }: Row, written: number | undefined): string[] {
  const toWrite = 'run `node scripts/checks/house-size.ts`'
  if (written === undefined) return [`${page} has no row "${what}": ${toWrite}`]
  if (goal === null)
    return Math.abs(value - written) * 20 > written ? [`${page}: ${what}: ${value}, not ${written}: ${toWrite}`] : []
  if (value > written) return [`${what}: ${value}, and there were ${written}: this may only shrink`]
  return value < written ? [`${page}: ${what}: only ${value}, not ${written}: ${toWrite}`] : []
}

function writtenIn(text: string, { what }: Row): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`| ${what} | `))
  const [, , cell = ''] = line?.split('|') ?? []
  return line === undefined ? undefined : Number(cell.replaceAll(',', ''))
}

/** Measures the sources, those of the page included. */
function measured(): Row[] {
  const files = globSync('src/**/*.{ts,tsx}').map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const lines = (list: typeof files) => list.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  const ofConsole = files.filter(({ file }) => file.startsWith('src/console/'))
  const folders = Map.groupBy(files, ({ file }) => dirname(file))
  const counted = files.map(countIn)
  const sum = (of: (one: Counted) => number) => counted.reduce((total, one) => total + of(one), 0)
  return [
    { what: 'files in the largest folder', value: Math.max(...[...folders.values()].map((l) => l.length)), goal: 25 },
    { what: 'files over 420 lines', value: files.filter((one) => lines([one]) > 420).length, goal: 0 },
    { what: 'functions over 80 lines, markup included', value: sum(({ longFunctions }) => longFunctions), goal: 0 },
    { what: 'casts', value: sum(({ casts }) => casts), goal: 150 },
    { what: 'casts to `never`', value: sum(({ toNever }) => toNever), goal: 5 },
    { what: 'lines of the console', value: lines(ofConsole), goal: null },
    { what: 'lines of the other rooms', value: lines(files) - lines(ofConsole), goal: null },
  ]
}

type Counted = { readonly casts: number; readonly toNever: number; readonly longFunctions: number }

function countIn({ file, text }: { readonly file: string; readonly text: string }): Counted {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line
  let casts = 0
  let toNever = 0
  let longFunctions = 0
  const look = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && node.type.getText() !== 'const') {
      casts += 1
      if (node.type.getText() === 'never') toNever += 1
    }
    const isLong = () => lineOf(node.end) - lineOf(node.getStart()) + 1 > 80
    if (ts.isFunctionLike(node) && 'body' in node && node.body && isLong()) longFunctions += 1
    ts.forEachChild(node, look)
  }
  look(tree)
  return { casts, toNever, longFunctions }
}

const number = (value: number) => value.toLocaleString('en')

function write(): void {
  const [before = ''] = readFileSync(page, 'utf8').split(`\n${heading}\n`)
  const rows = measured().map(
    ({ what, value, goal }) => `| ${what} | ${number(value)} | ${goal === null ? '' : number(goal)} |`,
  )
  const sentence =
    'The check `size` lets no row with a goal grow. `node scripts/checks/house-size.ts` writes the table.'
  const table = ['| in `src` | today | goal |', '|---|--:|--:|', ...rows].join('\n')
  writeFileSync(page, `${before.trimEnd()}\n\n${heading}\n\n${sentence}\n\n${table}\n`)
}

if (import.meta.main) write()
