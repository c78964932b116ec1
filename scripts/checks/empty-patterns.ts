import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * Returns every empty list in the expected value of a `t.match`. A list matches when it begins like the expected one, so any list
 * matches an empty one, and the test guards nothing. Write `{ length: 0 }`, which matches the empty list alone.
 */
export function emptyPatterns(): string[] {
  const files = globSync('test/**/*.ts')
  if (files.length === 0) throw new Error('empty lists in tests: no file to look at')
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    if (!/\[\s*\]/.test(text) || !text.includes('.match(')) return []
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    return emptyListsOf(tree).map((node) => {
      const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1
      return `${file}:${line}: an empty list matches any list in t.match: write { length: 0 }`
    })
  })
}

function emptyListsOf(tree: ts.SourceFile): ts.Node[] {
  const found: ts.Node[] = []
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 't.match') {
      const [, pattern] = node.arguments
      if (pattern) lookInside(pattern)
    }
    ts.forEachChild(node, look)
  }
  const lookInside = (node: ts.Node): void => {
    if (ts.isArrayLiteralExpression(node) && node.elements.length === 0) found.push(node)
    // The arguments and the result of a call or a function are no part of the pattern.
    else if (!ts.isCallExpression(node) && !ts.isFunctionLike(node)) ts.forEachChild(node, lookInside)
  }
  look(tree)
  return found
}
