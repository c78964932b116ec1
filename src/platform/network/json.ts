import { documentBounds } from './bounds.ts'

/**
 * Parses JSON from another machine. Returns undefined for what is no JSON, and for more elements or a deeper nesting than
 * `documentBounds` allows: it is counted before anything is built.
 */
export function outsideJson(text: string): unknown {
  if (!isWithinBounds(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isWithinBounds(text: string): boolean {
  let depth = 0
  let elements = 1
  let isString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (isString) {
      if (char === '\\') at += 1
      else if (char === '"') isString = false
      continue
    }
    if (char === '"') isString = true
    else if (char === ']' || char === '}') depth -= 1
    else if (char === '[' || char === '{' || char === ',') {
      elements += 1
      if (char !== ',') depth += 1
      if (depth > documentBounds.depth || elements > documentBounds.elements) return false
    }
  }
  return true
}
