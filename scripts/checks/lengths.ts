import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

type Bound = {
  readonly what: string
  readonly files: string
  readonly except?: RegExp
  readonly most: number
  /** Whether the bound holds for this function. */
  readonly holdsFor: (node: ts.FunctionLikeDeclaration) => boolean
  /** Whether functions inside of a function count for themselves alone. */
  readonly innerApart: boolean
  /** By file and name: functions that may be longer, up to so many lines, and why. None is added, and none may grow. */
  readonly longer?: Readonly<Record<string, readonly [lines: number, why: string]>>
}

type Measured = { readonly place: string; readonly key: string; readonly lines: number }

const isTest = (node: ts.FunctionLikeDeclaration): boolean =>
  ts.isCallExpression(node.parent) && /(^|\.)test$/.test(node.parent.expression.getText())

const drawing = 'state and handlers of one drawing share a pointer and a transform'
const oneScreen = 'state and handlers of one screen use each other'

/** Longest pieces that a reader takes in at once, in lines. Markup is not counted. */
const bounds: readonly Bound[] = [
  {
    what: 'a function that wires',
    files: 'src/app/**/*.ts',
    most: 80,
    holdsFor: ts.isFunctionDeclaration,
    innerApart: true,
  },
  { what: 'a test', files: 'test/**/*.test.ts', most: 60, holdsFor: isTest, innerApart: true },
  {
    what: 'a function',
    files: '{src,scripts}/**/*.{ts,tsx}',
    except: /^src\/app\//,
    most: 60,
    holdsFor: () => true,
    innerApart: false,
    longer: {
      'src/console/page/codes/camera-scan.tsx CameraScan': [62, oneScreen],
      'src/console/page/cameras/day/control.ts useLineControl': [65, drawing],
      'src/console/page/cameras/day/control.ts useEffect': [61, drawing],
      'src/console/page/data/use-live.ts useLive': [76, 'timer, request and event stream of one answer are one state'],
      'src/console/page/codes/scan-keys.ts listenForScans': [67, 'one listener; its timers and its text are one state'],
      'scripts/bench/fill.ts fill': [71, 'one made-up ledger, row by row'],
      'scripts/bench/rooms.ts buildRooms': [63, 'wires, as the functions of src/app'],
      'scripts/demo-parts/story.ts play': [64, 'the acts of the demo in their order'],
    },
  },
]

/** Returns every function that is longer than its bound. Throws when a bound has no function to look at. */
export function lengthProblems(): string[] {
  return bounds.flatMap((bound) => {
    const found = globSync(bound.files)
      .filter((file) => !bound.except?.test(file))
      .flatMap((file) => functionsOf(file, bound))
    if (found.length === 0) throw new Error(`${bound.what}: none to look at`)
    return [...found.flatMap((one) => tooLong(one, bound)), ...needless(found, bound)]
  })
}

function tooLong({ place, key, lines }: Measured, { what, most, longer = {} }: Bound): string[] {
  const [allowed] = longer[key] ?? [most]
  return lines > allowed ? [`${place}: ${what} has ${lines} lines; at most ${allowed}: split it by fact`] : []
}

/** Returns the exceptions that nothing needs any more: a function that was split cannot grow back. */
function needless(found: readonly Measured[], { most, longer = {} }: Bound): string[] {
  return Object.keys(longer)
    .filter((key) => !found.some((one) => one.key === key && one.lines > most))
    .map((key) => `scripts/checks/lengths.ts: ${key} needs no longer bound any more; take it out`)
}

function functionsOf(file: string, { holdsFor, innerApart }: Bound): Measured[] {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line + 1
  const linesOf = (node: ts.Node) => lineOf(node.end) - lineOf(node.getStart()) + 1
  const found: Measured[] = []
  /** Returns the lines inside of a node that its function does not count. */
  const look = (node: ts.Node): number => {
    let left = 0
    ts.forEachChild(node, (child) => {
      left += look(child)
    })
    if (isMarkup(node)) return linesOf(node) - 1
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body || !holdsFor(node)) return left
    const all = linesOf(node)
    found.push({ place: `${file}:${lineOf(node.getStart())}`, key: `${file} ${nameOf(node)}`, lines: all - left })
    return innerApart ? all : left
  }
  look(tree)
  return found
}

const isMarkup = (node: ts.Node): boolean =>
  ts.isJsxElement(node) || ts.isJsxSelfClosingElement(node) || ts.isJsxFragment(node)

/** Returns the name of a function; of one without a name that of what it is given to. */
function nameOf({ name, parent }: ts.FunctionLikeDeclaration): string {
  if (name) return name.getText()
  if (ts.isVariableDeclaration(parent)) return parent.name.getText()
  return ts.isCallExpression(parent) ? parent.expression.getText() : ''
}
