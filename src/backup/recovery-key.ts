import { join } from 'node:path'
import { keyFolder } from '../evidence/index.ts'
import { modulesOf, quietModules } from '../labels/index.ts'
import { loadBoxKey, type RandomBytes, styleCode, terminalStyles } from '../platform/index.ts'

const prefix = 'gatehouse-recovery-1:'
/** Its name below the folder of keys. */
export const recoveryKeyFile = 'recovery.key'

/** Reads the recovery key of a data folder, or makes it (32 bytes, mode 0600). Throws when the file holds something else. */
export function loadRecoveryKey(dataDir: string, random: RandomBytes): Buffer {
  return loadBoxKey(join(keyFolder(dataDir), recoveryKeyFile), random)
}

/** Returns the line that people keep: `gatehouse-recovery-1:` and the key in base64url without padding. */
export function recoveryLine(key: Uint8Array): string {
  return `${prefix}${Buffer.from(key).toString('base64url')}`
}

/** Reads the line that people keep; undefined when a text is not one. */
export function readRecoveryLine(text: string): Buffer | undefined {
  const line = text.trim()
  const key = Buffer.from(line.startsWith(prefix) ? line.slice(prefix.length) : '', 'base64url')
  return key.length === 32 && recoveryLine(key) === line ? key : undefined
}

const inverted = { begin: styleCode(terminalStyles.inverted), end: styleCode(terminalStyles.end) }

/** Draws a text as a QR code for a terminal: two modules a character, black on white whatever the colors of the terminal. */
export function terminalQr(text: string): string {
  const modules = modulesOf({ symbology: 'qr', text })
  if (modules.form !== 'matrix') throw new Error('a QR code is a matrix')
  const { cells, across } = modules
  const quiet = quietModules('qr')
  const isDark = (x: number, y: number) =>
    x >= 0 && y >= 0 && x < across && y < across && cells[y * across + x] === true
  const lines: string[] = []
  for (let y = -quiet; y < across + quiet; y += 2) {
    let line = ''
    for (let x = -quiet; x < across + quiet; x++) line += halves(isDark(x, y), isDark(x, y + 1))
    lines.push(`${inverted.begin}${line}${inverted.end}\n`)
  }
  return lines.join('')
}

function halves(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
