import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** Words that cost a tired reader time, and what to write in their place. `src/GLOSSARY.md` lists them for people. */
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

/** What is called so holds something that has a name: the rows, the counts, the note that is shown. */
const hardName = /^#?told([A-Z]|$)|Told([A-Z]|$)/

type Line = { readonly file: string; readonly line: number; readonly text: string }

/**
 * Throws with every hard word in the pages, in the texts of the program (messages, log lines, descriptions, the console) and in its
 * comments, and with every hard name of its code and of the scripts. Titles of tests and the figures of a run are not looked at.
 */
export async function words(): Promise<void> {
  const pages = ['README.md', ...globSync('src/{*.md,*/README.md}')].flatMap(proseOf)
  const texts = globSync('src/**/*.{ts,tsx}')
    .filter((file) => !schemaTexts.test(file))
    .flatMap(textsOf)
  if (pages.length === 0 || texts.length === 0) throw new Error('there are no words to look at')
  const found = [...pages, ...texts].flatMap(({ file, line, text }) =>
    hardWords.flatMap(({ hard, plain }) => {
      const word = text.match(hard)?.[0]
      return word === undefined ? [] : [`${file}:${line}: "${word}"; write: ${plain}`]
    }),
  )
  const names = globSync('{src,scripts}/**/*.{ts,tsx}').flatMap(namesOf)
  if (names.length === 0) throw new Error('there are no names to look at')
  const hardNames = names
    .filter(({ text }) => hardName.test(text))
    .map(({ file, line, text }) => `${file}:${line}: the name ${text}; name what it holds`)
  const problems = [...found, ...new Set(hardNames)]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** The lines of a page; what is not prose is emptied, so that the numbers of the lines stay. */
function proseOf(file: string): Line[] {
  const emptied = (part: string) => part.replace(/[^\n]+/g, '')
  const prose = readFileSync(file, 'utf8')
    .replace(/^```[^\n]*\n[\s\S]*?^```/gm, emptied)
    .replace(/^## (Figures|Words to replace)\n[\s\S]*?(?=^## |$(?![\s\S]))/gm, emptied)
    .replace(/`[^`\n]+`|(?<!\*)\*[^*]+\*(?!\*)/g, emptied)
  return prose.split('\n').map((text, i) => ({ file, line: i + 1, text }))
}

/** The literals of a source with more than one word, and the lines of its comments without the code in them. */
function textsOf(file: string): Line[] {
  const source = readFileSync(file, 'utf8')
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line + 1
  const comments = new Map<number, number>()
  const texts: Line[] = []
  const look = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)
    if (isText && /\w\s+\w/.test(node.text)) texts.push({ file, line: lineOf(node.getStart()), text: node.text })
    const around = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ]
    for (const { pos, end } of around) comments.set(pos, end)
    for (const child of node.getChildren(tree)) look(child)
  }
  look(tree)
  const lines = [...comments].flatMap(([pos, end]) =>
    source
      .slice(pos, end)
      .split('\n')
      .map((text, i) => ({ file, line: lineOf(pos) + i, text: text.replace(/`[^`]+`/g, '') })),
  )
  return [...texts, ...lines]
}

/** The names in a source. */
function namesOf(file: string): Line[] {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Line[] = []
  const look = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
      found.push({ file, line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1, text: node.text })
    ts.forEachChild(node, look)
  }
  look(tree)
  return found
}
