import t from 'tap'
import { proseProblems } from '../../scripts/checks/sentences.ts'

/** Returns the problems of a page with these lines. */
const problemsOf = (file: string, ...lines: readonly string[]) => proseProblems([{ file, text: lines.join('\n') }])

const word = (count: number) => Array.from({ length: count }, () => 'word').join(' ')

t.test('short sentences pass, in pages and in comments', async (t) => {
  t.strictSame(problemsOf('README.md', '# What it is', '', 'A gateway keeps a ledger. No one changes it later.'), [])
  t.strictSame(
    problemsOf('test/a.ts', '/** Returns the row. */', "const said = 'What a test types counts not here.'"),
    [],
  )
  t.strictSame(
    problemsOf('README.md', '```sh', 'What does this print', '```', 'It prints `What a day`. Who reads it?'),
    [],
  )
})

t.test('a sentence that begins with a noun clause is named with its line', async (t) => {
  for (const first of ['What', 'Who', 'Whose', 'Of', 'That', 'Such']) {
    t.strictSame(
      problemsOf('README.md', 'A gateway keeps it.', '', `It is so. ${first} it holds is safe.`),
      [`README.md:3: begins with ${first}: ${first} it holds is safe.`],
      first,
    )
  }
  t.match(problemsOf('src/a.ts', 'const a = 1', '// Of the row that is kept.'), ['src/a.ts:2: begins with Of'])
  t.match(problemsOf('src/a.ts', '/**', ' * Returns it.', ' * @returns Such a row of the table', ' */'), [
    'src/a.ts:3: begins with Such',
  ])
})

t.test('words of history are named, but not in the changelog', async (t) => {
  t.match(problemsOf('src/a.ts', '// The file is no longer read.'), ['src/a.ts:1: tells history (no longer)'])
  t.strictSame(problemsOf('CHANGELOG.md', 'The file is no longer read.'), [])
})

t.test('texts of the program are read like pages, with the line of the literal', async (t) => {
  t.strictSame(problemsOf('src/a.ts', "const title = 'The disk is full.'", "const sql = 'What FROM slot is'"), [])
  t.strictSame(problemsOf('src/a.ts', '', "const title = 'What differs here'"), [
    'src/a.ts:2: begins with What: What differs here',
  ])
  t.match(problemsOf('src/a.tsx', 'const lost = (at: string) => `The file is no longer at $' + '{at}.`'), [
    'src/a.tsx:1: tells history (no longer): The file is no longer at X.',
  ])
  t.match(problemsOf('src/a.ts', `const a = 'One two three.'`, `const b = 'Long ${word(25)}.'`), [
    /^1 of 2 sentences in texts have over 25 words/,
    'src/a.ts:2: 26 words: Long',
  ])
  t.strictSame(
    problemsOf('src/database/migrations/0001.ts', '// It adds a row.', "const a = 'What is no longer so'"),
    [],
  )
})

t.test('a hard word is named with a better one, in pages, comments and texts', async (t) => {
  const hard = 'src/a.ts:1: "nobody"; write: no one: Then nobody sees it.'
  t.strictSame(problemsOf('src/a.ts', "const a = 'Then nobody sees it.'"), [hard])
  t.strictSame(problemsOf('src/a.ts', '// Then nobody sees it.'), [hard])
  t.match(problemsOf('README.md', 'It can not be told.'), [/"told"/, /"can not"/])
  t.strictSame(problemsOf('README.md', 'A pallet stands in the slot. The word *nobody* is hard.'), [])
  t.strictSame(
    problemsOf('test/a.ts', '// The yard of a stranger is simulated.'),
    [],
    'words of the simulated warehouse',
  )
})

t.test('long sentences fail when they are more than three of a hundred', async (t) => {
  const short = Array.from({ length: 97 }, () => 'One two three.').join('\n\n')
  const long = Array.from({ length: 4 }, () => `Long ${word(25)}.`).join('\n\n')
  t.strictSame(problemsOf('README.md', short, '', long.slice(0, long.lastIndexOf('\n\n'))), [])
  const problems = problemsOf('README.md', short, '', long)
  t.match(problems, [
    /^4 of 101 sentences in pages have over 25 words; at most 3 % may$/,
    /^README\.md:195: 26 words: Long word/,
  ])
  t.equal(problems.length, 5, 'each of them is named')
})

t.test('a mean over fifteen words fails', async (t) => {
  t.match(problemsOf('README.md', `Mean ${word(15)}.`), [
    'sentences in pages have 16.0 words on average; at most 15 may',
  ])
})

t.test('nothing to read is a failure', async (t) => {
  t.throws(() => proseProblems([]), /no sentence/)
})
