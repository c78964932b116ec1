/** One command as a printer takes it: `FO`, `A0`, `FD` …, with the text behind it. */
export type ZplCommand = { readonly prefix: string; readonly name: string; readonly rest: string }

/** Reads commands as a printer does: one begins at every `^` or `~`, wherever that is. */
export function zplCommands(zpl: string): ZplCommand[] {
  const commands: ZplCommand[] = []
  for (const [, prefix = '', name = '', rest = ''] of zpl.matchAll(/([\^~])([A-Za-z@][A-Za-z0-9@]?)?([^^~]*)/g))
    commands.push({ prefix, name: name.toUpperCase(), rest: rest.replace(/\n$/, '') })
  return commands
}

/** The data of a field under ^FH\ as text. */
export function fieldData(rest: string): string {
  const bytes: number[] = []
  for (let at = 0; at < rest.length; at += 1) {
    const hex = rest[at] === '\\' ? rest.slice(at + 1).match(/^[0-9A-F]{2}/)?.[0] : undefined
    bytes.push(hex === undefined ? rest.charCodeAt(at) : Number.parseInt(hex, 16))
    if (hex !== undefined) at += 2
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes))
}

/**
 * Returns the text that a reader reads from the field of ^BC: FNC1 as GS. By the table of invocation codes in the
 * programming guide.
 */
export function code128Text(field: string): string {
  let set = 'B'
  let text = ''
  for (let at = 0; at < field.length; ) {
    if (field[at] === '>') {
      const code = field[at + 1] ?? ''
      const said: Record<string, string> = { '0': '>', '<': '^', '=': '~', '8': '\x1d' }
      if (code === ':' || code === '6') set = 'B'
      else if (code === ';' || code === '5') set = 'C'
      else if (code in said) text += said[code]
      else throw new Error(`>${code} is not expected in ${field}`)
      at += 2
      continue
    }
    const size = set === 'C' ? 2 : 1
    const part = field.slice(at, at + size)
    if (set === 'C' && !/^\d\d$/.test(part)) throw new Error(`${part} in set C of ${field}`)
    text += part
    at += size
  }
  return text
}
