import { Marked, type Token, type Tokens } from 'marked'
import type { HelpPage } from '../../../src/console/help/manual.ts'
import type { HelpTopic } from '../../../src/console/help/topics.ts'
import type { SearchedPart } from '../../../src/console/page/help/search.ts'
import { anchorOf } from '../../../src/console/page/kit/help-anchor.ts'

/** A page as the gateway serves it, and its parts for the search. */
type Rendered = { readonly page: HelpPage; readonly parts: readonly SearchedPart[] }

/** Renders a page of the manual. Throws when it does not begin with its one heading of the first level. */
export function render(topic: HelpTopic, markdown: string): Rendered {
  const marked = markedFor()
  const [first, ...rest] = marked.lexer(markdown).filter(({ type }) => type !== 'space')
  if (!isHeading(first, 1) || rest.some((token) => isHeading(token, 1)))
    throw new Error(`the page "${topic}" must begin with its one heading of the first level`)
  const title = plain(first)
  const parts = sectionsOf(rest).map(({ heading, tokens }) => ({
    ...{ topic, page: title, part: heading === undefined ? '' : plain(heading) },
    ...{ anchor: heading === undefined ? '' : anchorOf(plain(heading)), text: wordsOf(marked.parser(tokens)) },
  }))
  const purpose = rest[0]?.type === 'paragraph' ? wordsOf(marked.parser([rest[0]])) : ''
  const page = {
    ...{ title, purpose, markdown, html: marked.parser(rest) },
    parts: rest
      .filter((token) => isHeading(token, 2))
      .map((token) => ({ anchor: anchorOf(plain(token)), title: plain(token) })),
  }
  return { page, parts }
}

/** Lists the ids of the headings of a page. */
export function anchorsOf(markdown: string): string[] {
  return new Marked()
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map((token) => anchorOf(plain(token)))
}

function markedFor(): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = anchorOf(plain({ tokens }))
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escaped(addressOf(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      // A page is text: markup in it is shown as it is written.
      html({ text }) {
        return escaped(text)
      },
      // A table that is wider than a phone scrolls sideways, also with the keys.
      table({ header, rows }) {
        const row = (cells: Tokens.TableCell[], tag: 'td' | 'th') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>\n`
        const body = rows.map((cells) => row(cells, 'td')).join('')
        return `<div class="wide" tabindex="0" role="group"><table><thead>\n${row(header, 'th')}</thead><tbody>\n${body}</tbody></table></div>\n`
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>\n`
      },
    },
  })
}

/** Returns where a link of a page leads to in the browser: `../de/floor.md#scan` is `/help/floor#scan`. */
function addressOf(href: string): string {
  return href.replace(/^(?:[\w./-]*\/)?([\w-]+)\.md(?=#|$)/, '/help/$1')
}

type Section = { readonly heading: Tokens.Heading | undefined; readonly tokens: Token[] }

/** Cuts a page at its headings of the second and third level. */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: Section[] = [{ heading: undefined, tokens: [] }]
  for (const token of tokens) {
    if (isHeading(token, 2) || isHeading(token, 3)) sections.push({ heading: token, tokens: [] })
    else sections.at(-1)?.tokens.push(token)
  }
  return sections
}

const isHeading = (token: Token | undefined, depth: number): token is Tokens.Heading =>
  token?.type === 'heading' && token['depth'] === depth

/** Returns the text of a heading without its marks. */
function plain({ tokens }: Pick<Tokens.Heading, 'tokens'>): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens
        ? plain({ tokens: token.tokens })
        : 'text' in token
          ? String(token['text'])
          : '',
    )
    .join('')
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Returns the words of rendered text, with single blanks. */
function wordsOf(html: string): string {
  return html
    .replaceAll(/<\/(p|li|t[dhr]|pre|h\d|blockquote)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
