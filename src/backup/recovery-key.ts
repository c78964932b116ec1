import { join } from 'node:path'
import { bech32 } from '@scure/base'
import { keyFolder } from '../evidence/index.ts'
import { modulesOf, quietModules } from '../labels/index.ts'
import { loadBoxKey, type RandomBytes, styleCode, terminalStyles } from '../platform/index.ts'

/** Human-readable part of an age identity (c2sp.org/age). */
const identity = 'age-secret-key-'
/** Lines that gatehouse printed before its copies were age files begin with this. */
const olderPrefix = 'gatehouse-recovery-1:'
/** Its name below the folder of keys. */
export const recoveryKeyFile = 'recovery.key'

/** Reads the recovery key of a data folder, or makes it (32 bytes, mode 0600). Throws when the file holds something else. */
export function loadRecoveryKey(dataDir: string, random: RandomBytes): Buffer {
  return loadBoxKey(join(keyFolder(dataDir), recoveryKeyFile), random)
}

/** Returns the line that people keep: an age identity, `AGE-SECRET-KEY-1…`, so that `age -d -i` opens the copies too. */
export function recoveryLine(key: Uint8Array): string {
  return bech32.encodeFromBytes(identity, key).toUpperCase()
}

/** Reads the line that people keep, with comments as age-keygen writes them; undefined when a text has no such line. */
export function readRecoveryLine(text: string): Buffer | undefined {
  const [line = '', ...more] = text.split('\n').flatMap((one) => (/^\s*(#|$)/.test(one) ? [] : one.trim()))
  const key = more.length > 0 ? undefined : line.startsWith(olderPrefix) ? olderKey(line) : identityKey(line)
  return key?.length === 32 ? key : undefined
}

function identityKey(line: string): Buffer | undefined {
  const read = bech32.decodeUnsafe(line)
  const bytes = read?.prefix === identity && bech32.fromWordsUnsafe(read.words)
  return bytes ? Buffer.from(bytes) : undefined
}

function olderKey(line: string): Buffer | undefined {
  const text = line.slice(olderPrefix.length)
  const key = Buffer.from(text, 'base64url')
  return key.toString('base64url') === text ? key : undefined
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
