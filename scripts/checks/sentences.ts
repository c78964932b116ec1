import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { textsOf } from './program-texts.ts'

/** A writer aims at 20 words a sentence; these bounds hold for each kind of prose. */
const mostWords = 25
const mostLong = 0.03
const mostOnAverage = 15

/** A sentence that begins so holds its subject back: the reader has to begin again. Questions may. */
const lateSubject = /^(What|Who|Whom|Whose|Of|That|Such)\b(?!.*\?$)/
const history =
  /\b(until now|that night|was mended|has been mended|of before|in vain|no longer|used to|formerly|previously|so far)\b/i

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
  { hard: /\byard\b/i, plain: 'warehouse' },
  { hard: /\bstrangers?\b/i, plain: 'unknown caller' },
]
/** Words of the simulated warehouse in scripts and tests, where they are right. */
const wordsOfTests = /^(yard|strangers?)$/i

const kinds = ['pages', 'comments', 'texts'] as const
type Kind = (typeof kinds)[number]

type File = { readonly file: string; readonly text: string }
type Paragraph = { readonly line: number; readonly text: string }
type Sentence = Paragraph & { readonly file: string; readonly words: number }

/** Throws with each sentence of the pages, the comments and the texts of the program that needs a second read. */
export async function sentences(): Promise<void> {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 64 << 20 })
    .trim()
    .split('\n')
    .filter((file) => kindsOf(file).length > 0 && existsSync(file))
  const problems = proseProblems(files.map((file) => ({ file, text: readFileSync(file, 'utf8') })))
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** Returns what is wrong with the sentences of these files. Throws without any sentence. */
export function proseProblems(files: readonly File[]): string[] {
  const found: Record<Kind, Sentence[]> = { pages: [], comments: [], texts: [] }
  for (const { file, text } of files) {
    for (const kind of kindsOf(file)) {
      found[kind].push(...paragraphsOf[kind](text, file).flatMap((paragraph) => sentencesOf(file, paragraph)))
    }
  }
  const all = kinds.flatMap((kind) => found[kind])
  if (all.length === 0) throw new Error('there is no sentence to look at')
  return [
    ...kinds.flatMap((kind) => lengthProblems(kind, found[kind])),
    ...all.flatMap((sentence) => beginningProblems(sentence)),
    ...all.filter(({ file }) => file !== 'CHANGELOG.md').flatMap((sentence) => historyProblems(sentence)),
    ...all.flatMap((sentence) => wordProblems(sentence)),
  ]
}

const paragraphsOf: Record<Kind, (text: string, file: string) => Paragraph[]> = {
  pages: paragraphsOfPage,
  comments: paragraphsOfComments,
  texts: (text, file) => textsOf(file, text),
}

