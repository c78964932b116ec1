import { documentBounds } from './network/bounds.ts'

/** Limits of one document. Another one's server must not fill the memory or keep the thread. */
type XmlLimits = {
  readonly elements: number
  readonly depth: number
  /** Characters directly in one element. */
  readonly text: number
}

/** An element begins, or ends with the text directly in it. `name`: without the prefix. */
export type XmlEvent =
  | {
      readonly kind: 'open'
      readonly name: string
      /** Before the colon of its name; empty without one. */
      readonly prefix: string
      /** Its attributes as they are written; `xmlAttributes` reads them. */
      readonly attributes: string
    }
  | { readonly kind: 'close'; readonly name: string; readonly text: string }

const tag = /<(\/?)([^\s/>"'=<]+)((?:\s+[^\s=/>"'<]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const attribute = /([^\s=/>"'<]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g
/** Parts that hold no elements, by how they begin and end. A document type is refused, because it defines entities. */
const otherParts = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * Reads a document from beginning to end and keeps nothing of it but the text of the open elements. Throws an Error for what is no
 * XML, and beyond the limits.
 */
export function* xmlEvents(xml: string, limits: XmlLimits = documentBounds): Generator<XmlEvent, void> {
  const open: { name: string; text: string }[] = []
  let elements = 0
  let at = 0
  const addText = (text: string, hasReferences = true) => {
    const inner = open.at(-1)
    if (inner) {
      if (inner.text.length + text.length > limits.text) throw new Error(`more than ${limits.text} characters of text`)
      inner.text += hasReferences ? decoded(text) : text
    } else if (text.trim() !== '' && text.trim() !== '\ufeff') throw new Error('text outside of the root element')
  }
  const close = function* (): Generator<XmlEvent, void> {
    const ended = open.pop()
    if (!ended) return
    yield { kind: 'close', name: localName(ended.name), text: ended.text }
  }
  while (at < xml.length) {
    const next = xml.indexOf('<', at)
    addText(xml.slice(at, next < 0 ? xml.length : next))
    if (next < 0) break
    const other = otherParts.find(([begin]) => xml.startsWith(begin, next))
    if (other) {
      const [begin, end] = other
      const ends = xml.indexOf(end, next + begin.length)
      if (ends < 0) throw new Error(`no ${end} behind ${begin}`)
      if (begin === '<![CDATA[') addText(xml.slice(next + begin.length, ends), false)
      at = ends + end.length
      continue
    }
    tag.lastIndex = next
    const [whole, isEnd, name = '', attributes = '', isEmpty] = tag.exec(xml) ?? []
    if (whole === undefined) throw new Error(`no element at character ${next}`)
    at = next + whole.length
    if (isEnd) {
      if (open.at(-1)?.name !== name) throw new Error(`</${name.slice(0, 50)}> ends no element`)
      yield* close()
      continue
    }
    elements += 1
    if (elements > limits.elements) throw new Error(`more than ${limits.elements} elements`)
    if (open.length >= limits.depth) throw new Error(`elements deeper than ${limits.depth}`)
    open.push({ name, text: '' })
    yield { kind: 'open', name: localName(name), prefix: name.slice(0, Math.max(name.lastIndexOf(':'), 0)), attributes }
    if (isEmpty) yield* close()
  }
  if (open.length > 0) throw new Error('the document ends within an element')
  if (elements === 0) throw new Error('there is no element')
}

/** Returns the attributes of an element by their names, with prefixes. */
export function xmlAttributes(attributes: string): ReadonlyMap<string, string> {
  const found = attributes.matchAll(attribute)
  return new Map([...found].map(([, name = '', double, single]) => [name, decoded(double ?? single ?? '')]))
}

const localName = (name: string): string => name.replace(/^.*:/, '')

function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
  })
}
