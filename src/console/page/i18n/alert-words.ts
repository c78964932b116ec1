import { alertTexts as texts } from './alert-texts.ts'
import { meaningOf as ofCamera } from './camera-words.ts'

type Words = { readonly means: string; readonly todo: string; readonly tone: 'danger' | 'warn' | 'ok' }

const known: Readonly<Record<string, readonly [string, string]>> = texts.kinds
/** Nothing is recorded, or nothing recorded can be proved, until somebody acts. */
const worst = new Set([
  ...[
    'disk.reserve',
    'disk.full',
    'disk.failing',
    'disk.gone',
    'database.failing',
    'log.unsigned',
    'backup.unrestorable',
  ],
  ...['witness.ahead', 'witness.conflict', 'hub.ahead', 'upload.mismatch', 'upload.lost'],
])
/** Alerts that say that a trouble has ended. */
const ends = /\.(recovered|replaced|signed|synced|online|seeing|ended|accepted|cool|powered|unwatched)$/

/** Says what an alert means, what to do about it, and how bad it is. Pure. */
export function alertWords(kind: string): Words {
  const tone = ends.test(kind) ? 'ok' : worst.has(kind) ? 'danger' : 'warn'
  const own = Object.hasOwn(known, kind) ? known[kind] : undefined
  if (own) return { means: own[0], todo: own[1], tone }
  if (kind.startsWith('camera.')) return { ...ofCamera({ kind }), tone }
  return { means: texts.other[0], todo: texts.other[1], tone }
}
