import { xmlAttributes, xmlEvents } from '../../platform/index.ts'

/** An element of a small document. */
export type Element = {
  readonly name: string
  /** URI of its namespace; empty when it has none. */
  readonly namespace: string
  /** By their names without prefix. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly Element[]
  readonly text: string
}

type Draft = Omit<Element, 'text'> & { readonly children: Element[]; readonly scope: ReadonlyMap<string, string> }

/** A camera reports at most some hundred events at once, each of some twenty elements. */
const limits = { elements: 20_000, depth: 32, text: 16_384 }

/** Reads a document. Throws an Error for what is no XML, and beyond the limits. */
export function readTree(xml: string): Element {
  const open: Draft[] = []
  let root: Element | undefined
  for (const event of xmlEvents(xml, limits)) {
    if (event.kind === 'open') {
      const written = xmlAttributes(event.attributes)
      const scope = scopeIn(open.at(-1)?.scope ?? new Map(), written)
      const attributes = new Map([...written].map(([name, value]) => [name.replace(/^.*:/, ''), value]))
      open.push({ name: event.name, namespace: scope.get(event.prefix) ?? '', attributes, children: [], scope })
      continue
    }
    const draft = open.pop()
    if (!draft) continue
    const { scope: _, ...element } = draft
    const ended = { ...element, text: event.text.trim() }
    open.at(-1)?.children.push(ended)
    if (open.length === 0) root = ended
  }
  if (!root) throw new Error('there is no element')
  return root
}

/** Returns the namespaces by their prefixes within an element. */
function scopeIn(
  outer: ReadonlyMap<string, string>,
  written: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const own = [...written].filter(([name]) => name === 'xmlns' || name.startsWith('xmlns:'))
  return own.length === 0 ? outer : new Map([...outer, ...own.map(([name, uri]) => [name.slice(6), uri] as const)])
}

/** Returns the first element of this name below an element, or that element itself. */
export function found(element: Element | undefined, name: string): Element | undefined {
  if (!element || element.name === name) return element
  for (const child of element.children) {
    const inner = found(child, name)
    if (inner) return inner
  }
  return undefined
}

/** Returns all elements of this name below an element, outermost alone. */
export function foundAll(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => (child.name === name ? [child] : foundAll(child, name)))
}
