import { type CodeSymbol, isLinear, type Modules, modulesOf, quietModules } from './symbol.ts'

/** The content of a label: a large line, smaller lines, and one code. */
export type LabelContent = {
  readonly title: string
  readonly lines: readonly string[]
  /** Text of the code for people; under a linear one. */
  readonly readable: string
  /** Ways to write the code, the preferred first. */
  readonly symbols: readonly CodeSymbol[]
}

/** Millimetres of the paper, and how finely it is printed. */
export type Paper = { readonly widthMm: number; readonly heightMm: number; readonly dpi: number }

/** Dots from the upper left corner. `size` is the height of a line. */
export type PlacedText = { readonly x: number; readonly y: number; readonly size: number; readonly text: string }
export type PlacedSymbol = {
  readonly symbol: CodeSymbol
  readonly modules: Modules
  /** Place of the first dark module, without the quiet zone. */
  readonly x: number
  readonly y: number
  readonly height: number
  readonly moduleDots: number
}
export type Layout = {
  readonly paper: Paper
  readonly width: number
  readonly height: number
  readonly texts: readonly PlacedText[]
  readonly symbol: PlacedSymbol
}

/** Narrower bars are not reliable with a worn print head and a hand-held reader. */
const leastModuleMm = 0.24
/** Dots; a character of the printers' font is not wider than this part of its height. */
const widestCharacter = 0.62
const smallestTextMm = 2

/** Returns the places of text and code in dots; undefined when no code fits on the paper. Pure. */
export function layOut(content: LabelContent, paper: Paper): Layout | undefined {
  const dots = (mm: number) => Math.round((mm * paper.dpi) / 25.4)
  const page = { width: dots(paper.widthMm), height: dots(paper.heightMm) }
  const margin = dots(Math.min(3, paper.heightMm / 10))
  for (const symbol of content.symbols) {
    const modules = fitting(symbol)
    if (!modules) continue
    const arranged = (isLinear(symbol.symbology) ? besideNothing : besideText)(
      content,
      symbol,
      modules,
      page,
      margin,
      dots,
    )
    if (arranged) return { paper, ...page, ...arranged }
  }
  return undefined
}

function fitting(symbol: CodeSymbol): Modules | undefined {
  try {
    return modulesOf(symbol)
  } catch {
    return undefined // more than the largest symbol of its kind holds
  }
}

type Page = { readonly width: number; readonly height: number }
type Dots = (mm: number) => number

/** A linear code takes the whole width, under the text. */
function besideNothing(
  content: LabelContent,
  symbol: CodeSymbol,
  modules: Modules,
  page: Page,
  margin: number,
  dots: Dots,
) {
  const inner = { x: margin, y: margin, width: page.width - 2 * margin, height: page.height - 2 * margin }
  const moduleDots = Math.floor(inner.width / (modules.across + 2 * quietModules(symbol.symbology)))
  if (moduleDots < Math.max(1, Math.round(dots(leastModuleMm * 100) / 100))) return undefined
  const height = Math.floor(inner.height * 0.38)
  const readable = fitText(content.readable, inner.width, dots(3.5), dots(smallestTextMm))
  const y = page.height - margin - height - readable.size
  const above = { ...inner, height: y - margin }
  if (height < dots(3)) return undefined
  return {
    texts: [...stack([content.title, ...content.lines], above, dots), { x: margin, y: y + height, ...readable }],
    symbol: { symbol, modules, x: Math.floor((page.width - modules.across * moduleDots) / 2), y, height, moduleDots },
  }
}

/** A square code is on the left, the text to the right of it. */
function besideText(
  content: LabelContent,
  symbol: CodeSymbol,
  modules: Modules,
  page: Page,
  margin: number,
  dots: Dots,
) {
  const side = Math.min(page.height - 2 * margin, Math.floor((page.width - 3 * margin) * 0.5))
  const quiet = quietModules(symbol.symbology)
  const moduleDots = Math.floor(side / (modules.across + 2 * quiet))
  if (moduleDots < Math.max(1, Math.round(dots(leastModuleMm * 100) / 100))) return undefined
  const height = modules.across * moduleDots
  const x = 2 * margin + side
  const beside = { x, y: margin, width: page.width - x - margin, height: page.height - 2 * margin }
  return {
    texts: stack([content.title, ...content.lines], beside, dots),
    symbol: {
      symbol,
      modules,
      x: margin + quiet * moduleDots,
      y: Math.floor((page.height - height) / 2),
      height,
      moduleDots,
    },
  }
}

/** Places the first line large and the others small, as many as there is room for. */
function stack(
  lines: readonly string[],
  box: { x: number; y: number; width: number; height: number },
  dots: Dots,
): PlacedText[] {
  const placed: PlacedText[] = []
  let y = box.y
  for (const [i, line] of lines.entries()) {
    const text = fitText(
      line,
      box.width,
      i === 0 ? Math.min(dots(12), Math.floor(box.height * 0.35)) : dots(3.5),
      dots(smallestTextMm),
    )
    if (y + text.size > box.y + box.height) break
    placed.push({ x: box.x, y, ...text })
    y += Math.ceil(text.size * 1.2)
  }
  return placed
}

/** Returns the largest size at which the text fits; text that would be too small is cut and ends with an ellipsis. */
function fitText(text: string, width: number, largest: number, smallest: number): { size: number; text: string } {
  const letters = [...text]
  const size = Math.min(largest, Math.floor(width / (widestCharacter * Math.max(letters.length, 1))))
  if (size >= smallest) return { size, text }
  const room = Math.max(1, Math.floor(width / (widestCharacter * smallest)) - 1)
  return { size: smallest, text: letters.length <= room ? text : `${letters.slice(0, room).join('')}…` }
}
