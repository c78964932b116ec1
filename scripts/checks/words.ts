import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** Words that cost a tired reader time, with better ones. `src/GLOSSARY.md` lists them for people. */
const hardWords: readonly { readonly hard: RegExp; readonly plain: string }[] = [
  { hard: /\btold\b/i, plain: 'reported, sent, known: name who does it' },
  // A pallet may stand in a slot, and a machine may stand still.
  { hard: /\bstands\b(?! (there|still|for|in (the|another) slot)\b)/i, plain: 'is, is stored, is written' },
  { hard: /\bwhoever\b/i, plain: 'who, the caller, the person who' },
  { hard: /\bnobody\b/i, plain: 'no one' },
  { hard: /\bof (its|their|his|her) own\b/i, plain: 'separate, own' },
  { hard: /\bsaid so\b/i, plain: 'name who said what' },
  { hard: /\bcan('t|’t| not)\b/i, plain: 'cannot' },
  { hard: /\bbelongs? into\b/i, plain: 'belongs in' },
  { hard: /\bas it stands\b/i, plain: 'as it is' },
  { hard: /\byard\b/i, plain: 'warehouse' },
  { hard: /\bstrangers?\b/i, plain: 'unknown caller' },
]

/** Texts that are stored in every ledger as part of its schema: another word would be another schema. */
const schemaTexts = /^src\/database\/(migrations\/|append-only\.ts$)/

/** A variable with this name holds something that has a name: the rows, the counts, the shown note. */
const hardName = /^#?told([A-Z]|$)|Told([A-Z]|$)/

type Line = { readonly file: string; readonly line: number; readonly text: string }

/** Words of the simulated warehouse in scripts and tests, where they are right. */
const wordsOfTests = /^(yard|strangers?)$/i

/**
 * Throws with every hard word in the pages, in the texts of the program (messages, log lines, descriptions, the console), and in
 * all comments. Also throws with every hard name of the code. Titles of tests are not checked.
 */
export async function words(): Promise<void> {
  const pages = globSync([
    '*.md',
    '.github/*.md',
    'scripts/bench/*.md',
    'src/{*.md,*/README.md,console/help/en/*.md}',
  ]).flatMap(proseOf)
  const program = globSync('src/**/*.{ts,tsx}').map(wordsOf)
  const others = globSync('{scripts,test}/**/*.{ts,tsx}').map(wordsOf)
  const texts = program.filter(({ file }) => !schemaTexts.test(file)).flatMap((one) => [...one.texts, ...one.comments])
  const comments = others.flatMap((one) => one.comments)
  const names = [...program, ...others].flatMap((one) => one.names)
  if ([pages, texts, comments, names].some((lines) => lines.length === 0))
    throw new Error('there are no words to look at')
  const problems = [
    ...[...pages, ...texts].flatMap((line) => hardWordsIn(line)),
    ...comments.flatMap((line) => hardWordsIn(line, wordsOfTests)),
    ...new Set(
      names
        .filter(({ text }) => hardName.test(text))
        .map(({ file, line, text }) => `${file}:${line}: the name ${text}; name what it holds`),
    ),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

function hardWordsIn({ file, line, text }: Line, allowed?: RegExp): string[] {
  return hardWords.flatMap(({ hard, plain }) => {
    const word = text.match(hard)?.[0]
    return word === undefined || allowed?.test(word) ? [] : [`${file}:${line}: "${word}"; write: ${plain}`]
  })
}

/** Returns the lines of a page, with everything but prose emptied, so that the line numbers stay. */
function proseOf(file: string): Line[] {
  const emptied = (part: string) => part.replace(/[^\n]+/g, '')
  const prose = readFileSync(file, 'utf8')
    .replace(/^```[^\n]*\n[\s\S]*?^```/gm, emptied)
    .replace(/^## Words to replace\n[\s\S]*?(?=^## |$(?![\s\S]))/gm, emptied)
    .replace(/`[^`\n]+`|(?<!\*)\*[^*]+\*(?!\*)/g, emptied)
  return prose.split('\n').map((text, i) => ({ file, line: i + 1, text }))
}

type Source = { readonly file: string; readonly texts: Line[]; readonly comments: Line[]; readonly names: Line[] }

/** The literals of a source with more than one word, the lines of its comments without the code in them, and its names. */
function wordsOf(file: string): Source {
  const source = readFileSync(file, 'utf8')
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line + 1
  const comments = new Map<number, number>()
  const texts: Line[] = []
  const names: Line[] = []
  const look = (node: ts.Node): void => {
    const here = (text: string) => ({ file, line: lineOf(node.getStart()), text })
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.push(here(node.text))
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)
    if (isText && /\w\s+\w/.test(node.text)) texts.push(here(node.text))
    for (const { pos, end } of ts.getLeadingCommentRanges(source, node.pos) ?? []) comments.set(pos, end)
    for (const { pos, end } of ts.getTrailingCommentRanges(source, node.end) ?? []) comments.set(pos, end)
    for (const child of node.getChildren(tree)) look(child)
  }
  look(tree)
  const lines = [...comments].flatMap(([pos, end]) =>
    source
      .slice(pos, end)
      .split('\n')
      .map((text, i) => ({ file, line: lineOf(pos) + i, text: text.replace(/`[^`]+`/g, '') })),
  )
  return { file, texts, comments: lines, names }
}
