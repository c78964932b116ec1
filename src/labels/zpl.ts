import { GS } from '../warehouse/index.ts'
import { code128Field } from './code128.ts'
import type { Layout, PlacedSymbol, PlacedText } from './layout.ts'
import type { CodeSymbol } from './symbol.ts'

/**
 * Returns a label in ZPL II. The only commands are those written here, whatever the data is. Letters, digits, space, dot and hyphen
 * of the data are written as they are; every other byte is `\` and two hex digits (^FH).
 */
export function toZpl({ width, height, texts, symbol }: Layout, copies: number): string {
  return [
    '^XA',
    '^CI28', // UTF-8
    `^PW${width}`,
    `^LL${height}`,
    '^LH0,0',
    ...texts.map(textField),
    symbolField(symbol),
    `^PQ${copies}`,
    '^XZ',
    '',
  ].join('\n')
}

function textField({ x, y, size, text }: PlacedText): string {
  return `^FO${x},${y}^A0N,${size},${size}^FH\\^FD${escaped(text)}^FS`
}

function symbolField({ symbol, x, y, height, moduleDots }: PlacedSymbol): string {
  const at = `^FO${x},${y}`
  return `${at}${command(symbol, height, moduleDots)}^FH\\^FD${escaped(fieldOf(symbol))}^FS`
}

function command({ symbology }: CodeSymbol, height: number, moduleDots: number): string {
  switch (symbology) {
    case 'code128':
    case 'gs1-128':
      return `^BY${moduleDots}^BCN,${height},N,N,N,N`
    case 'qr':
      return `^BQN,2,${moduleDots}`
    case 'datamatrix':
    case 'gs1-datamatrix':
      // The last parameter is the mark of FNC1 and of characters by their number.
      return `^BXN,${moduleDots},200,,,,_`
  }
}

function fieldOf(symbol: CodeSymbol): string {
  switch (symbol.symbology) {
    case 'code128':
    case 'gs1-128':
      return code128Field(symbol)
    case 'qr':
      return `MA,${symbol.text}`
    case 'datamatrix':
      return matrixText(symbol.text)
    case 'gs1-datamatrix':
      return `_1${matrixText(symbol.text)}`
  }
}

/** `_` is the mark of the field, so one in the data is written by its number; FNC1 is `_1`. */
const matrixText = (text: string) => text.replaceAll('_', '_d095').replaceAll(GS, '_1')

function escaped(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9 .-]/.test(character) ? character : `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
