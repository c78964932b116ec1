import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

type Bound = {
  readonly what: string
  readonly files: string
  readonly most: number
  /** Whether the bound holds for this function. */
  readonly holdsFor: (node: ts.FunctionLikeDeclaration) => boolean
}

const isTest = (node: ts.FunctionLikeDeclaration): boolean =>
  ts.isCallExpression(node.parent) && /(^|\.)test$/.test(node.parent.expression.getText())

/** Longest pieces that a reader takes in at once, in lines. */
const bounds: readonly Bound[] = [
  { what: 'a function that wires', files: 'src/app/*.ts', most: 80, holdsFor: ts.isFunctionDeclaration },
  { what: 'a test', files: 'test/**/*.test.ts', most: 60, holdsFor: isTest },
]

/** Returns every function that is longer than its bound. Throws when a bound has no function to look at. */
export function lengthProblems(): string[] {
  return bounds.flatMap((bound) => {
    const found = globSync(bound.files).flatMap((file) => functionsOf(file, bound))
    if (found.length === 0) throw new Error(`${bound.what}: none to look at`)
    return found
      .filter(({ lines }) => lines > bound.most)
      .map(({ place, lines }) => `${place}: ${bound.what} has ${lines} lines; at most ${bound.most}: split it by fact`)
  })
}

function functionsOf(file: string, { holdsFor }: Bound): { place: string; lines: number }[] {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line + 1
  const found: { place: string; lines: number }[] = []
  /** Returns the lines of the functions inside of a node; they count for themselves and not for what they are in. */
  const look = (node: ts.Node): number => {
    let inner = 0
    ts.forEachChild(node, (child) => {
      inner += look(child)
    })
    if (!ts.isFunctionLike(node) || !('body' in node) || !holdsFor(node)) return inner
    const first = lineOf(node.getStart())
    const all = lineOf(node.end) - first + 1
    found.push({ place: `${file}:${first}`, lines: all - inner })
    return all
  }
  look(tree)
  return found
}
