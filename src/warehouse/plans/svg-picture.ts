import { parseXml, XmlElement, type XmlNode, XmlProcessingInstruction, XmlText } from '@rgrove/parse-xml'

const svgNamespace = 'http://www.w3.org/2000/svg'
/** Elements that run, move, load or are not a picture; names without their prefix, in lower case. */
const refusedElements = new Set(
  `script handler listener foreignobject iframe frame object embed applet audio video canvas html body form input button a
   animate animatemotion animatetransform animatecolor set discard link base meta`.split(/\s+/),
)
const loads = new Set(['href', 'src', 'action', 'data', 'srcdoc', 'base'])
const ownPicture = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=\s]*$/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

type Size = { readonly width: number; readonly height: number }

/**
 * Reads a drawing that does nothing but show itself: no script, no motion, nothing from elsewhere. Returns its size; or its fault,
 * in words that follow "The SVG"; 'is none' when it is something else. Pure.
 */
export function readSvg(bytes: Uint8Array): Size | string {
  try {
    const text = utf8.decode(bytes)
    if (!/<(\w+:)?svg[\s>]/.test(text)) return 'is none'
    // Browsers would follow what is declared there; entities and default attributes can hide anything.
    if (/<!DOCTYPE[^>[]*\[/i.test(text)) return 'declares entities in its DOCTYPE; store it without'
    const document = parseXml(text)
    const { root } = document
    if (!root || localName(root.name) !== 'svg' || namespaceOf(root) !== svgNamespace) return 'is none'
    if (document.children.some((node) => node instanceof XmlProcessingInstruction)) return 'has a style sheet elsewhere'
    return faultIn(root) ?? sizeOf(root)
  } catch (error) {
    return `cannot be read: ${error instanceof RangeError ? 'it is nested too deep' : 'it is not XML in UTF-8'}`
  }
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase()

function namespaceOf({ name, attributes }: XmlElement): string | undefined {
  const colon = name.indexOf(':')
  return attributes[colon < 0 ? 'xmlns' : `xmlns:${name.slice(0, colon)}`]
}

function faultIn(element: XmlElement): string | undefined {
  const name = localName(element.name)
  if (refusedElements.has(name)) return `contains <${element.name}>; a plan is a picture alone`
  for (const [key, value] of Object.entries(element.attributes)) {
    const fault = faultOf(key, value)
    if (fault !== undefined) return fault
  }
  for (const node of element.children) {
    const fault = node instanceof XmlElement ? faultIn(node) : faultOfNode(node, name)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOf(key: string, value: string): string | undefined {
  const name = localName(key)
  if (name.startsWith('on')) return `has the attribute ${key}; a plan runs nothing`
  // Under another name, markup of pages would be markup of pages all the same.
  if ((key === 'xmlns' || key.startsWith('xmlns:')) && /xhtml|MathML/i.test(value))
    return 'contains parts of a web page'
  if (key.startsWith('xmlns')) return undefined
  if (loads.has(name) && !value.trim().startsWith('#') && !ownPicture.test(value.trim()))
    return `loads something: ${key}. Store it with its pictures inside`
  return faultOfStyle(value)
}

function faultOfNode(node: XmlNode, parent: string): string | undefined {
  if (node instanceof XmlProcessingInstruction) return 'has a style sheet elsewhere'
  return parent === 'style' && node instanceof XmlText ? faultOfStyle(node.text) : undefined
}

/** CSS can spell any letter with a backslash, so none is taken where it matters. */
function faultOfStyle(css: string): string | undefined {
  if (/@import|javascript:|expression\s*\(|image-set|\\/i.test(css)) return 'loads something from its styles'
  for (const [, target = ''] of css.matchAll(/url\(\s*['"]?([^)'"]*)/gi))
    if (!target.startsWith('#') && !ownPicture.test(target)) return 'loads something from its styles'
  return undefined
}

function sizeOf({ attributes }: XmlElement): Size | string {
  const [, , across, down] = (attributes['viewBox'] ?? '').trim().split(/[\s,]+/)
  const size = {
    width: lengthOf(across) ?? lengthOf(attributes['width']),
    height: lengthOf(down) ?? lengthOf(attributes['height']),
  }
  const { width, height } = size
  if (width === undefined || height === undefined) return 'does not say how large it is: it has no viewBox'
  // A drawing has no pixels, only a shape.
  const by = 1000 / Math.max(width, height)
  return { width: width * by, height: height * by }
}

function lengthOf(text: string | undefined): number | undefined {
  const [, number] = /^(\d+(?:\.\d+)?)(px|pt|mm|cm|in|pc)?$/.exec(text ?? '') ?? []
  const length = Number(number)
  return length > 0 ? length : undefined
}
