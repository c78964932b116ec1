import { writeSync } from 'node:fs'
import { destination } from 'pino'
import { journalLines, journalMessage } from './log-text.ts'
import { unixDatagram } from './machine/unix-datagram.ts'

const usualSocket = '/run/systemd/journal/socket'
const longestValue = 2000

/**
 * Returns a function that writes log lines to journald, each as one entry. The entry has the text, the priority, and the facts as
 * fields, `cameraId` as `GATEHOUSE_CAMERA_ID`. A line that journald refuses goes to stderr as text with its priority, which
 * journald collects as well. Without journald every line does.
 *
 * The form of an entry: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
 */
export function journalWriter(stderr: number, path = usualSocket): (json: string) => void {
  const socket = reach(path)
  const asText = destination({ fd: stderr, sync: true })
  return (json) => {
    const entry = entryOf(json)
    if (!entry || socket === undefined || !isSent(socket, entry)) asText.write(journalLines(json))
  }
}

/** The native parts may be missing, and a log must not stop the gateway. */
function reach(path: string): number | undefined {
  try {
    return unixDatagram(path)
  } catch {
    return undefined
  }
}

/** False: its queue is full (EAGAIN), the entry is too long for a datagram (EMSGSIZE), or journald has gone. */
function isSent(socket: number, entry: Buffer): boolean {
  try {
    return writeSync(socket, entry) === entry.length
  } catch {
    return false
  }
}

function entryOf(json: string): Buffer | undefined {
  const message = journalMessage(json)
  if (!message) return undefined
  const { text, priority, facts } = message
  const fields: Buffer[] = [
    field('MESSAGE', text),
    field('PRIORITY', String(priority)),
    field('SYSLOG_IDENTIFIER', 'gatehouse'),
  ]
  for (const [key, value] of Object.entries(facts)) {
    if (!/^[a-zA-Z]\w{0,40}$/.test(key)) continue
    const name = `GATEHOUSE_${key.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()}`
    if (['string', 'number', 'boolean'].includes(typeof value))
      fields.push(field(name, String(value).slice(0, longestValue)))
  }
  return Buffer.concat(fields)
}

/** A value of several lines has its length in front, so that no line of it can pass for a field. */
function field(name: string, value: string): Buffer {
  if (!value.includes('\n')) return Buffer.from(`${name}=${value}\n`)
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.length))
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')])
}
