import type { Layout, PlacedSymbol, PlacedText } from './layout.ts'

/** Returns a label as an SVG in its true size. Text is escaped; characters that XML does not allow are replaced. */
export function toSvg({ paper, width, height, texts, symbol }: Layout): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${paper.widthMm}mm" height="${paper.heightMm}mm" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...texts.map(textElement),
    `<path fill="#000" shape-rendering="crispEdges" d="${darkParts(symbol)}"/>`,
    '</svg>',
    '',
  ].join('\n')
}

function textElement({ x, y, size, text }: PlacedText): string {
  const family = 'font-family="Arial, Helvetica, sans-serif"'
  return `<text x="${x}" y="${y + Math.round(size * 0.8)}" font-size="${size}" ${family}>${escaped(text)}</text>`
}

function darkParts({ modules, x, y, height, moduleDots: unit }: PlacedSymbol): string {
  const box = (left: number, top: number, width: number, tall: number) => `M${left} ${top}h${width}v${tall}h${-width}z`
  if (modules.form === 'bars') {
    let left = x
    return modules.widths
      .map((width, i) => {
        const bar = i % 2 === 0 ? box(left, y, width * unit, height) : ''
        left += width * unit
        return bar
      })
      .join('')
  }
  const { cells, across } = modules
  return cells
    .map((dark, i) => (dark ? box(x + (i % across) * unit, y + Math.floor(i / across) * unit, unit, unit) : ''))
    .join('')
}

function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
