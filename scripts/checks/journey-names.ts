import { globSync, readFileSync } from 'node:fs'

const page = 'src/README.md'

/**
 * Returns the names on the map of the source that the source lacks. A name in front of a file in brackets must be in that file.
 * Any other name in code type must be somewhere in the source. Throws when the page names nothing.
 */
export function journeyProblems(): string[] {
  const text = readFileSync(page, 'utf8').replace(/\s+/g, ' ')
  const placed = [...text.matchAll(/`([\w.]+)` \(`([\w./-]+\.ts)`\)/g)]
  const names = [...text.matchAll(/`([a-z]\w*[A-Z]\w*|[A-Z]\w+\.\w+)`/g)].map(([, name = '']) => name)
  if (placed.length === 0 || names.length === 0) throw new Error(`${page} names nothing to look for`)
  const source = new Set(globSync('src/**/*.ts').flatMap((file) => wordsOf(file)))
  return [
    ...placed
      .filter(([, name = '', file = '']) => !isIn(name, new Set(wordsOf(`src/${file}`))))
      .map(([, name, file]) => `${page}: ${name} is not in src/${file}`),
    ...names.filter((name) => !isIn(name, source)).map((name) => `${page}: ${name} is not in the source`),
  ]
}

const wordsOf = (file: string): string[] => readFileSync(file, 'utf8').match(/[\w$]+/g) ?? []

/** Both parts of `Class.method` must be there. */
const isIn = (name: string, words: ReadonlySet<string>): boolean => name.split('.').every((part) => words.has(part))
