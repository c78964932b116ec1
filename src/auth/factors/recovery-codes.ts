import { createHash } from 'node:crypto'
import type { RandomBytes } from '../../platform/index.ts'
import { base32 } from './totp.ts'

const codes = 10
/** 80 random bits cannot be guessed, so the hash needs no slow function. */
const codeBytes = 10

/** Makes codes such as `ABCD-EFGH-IJKL-MNOP`, each for one sign-in. */
export const newRecoveryCodes = (random: RandomBytes): string[] =>
  Array.from({ length: codes }, () => base32(random(codeBytes)).replaceAll(/(.{4})(?=.)/g, '$1-'))

/** Returns the stored mark of a code, however it is typed: in lower case, with blanks or without hyphens. */
export const markOfRecoveryCode = (username: string, code: string): Buffer =>
  createHash('sha256')
    .update(`${username}\0${code.toUpperCase().replaceAll(/[^A-Z2-7]/g, '')}`)
    .digest()

export const isRecoveryCode = (code: string): boolean => code.replaceAll(/[^A-Za-z2-7]/g, '').length === 16
