import { existsSync, readFileSync } from 'node:fs'

const page = '.github/DEPENDENCIES.md'

/** Throws with each package of `package.json` that the page leaves out or names with another license, and each row too many. */
export async function dependenciesAreListed(): Promise<void> {
  const own = JSON.parse(readFileSync('package.json', 'utf8'))
  const product = Object.keys({ ...own.dependencies, ...own.optionalDependencies })
  const problems = dependencyProblems(readFileSync(page, 'utf8'), product, Object.keys(own.devDependencies), licenseOf)
  if (problems.length > 0) throw new Error(problems.map((problem) => `${page}: ${problem}`).join('\n'))
}

/**
 * Compares the page's two tables with the packages.
 *
 * @param license returns a package's license, or undefined for one of another architecture.
 */
export function dependencyProblems(
  markdown: string,
  product: readonly string[],
  tools: readonly string[],
  license: (name: string) => string | undefined,
): string[] {
  const [, first = '', second = ''] = markdown.split(/^## .*$/m)
  const compare = (part: string, names: readonly string[]): string[] => {
    const rows = part.split('\n').filter((line) => line.startsWith('| `'))
    const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
    const listed = new Map(cells.map(([, name = '', ...others]) => [name.replaceAll('`', ''), others]))
    const missing = names.filter((name) => !listed.has(name)).map((name) => `${name} has no row`)
    const tooMany = [...listed.keys()].filter((name) => !names.includes(name)).map((name) => `${name} is not used`)
    const wrong = [...listed].flatMap(([name, [purpose, said, keeper, instead]]) => {
      const actual = license(name)
      if (!purpose || !keeper || !instead) return [`${name} has an empty cell`]
      return actual === undefined || actual === said ? [] : [`${name} has the license ${actual}`]
    })
    return [...missing, ...tooMany, ...wrong]
  }
  return [...compare(first, product), ...compare(second, tools)]
}

function licenseOf(name: string): string | undefined {
  const file = `node_modules/${name}/package.json`
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).license : undefined
}