/** Pages in English, and sources with comments and texts. Fixtures, guards and texts of others are none of them. */
function kindsOf(file: string): Kind[] {
  if (/^test\/(fixtures|mutants)\//.test(file) || /THIRD-PARTY|LICENSE|\/de\//.test(file)) return []
  if (file.endsWith('.md')) return ['pages']
  if (/^src\/.*\.tsx?$/.test(file)) return ['comments', 'texts']
  if (/^(src|scripts|test)\/.*\.(tsx?|mjs|sh|py)$/.test(file) || /^scripts\/[a-z-]+$/.test(file)) return ['comments']
  return []
}

function lengthProblems(kind: string, each: readonly Sentence[]): string[] {
  const long = each.filter(({ words }) => words > mostWords)
  const mean = each.reduce((sum, { words }) => sum + words, 0) / Math.max(each.length, 1)
  const isLong = long.length > each.length * mostLong
  return [
    ...(mean > mostOnAverage
      ? [`sentences in ${kind} have ${mean.toFixed(1)} words on average; at most ${mostOnAverage} may`]
      : []),
    ...(isLong
      ? [
          `${long.length} of ${each.length} sentences in ${kind} have over ${mostWords} words; at most ${100 * mostLong} % may`,
          ...long.map((sentence) => `${placeOf(sentence)}: ${sentence.words} words: ${sentence.text}`),
        ]
      : []),
  ]
}

function beginningProblems(sentence: Sentence): string[] {
  const first = sentence.text.match(lateSubject)?.[0]
  return first === undefined ? [] : [`${placeOf(sentence)}: begins with ${first}: ${sentence.text}`]
}

function historyProblems(sentence: Sentence): string[] {
  const past = sentence.text.match(history)?.[0]
  return past === undefined ? [] : [`${placeOf(sentence)}: tells history (${past}): ${sentence.text}`]
}

/** Text in italics is a word that the sentence is about. */
function wordProblems(sentence: Sentence): string[] {
  const isOfTests = /^(scripts|test)\//.test(sentence.file)
  const text = sentence.text.replace(/(?<!\*)\*[^*]+\*(?!\*)/g, '')
  return hardWords.flatMap(({ hard, plain }) => {
    const word = text.match(hard)?.[0]
    const isAllowed = word === undefined || (isOfTests && wordsOfTests.test(word))
    return isAllowed ? [] : [`${placeOf(sentence)}: "${word}"; write: ${plain}: ${sentence.text}`]
  })
}

const placeOf = ({ file, line }: Sentence): string => `${file}:${line}`

/** Returns prose, list items and cells of tables; blocks of code and headings are left out. */
function paragraphsOfPage(text: string): Paragraph[] {
  const reading = new Reading()
  let isCode = false
  for (const [i, line] of text.split('\n').entries()) {
    const isFence = /^\s*(```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    if (isFence || isCode || line.trim() === '' || line.startsWith('#')) reading.end()
    else if (/^\s*\|/.test(line)) {
      reading.end()
      for (const cell of line.split('|')) reading.whole(i + 1, cell.trim())
    } else {
      const item = line.match(/^\s*([-*+]|\d+\.)\s+(.*)$/)?.[2]
      if (item !== undefined) reading.end()
      reading.add(i + 1, item ?? line.trim())
    }
  }
  return reading.paragraphs()
}

/** Returns the prose of comments that fill whole lines, a tag or an item at a time. */
function paragraphsOfComments(text: string): Paragraph[] {
  const reading = new Reading()
  for (const [i, line] of text.split('\n').entries()) {
    const said = line.match(/^\s*(?:\/\*\*?|\*(?!\/)|\/\/|#(?![!\w]))\s?(.*?)(?:\*\/)?\s*$/)?.[1]?.trim()
    if (said === undefined || said === '' || said === '/' || /biome-ignore|@ts-/.test(line)) {
      reading.end()
      continue
    }
    if (/^(@\w+|[-*] )/.test(said)) reading.end()
    reading.add(i + 1, said.replace(/^@(param\s+\S+|returns?|throws)\s*|^[-*] /, ''))
  }
  return reading.paragraphs()
}

/** Joins lines to paragraphs, which keep the number of their first line. */
class Reading {
  readonly #paragraphs: Paragraph[] = []
  #open: { line: number; text: string } | undefined

  add(line: number, text: string): void {
    if (this.#open) this.#open.text += ` ${text}`
    else this.#open = { line, text }
  }

  end(): void {
    if (this.#open) this.#paragraphs.push(this.#open)
    this.#open = undefined
  }

  whole(line: number, text: string): void {
    this.add(line, text)
    this.end()
  }

  paragraphs(): Paragraph[] {
    this.end()
    return this.#paragraphs
  }
}

/** Code, links and marks count as one word. Fewer than three words are no sentence. */
function sentencesOf(file: string, { line, text }: Paragraph): Sentence[] {
  const plain = text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\*\*|__|<[^>]*>/g, '')
    .replace(/https?:\/\/\S+/g, 'link')
    .replace(/\s+/g, ' ')
    .trim()
  return plain
    .split(/(?<=[.!?:;])\s+(?=[A-Z"'(])/)
    .map((sentence) => ({ file, line, text: sentence, words: sentence.split(' ').length }))
    .filter(({ words }) => words >= 3)
}
