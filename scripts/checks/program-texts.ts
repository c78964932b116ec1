import ts from 'typescript'

/** Texts that are stored in every ledger as part of its schema: another word would be another schema. */
const schemaTexts = /^src\/database\/(migrations\/|append-only\.ts$)/
const sql = /\b(SELECT|FROM|WHERE|VALUES|UPDATE|TABLE|SET)\b/

/** Returns the literals of a source that may be sentences; `X` stands for each value in them. */
export function textsOf(file: string, source: string): { line: number; text: string }[] {
  if (schemaTexts.test(file)) return []
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const found: { line: number; text: string }[] = []
  const look = (node: ts.Node): void => {
    const text = textOf(node)
    if (text !== undefined && /\w\s+\w/.test(text) && !sql.test(text))
      found.push({ line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1, text })
    ts.forEachChild(node, look)
  }
  look(tree)
  return found
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('X')
}
