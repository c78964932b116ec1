type Subtest = { readonly indent: number; readonly title: string }

/**
 * Reads TAP a line at a time and tells at the first line that shows it whether something failed with the given words:
 * they are in the title of what failed, in what the failure reports, or in the title of a test around it.
 */
export class TapStream {
  readonly #says: string
  #around: Subtest[] = []
  /** The report behind the last failure, while it goes on. */
  #report: { readonly indent: number; readonly title: string; isSource: boolean } | undefined

  constructor(says: string) {
    this.#says = says
  }

  /** @returns when this line shows the failure: the title of the outermost test that it is in */
  push(line: string): { readonly title: string } | undefined {
    const indent = line.search(/\S/)
    const text = line.trim()
    const opened = text.match(/^# Subtest: (.*)$/)
    if (opened) {
      this.#end(indent)
      this.#around.push({ indent, title: unescaped(opened[1] ?? '') })
      return undefined
    }
    const result = text.match(/^(ok|not ok) \d+(?: - )?(.*)$/)
    if (result) return this.#result(indent, result[1] === 'not ok', result[2] ?? '')
    return this.#isReported(indent, text) ? this.#report : undefined
  }

  #result(indent: number, hasFailed: boolean, rest: string): { readonly title: string } | undefined {
    const [, title = '', directive = ''] = rest.match(/^(.*?)(?: # (time|TODO|SKIP)\b.*)?(?: \{)?$/i) ?? []
    this.#end(indent)
    const isFailure = hasFailed && !/TODO|SKIP/i.test(directive)
    this.#report = undefined
    if (!isFailure) return undefined
    const titles = [...this.#around.map((subtest) => subtest.title), unescaped(title)]
    this.#report = { indent, title: titles[0] ?? '', isSource: false }
    const isNamed = titles.some((each) => each.includes(this.#says)) || this.#says === 'not ok'
    return isNamed ? this.#report : undefined
  }

  /** The lines of the test's source are no report: they show what else the test would say. */
  #isReported(indent: number, text: string): boolean {
    const report = this.#report
    if (!report || text === '') return false
    if (text === '...' && indent <= report.indent + 2) this.#report = undefined
    else if (indent === report.indent + 2) report.isSource = /^(?:source|stack):/.test(text)
    return !report.isSource && text.includes(this.#says)
  }

  #end(indent: number): void {
    this.#around = this.#around.filter((subtest) => subtest.indent < indent)
  }
}

/** A title as the test wrote it. */
const unescaped = (text: string): string => text.replace(/\\([\\#])/g, '$1')
