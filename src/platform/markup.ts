/** Returns text as it must be in HTML or XML, also inside of a quoted attribute. */
export function escapedMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
}
