import { fstatSync } from 'node:fs'
import { destination, type Logger, pino } from 'pino'
import { journalLines, textLine } from './log-text.ts'

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
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1***@')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 ***')
    .replace(/([?&](?:token|secret|password|signature|signed|key)=)[^&\s"]+/gi, '$1***')
}

/** `json`: one object a line, for programs. `text`: for people. `journal`: text with the priority of each line in front. */
export const logFormats = ['text', 'json', 'journal'] as const
export type LogFormat = (typeof logFormats)[number]

export type LogOptions = {
  readonly level?: string
  /** Default: 2, stderr. */
  readonly fd?: number
  /** Takes the lines in place of `fd`. */
  readonly write?: (line: string) => void
  readonly name?: string
  /** Default: json. */
  readonly format?: LogFormat
}

/** Returns a logger to stderr: secrets are removed by key and from every text, errors have their causes, in both formats. */
export function createLogger(options: LogOptions = {}): Logger {
  const { write, format = 'json' } = options
  return pino(
    {
      level: options.level ?? 'info',
      base: options.name ? { name: options.name } : {},
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((k) => [k, `*.${k}`, `*.*.${k}`]), censor: '***' },
      hooks: { streamWrite: (line) => writers[format](scrubText(line)) },
    },
    write ? { write } : destination({ fd: options.fd ?? 2, sync: true }),
  )
}

const writers: Record<LogFormat, (line: string) => string> = {
  text: textLine,
  json: (line) => line,
  journal: journalLines,
}

/** Whether stderr goes to the journal: systemd names device and inode of the stream that it gave to this service. */
export function isJournal(env: Record<string, string | undefined> = process.env, fd = 2): boolean {
  const { dev, ino } = fstatSync(fd)
  return env['JOURNAL_STREAM'] === `${dev}:${ino}`
}

/** Returns a logger that writes nothing, for tests and commands. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}
