import { parseXml, XmlElement } from '@rgrove/parse-xml'

/** Returns the files of an answer to PROPFIND: the last part of each path with its size. Unreadable XML lists nothing. */
export function filesIn(xml: string): Map<string, number> {
  const files = new Map<string, number>()
  try {
    const root = parseXml(xml).root
    for (const response of root ? inside(root, 'response') : []) {
      const href = inside(response, 'href')[0]?.text.trim() ?? ''
      const size = inside(response, 'getcontentlength')[0]?.text.trim() ?? ''
      const name = decodeURIComponent(href.split('/').at(-1) ?? '')
      if (name !== '' && /^\d{1,15}$/.test(size)) files.set(name, Number(size))
    }
  } catch {
    return new Map()
  }
  return files
}

/**
 * Returns the names of files and folders in a folder; a folder's name ends with a slash. Leaves out `path`, the folder itself,
 * which the answer lists too. Throws an Error when the answer is no XML.
 */
export function entriesIn(xml: string, path: string): string[] {
  const root = parseXml(xml).root
  const own = decodeURIComponent(path).replace(/\/+$/, '')
  return (root ? inside(root, 'response') : []).flatMap((response) => {
    const href = inside(response, 'href')[0]?.text.trim() ?? ''
    const found = decodeURIComponent(href.replace(/^https?:\/\/[^/]+/, '')).replace(/\/+$/, '')
    if (found === own || found === '') return []
    const name = found.slice(found.lastIndexOf('/') + 1)
    return [inside(response, 'collection').length > 0 ? `${name}/` : name]
  })
}

/** An answer about one folder has some hundred bytes; a hostile one of 1 MiB would take the thread for seconds. */
const longestFacts = 16 * 1024
const longestProperty = 128

/**
 * Returns the text of a property, of the first one that the answer to a PROPFIND of depth 0 names. Undefined without one, and when
 * the answer or the text is too long to be one.
 */
export function propertyIn(xml: string, name: string): string | undefined {
  if (xml.length > longestFacts) return undefined
  try {
    const root = parseXml(xml).root
    const text = root ? inside(root, name)[0]?.text.trim() : undefined
    return text === '' || (text?.length ?? 0) > longestProperty ? undefined : text
  } catch {
    return undefined
  }
}

/** Elements of this name at any depth; servers choose the prefixes of the namespace DAV: themselves. */
function inside(element: XmlElement, name: string): XmlElement[] {
  return element.children.flatMap((child) => {
    if (!(child instanceof XmlElement)) return []
    return child.name.replace(/^.*:/, '') === name ? [child] : inside(child, name)
  })
}
