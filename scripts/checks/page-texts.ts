import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** Attributes that a person reads or hears. */
const spoken = new Set(['alt', 'aria-description', 'aria-label', 'heading', 'hint', 'label', 'placeholder', 'title'])

/** Words that are the same in every language: our name, units and short names of formats. */
const sameEverywhere = new Set([
  'Gatehouse',
  'kg',
  'm',
  'mm',
  's',
  'dpi',
  'kB',
  'HTTP',
  'SSCC',
  'PIN',
  'QR',
  'CSV',
  'PDF',
])

/**
 * Throws with every text that a view of the console writes itself: between tags, or in an attribute that is read or heard.
 * They belong in a `…texts.ts`, which has each text in every language.
 */
export async function pageTexts(): Promise<void> {
  const files = globSync('src/console/page/**/*.tsx')
  if (files.length === 0) throw new Error('there is no view of the console to look at')
  const found = files.flatMap((file) => textsOf(file, readFileSync(file, 'utf8')))
  if (found.length > 0) throw new Error(`texts that belong into a file of texts:\n${found.join('\n')}`)
}

function textsOf(file: string, source: string): string[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const found: string[] = []
  const add = (node: ts.Node, text: string) => {
    const words = text.match(/\p{L}+/gu) ?? []
    if (words.every((word) => sameEverywhere.has(word)) || isCommand(node.parent)) return
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart())
    found.push(`${file}:${line + 1}: ${text.replace(/\s+/g, ' ').trim()}`)
  }
  const look = (node: ts.Node): void => {
    if (ts.isJsxText(node)) add(node, node.text)
    else if (isShown(node)) add(node, textOf(node))
    ts.forEachChild(node, look)
  }
  look(tree)
  return found
}

/** Whether it is what somebody types or reads on a machine. */
const isCommand = (node: ts.Node): boolean => ts.isJsxElement(node) && node.openingElement.tagName.getText() === 'code'

type Literal = ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression

/** Whether a literal is shown: it is in braces between tags, or in an attribute that is read or heard. */
function isShown(node: ts.Node): node is Literal {
  if (!(ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)))
    return false
  let child: ts.Node = node
  for (let above = node.parent; above; child = above, above = above.parent) {
    if (ts.isJsxAttribute(above)) return spoken.has(above.name.getText())
    if (ts.isJsxExpression(above)) {
      if (ts.isJsxElement(above.parent) || ts.isJsxFragment(above.parent)) return true
      continue
    }
    const isChosen =
      (ts.isConditionalExpression(above) && child !== above.condition) ||
      (ts.isBinaryExpression(above) && child === above.right && isChoice(above.operatorToken.kind)) ||
      ts.isParenthesizedExpression(above)
    if (!isChosen) return false
  }
  return false
}

const isChoice = (kind: ts.SyntaxKind) =>
  kind === ts.SyntaxKind.BarBarToken ||
  kind === ts.SyntaxKind.AmpersandAmpersandToken ||
  kind === ts.SyntaxKind.QuestionQuestionToken

/** The words of a literal; of a template, those between its values. */
function textOf(node: Literal): string {
  if (!ts.isTemplateExpression(node)) return node.text
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('')
}
