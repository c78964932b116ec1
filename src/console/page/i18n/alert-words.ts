import type { Alert } from '../data/shapes.ts'
import { alertTexts as texts } from './alert-texts.ts'
import { meaningOf as ofCamera } from './camera-words.ts'

type Words = { readonly means: string; readonly todo: string }

const known: Readonly<Record<string, readonly [string, string]>> = texts.kinds

/** Says what an alert means, and what to do about it. Pure. */
export function alertWords(kind: string): Words {
  const own = Object.hasOwn(known, kind) ? known[kind] : undefined
  if (own) return { means: own[0], todo: own[1] }
  if (kind.startsWith('camera.')) return ofCamera({ kind })
  return { means: texts.other[0], todo: texts.other[1] }
}

const tones = { critical: 'danger', warning: 'warn', info: 'ok' } as const

/** Returns the class of an alert. */
export const toneOf = (severity: Alert['severity']) => tones[severity]
