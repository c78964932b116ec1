import { xmlEvents } from '../../platform/index.ts'

type Listed = { readonly href: string; readonly size: string; readonly isFolder: boolean }

/** Returns the files of an answer to PROPFIND: the last part of each path with its size. Unreadable XML lists nothing. */
export function filesIn(xml: string): Map<string, number> {
  const files = new Map<string, number>()
  try {
    for (const { href, size } of listedIn(xml)) {
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
 * which the answer lists too. Throws an Error when the answer is no XML, or too large to be a list.
 */
export function entriesIn(xml: string, path: string): string[] {
  const own = decodeURIComponent(path).replace(/\/+$/, '')
  const entries: string[] = []
  for (const { href, isFolder } of listedIn(xml)) {
    const found = decodeURIComponent(href.replace(/^https?:\/\/[^/]+/, '')).replace(/\/+$/, '')
    if (found === own || found === '') continue
    const name = found.slice(found.lastIndexOf('/') + 1)
    entries.push(isFolder ? `${name}/` : name)
  }
  return entries
}

/** Yields each `response` of an answer, with the first address and the first size in it. */
function* listedIn(xml: string): Generator<Listed, void> {
  let href: string | undefined
  let size: string | undefined
  let isFolder = false
  for (const event of xmlEvents(xml)) {
    if (event.kind === 'open') {
      if (event.name === 'response') [href, size, isFolder] = [undefined, undefined, false]
      else if (event.name === 'collection') isFolder = true
    } else if (event.name === 'href') href ??= event.text.trim()
    else if (event.name === 'getcontentlength') size ??= event.text.trim()
    else if (event.name === 'response') yield { href: href ?? '', size: size ?? '', isFolder }
  }
}

/** An answer about one folder has some hundred bytes. */
const longestFacts = 16 * 1024
const longestProperty = 128

/**
 * Returns the text of a property, of the first one that the answer to a PROPFIND of depth 0 names. Undefined without one, and when
 * the answer or the text is too long to be one.
 */
export function propertyIn(xml: string, name: string): string | undefined {
  if (xml.length > longestFacts) return undefined
  try {
    let found: string | undefined
    for (const event of xmlEvents(xml)) {
      if (event.kind === 'close' && event.name === name) found ??= event.text.trim()
    }
    return found === '' || (found?.length ?? 0) > longestProperty ? undefined : found
  } catch {
    return undefined
  }
}
