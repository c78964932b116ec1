import { fstatSync } from 'node:fs'
import { destination, type Logger, pino } from 'pino'
import { journalWriter } from './journal.ts'
import { journalLines, textLine } from './log-text.ts'
import { terminalText } from './terminal.ts'

export type { Logger } from 'pino'

/** Keys whose values are never logged, up to two levels deep. */
const secretKeys = [
  'authorization',
  'Authorization',
  'cookie',
  'secret',
  'password',
  'token',
  'secretHash',
  'passphrase',
]

/** `scheme://user:password@` and credential-like query values inside any text. */
export function scrubText(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@]+@/gi, '$1***@')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 ***')
    .replace(/([?&](?:token|secret|password|signature|signed|key)=)[^&\s"]+/gi, '$1***')
}

/** `json`: one object a line, for programs. `text`: for people. `journal`: for journald, with priority and fields. */
export const logFormats = ['text', 'json', 'journal'] as const
export type LogFormat = (typeof logFormats)[number]

export type LogOptions = {
  readonly level?: string
  /** Default: 2, stderr. */
  readonly fd?: number
  /** Takes the lines in place of `fd`, those for the journal as text. */
  readonly write?: (line: string) => void
  /** Where journald takes entries. Default: its usual socket, when stderr goes to the journal. */
  readonly journalSocket?: string
  readonly name?: string
  /** Default: json. */
  readonly format?: LogFormat
}

/** Returns a logger to stderr: secrets are removed by key and from every text, errors have their causes, in both formats. */
export function createLogger(options: LogOptions = {}): Logger {
  const { fd = 2, write, format = 'json', journalSocket } = options
  const hasFields = format === 'journal' && !write && (journalSocket !== undefined || isJournal(process.env, fd))
  return pino(
    {
      level: options.level ?? 'info',
      base: options.name ? { name: options.name } : {},
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((k) => [k, `*.${k}`, `*.*.${k}`]), censor: '***' },
      hooks: { streamWrite: (line) => (hasFields ? scrubText(line) : writers[format](scrubText(line))) },
    },
    write ? { write } : hasFields ? { write: journalWriter(fd, journalSocket) } : destination({ fd, sync: true }),
  )
}

const writers: Record<LogFormat, (line: string) => string> = {
  text: textLine,
  json: terminalText,
  journal: journalLines,
}

/** Returns whether stderr goes to the journal: systemd names device and inode of the stream that it gave to this service. */
export function isJournal(env: Record<string, string | undefined> = process.env, fd = 2): boolean {
  const { dev, ino } = fstatSync(fd)
  return env['JOURNAL_STREAM'] === `${dev}:${ino}`
}

/** Returns a logger that writes nothing, for tests and commands. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}
