import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import ts from 'typescript'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { tables as hubTables } from '../../src/hub/store/tables.ts'

/** Fewer than this means that the check saw nothing. */
const leastStatements = 250

/** Calls of the builder that name a table, as `table` or `table as alias`. */
const naming = /^(selectFrom|insertInto|replaceInto|updateTable|deleteFrom|mergeInto|from|using|\w+Join)$/

/** Calls that make a statement. Only at the top of a file are they made before anybody asks for the statements. */
const making = new Set(['statement', 'statements', 'change', 'changes', 'built'])

/** Findings in a file of a room. */
type Found = {
  readonly problems: string[]
  /** Names of tables that its SQL mentions. */
  readonly mentions: number
  readonly statements: number
}

/** Which room declares which table; problems of the declarations. */
async function owners(): Promise<{ ownerOf: Map<string, string>; problems: string[] }> {
  const ownerOf = new Map<string, string>()
  const problems: string[] = []
  for (const file of globSync('src/*/tables.ts').toSorted()) {
    const room = roomOf(file)
    const { tables } = (await import(resolve(file))) as { tables: object }
    for (const table of Object.keys(tables)) {
      const other = ownerOf.get(table)
      if (other) problems.push(`${table} is declared by ${other} and by ${room}`)
      ownerOf.set(table, room)
    }
  }
  const schema = tablesOfSchema()
  for (const table of schema) if (!ownerOf.has(table)) problems.push(`${table} is declared by no room`)
  for (const [table, room] of ownerOf) if (!schema.has(table)) problems.push(`${table} of ${room} is not in the schema`)
  return { ownerOf, problems }
}

function tablesOfSchema(): Set<string> {
  const db = new BetterSqlite3(':memory:')
  try {
    migrate(db, migrations, 0)
    const names = db.prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'`,
    )
    return new Set(names.pluck().all() as string[])
  } finally {
    db.close()
  }
}

const roomOf = (file: string): string => file.split('/')[1] ?? ''

function look(file: string, ownerOf: ReadonlyMap<string, string>): Found {
  const room = roomOf(file)
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const makers = importedMakers(source)
  const problems: string[] = []
  let mentions = 0
  let statements = 0
  const mention = (table: string, node: ts.Node) => {
    const owner = ownerOf.get(table)
    if (owner === undefined) return
    mentions += 1
    if (owner === room) return
    problems.push(`${place(source, node)} names ${table}, a table of ${owner}: ask ${owner} for it`)
  }
  const visit = (node: ts.Node, isInFunction: boolean) => {
    const text = textOf(node)
    if (text !== undefined) for (const table of tablesIn(text)) mention(table, node)
    if (ts.isCallExpression(node)) {
      for (const table of builtTables(node)) mention(table, node)
      if (ts.isIdentifier(node.expression) && makers.has(node.expression.text)) {
        statements += 1
        if (isInFunction) {
          problems.push(
            `${place(source, node)} makes a statement where it runs: no test has prepared it; make it at the top`,
          )
        }
      }
    }
    const isFunction = ts.isFunctionLike(node)
    node.forEachChild((child) => visit(child, isInFunction || isFunction))
  }
  visit(source, false)
  return { problems, mentions, statements }
}

/**
 * Names of `making` that the file imports from the database's room. Other files may use the words for something else.
 */
function importedMakers(source: ts.SourceFile): Set<string> {
  const imports = source.statements.filter(ts.isImportDeclaration)
  const ofDatabase = imports.filter(({ moduleSpecifier: from }) => /database\/index\.ts/.test(from.getText()))
  const names = ofDatabase.flatMap(({ importClause }) => {
    const named = importClause?.namedBindings
    return named && ts.isNamedImports(named) ? named.elements.map(({ name }) => name.text) : []
  })
  return new Set(names.filter((name) => making.has(name)))
}

/** The head office has its own tables, in PostgreSQL: some have names that tables of the gateway have too. */
const isOfHub = (file: string): boolean => file.startsWith('src/hub/')

/** A string or template as one text, with a name that is no table's for each hole; undefined for other nodes. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('$')
}

/** Tables that SQL reads, writes or names in front of a column. */
function tablesIn(text: string): Set<string> {
  const ofFile = [...text.matchAll(/\bmain\.(\w+)/g)].map(([, name = '']) => name)
  if (!/\b(SELECT|FROM|JOIN|INTO|UPDATE|DELETE|EXISTS)\b/.test(text)) return new Set(ofFile)
  const source =
    /\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:OR\s+\w+\s+)?((?:main\.)?"?\w+"?(?:\s+(?:AS\s+)?\w+)?(?:\s*,\s*(?:main\.)?"?\w+"?(?:\s+\w+)?)*)/g
  const listed = [...text.matchAll(source)].flatMap(([, names = '']) =>
    names.split(',').map((one) => /^(?:main\.)?"?(\w+)/.exec(one.trim())?.[1] ?? ''),
  )
  const qualified = [...text.matchAll(/(?<![\w.'])(?:main\.)?(\w+)\.\w/g)].map(([, name = '']) => name)
  return new Set([...ofFile, ...listed, ...qualified])
}

function builtTables(call: ts.CallExpression): string[] {
  if (!ts.isPropertyAccessExpression(call.expression) || !naming.test(call.expression.name.text)) return []
  const [first] = call.arguments
  const named = first && ts.isArrayLiteralExpression(first) ? [...first.elements] : first ? [first] : []
  return named.flatMap((one) => (ts.isStringLiteral(one) ? [one.text.split(' ')[0] ?? ''] : []))
}

function place(source: ts.SourceFile, node: ts.Node): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}

/**
 * A table belongs to the room that declares it. Throws with tables that no room or two rooms declare, with SQL that
 * names another room's table, and with statements that no test can find.
 */
export async function ownTables(): Promise<void> {
  const { ownerOf, problems } = await owners()
  const ofHub = new Map(Object.keys(hubTables).map((table) => [table, 'hub']))
  const files = globSync('src/*/**/*.ts').filter((file) => !/^src\/(database\/migrations|console\/page)\//.test(file))
  const found = files.map((file) => look(file, isOfHub(file) ? ofHub : ownerOf))
  const statements = found.reduce((sum, one) => sum + one.statements, 0)
  const mentions = found.reduce((sum, one) => sum + one.mentions, 0)
  if (statements < leastStatements || mentions < leastStatements) {
    problems.push(`only ${statements} statements with ${mentions} names of tables were looked at`)
  }
  const all = [...problems, ...found.flatMap((one) => one.problems)]
  if (all.length > 0) throw new Error(all.join('\n'))
}
