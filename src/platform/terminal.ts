/** The only codes that the program writes, by their parameters: four colors of `doctor`, black on white of QR codes, and the end of both. */
export const terminalStyles = { good: '32', bad: '31', hint: '33', strong: '1', inverted: '30;47', end: '0' } as const

const ownStyles = new Set<string>(Object.values(terminalStyles).map((style) => styleCode(style)))

/** Our styles, or one character that controls a terminal, ends a line for some of them, or turns the direction of the text. */
const controls = /\u001b\[[\d;]{1,8}m|[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Returns the code that switches a style on. */
export function styleCode(style: string): string {
  return `\u001b[${style}m`
}

/**
 * Returns a text that cannot control a terminal, whatever names from outside are in it. Escapes each such character as JSON does, so
 * an object in JSON keeps its meaning. Lines, tabs and our own styles remain.
 */
export function terminalText(text: string): string {
  return text.replace(controls, (found) => (ownStyles.has(found) ? found : escaped(found)))
}

/** Returns a text in one line that cannot control a terminal, for names within a line. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
}

/** Prints a result on stdout. */
export function print(text: string): void {
  process.stdout.write(terminalText(text))
}

/** Prints an error or a question on stderr. */
export function printError(text: string): void {
  process.stderr.write(terminalText(text))
}

/** A style that is not ours begins with its escape; the rest of it is plain text. */
function escaped([first = '', ...rest]: string): string {
  return `\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}${rest.join('')}`
}
