import { analyticsTexts as words } from '../../i18n/analytics-texts.ts'
import { cameraTexts } from '../../i18n/camera-texts.ts'
import type { DayDetection, Entry } from './entries.ts'

/** Returns what was found, in words. Pure. */
export function foundWords({ trigger, kinds }: Pick<DayDetection, 'trigger' | 'kinds'>): string {
  if (trigger === 'event') return cameraTexts.day.film
  const named = kinds.map((kind) => words.kinds[kind] ?? kind).join(', ')
  const what = named === '' ? cameraTexts.day.motion : named
  return trigger === 'camera' ? words.byCamera(what) : what
}

/** Returns the entries of one kind; all without one. Gaps stay: nothing is known of their time. Pure. */
export function ofKind(entries: readonly Entry[], kind: string): readonly Entry[] {
  if (kind === '') return entries
  return entries.filter((entry) => entry.kind === 'gap' || entry.detection.kinds.some((one) => one === kind))
}

type Props = { entries: readonly Entry[]; kind: string; onKind: (kind: string) => void }

/** The choice of a kind; nothing while the day has none. */
export const KindChoice = ({ entries, kind, onKind }: Props) => {
  const known = new Set(entries.flatMap((entry) => (entry.kind === 'detection' ? entry.detection.kinds : [])))
  if (known.size === 0 && kind === '') return null
  return (
    <label>
      {words.filter}{' '}
      <select value={kind} onChange={(event) => onKind(event.currentTarget.value)}>
        <option value="">{words.everything}</option>
        {[...new Set([...known, kind])]
          .filter((one) => one !== '')
          .map((one) => (
            <option key={one} value={one}>
              {words.kinds[one] ?? one}
            </option>
          ))}
      </select>
    </label>
  )
}
