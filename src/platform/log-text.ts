import { oneLine } from './terminal.ts'

/** Keys with a fixed place in the line. */
const shown = new Set(['level', 'time', 'name', 'msg', 'err'])
const longestValue = 500

/**
 * Returns a log line for people, made from the JSON line: time (UTC), level, message, then the facts as name=value; the
 * reasons of an error follow on separate lines. Text that is not JSON is returned unchanged. No fact can begin a line or
 * control a terminal.
 */
export function textLine(json: string): string {
  const line = parse(json)
  if (!line) return json
  const { level, time, name, msg, err } = line
  const others = Object.entries(line).filter(([key, value]) => !shown.has(key) && value !== undefined && value !== null)
  const blocks = others.filter(([, value]) => isBlock(value)).map(([, value]) => String(value))
  const facts = others.filter(([, value]) => !isBlock(value)).map(([key, value]) => `${key}=${valueText(value)}`)
  const when = typeof time === 'string' ? time.replace('T', ' ') : ''
  const head = [
    when,
    String(level ?? '')
      .toUpperCase()
      .padEnd(5),
    oneLine(String(msg ?? '')),
  ]
  const from = typeof name === 'string' ? [`[${name}]`] : []
  return `${[...head, ...from, ...facts].filter((part) => part !== '').join(' ')}\n${[...blocks, ...errorText(err, level)].map(indented).join('')}`
}

/** The priorities of syslog, which journald reads from `<N>` at the start of a line. */
const priorities: Readonly<Record<string, number>> = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7, trace: 7 }

/** Returns a log line for journald: as text, each of its lines with its priority, without the time, which journald knows. */
export function journalLines(json: string): string {
  const entry = journalMessage(json)
  return entry ? `${entry.text}\n`.replace(/^(?=.)/gm, `<${entry.priority}>`) : json
}

/** Returns text, priority and facts of a log line for journald, without the time, which it knows; undefined: the text is not JSON. */
export function journalMessage(json: string) {
  const line = parse(json)
  if (!line) return undefined
  const { level, time: _, name, msg: __, ...facts } = line
  const text = textLine(JSON.stringify({ ...line, time: undefined })).trimEnd()
  return { text, priority: priorities[String(level)] ?? priorities['info'], facts: { ...facts, thread: name } }
}

function parse(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const safe = typeof value === 'string' && !/^[\w./:@+,()[\]*-]+$/.test(text) ? JSON.stringify(text) : text
  return oneLine(safe.length > longestValue ? `${safe.slice(0, longestValue)} …` : safe)
}

/** Returns the stack for level error and fatal, otherwise the message. */
function errorText(err: unknown, level: unknown): string[] {
  if (typeof err !== 'object' || err === null) return []
  const { message, stack } = { message: '', stack: '', ...err } as { message: unknown; stack: unknown }
  const isSevere = level === 'error' || level === 'fatal'
  const text = isSevere && typeof stack === 'string' && stack !== '' ? stack : message
  return [String(text)]
}

/** Returns whether a value has several lines, such as a list of problems. */
const isBlock = (value: unknown) => typeof value === 'string' && value.includes('\n')

function indented(text: string): string {
  const lines = text.split('\n').filter((one) => one.trim() !== '')
  return lines.map((one) => `    ${oneLine(one)}\n`).join('')
}
