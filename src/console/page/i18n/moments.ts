import { inLanguage, locale } from './language.ts'
import { formatted } from './words.ts'

/** Returns day and time of day in the hall's zone, in the language of the page. */
export function moment(iso: string | null | undefined, timeZone: string | undefined): string {
  const ms = Date.parse(iso ?? '')
  if (!Number.isFinite(ms)) return ''
  return formatted(
    ms,
    timeZone,
    { day: '2-digit', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    locale,
  )
}

const english = { day: (n: number) => `${n} d`, none: 'less than a minute' }
const german: typeof english = { day: (n) => `${n} Tg.`, none: 'weniger als eine Minute' }
const words = inLanguage({ en: english, de: german })

/** Returns a span in its two largest units, such as "2 h 10 min". */
export function lasting(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return words.none
  const parts = { day: Math.floor(minutes / 1440), h: Math.floor((minutes % 1440) / 60), min: minutes % 60 }
  if (parts.day > 0) return parts.h > 0 ? `${words.day(parts.day)} ${parts.h} h` : words.day(parts.day)
  if (parts.h > 0) return parts.min > 0 ? `${parts.h} h ${parts.min} min` : `${parts.h} h`
  return `${parts.min} min`
}
