import type { PageLanguage } from '../http/index.ts'
import { isoTime } from '../platform/index.ts'
import { noticeTexts } from './notice-texts.ts'

/** Facts of the config about a camera and its controller. */
export type NoticeFacts = {
  readonly cctvId: number
  readonly camera: string
  readonly site: string
  readonly controller: string | null
  readonly contact: string | null
  readonly legalBasis: string | null
  readonly purpose: string | null
  /** When it records, such as `Mo-Fr 06:00-22:00`; empty: always. */
  readonly hours: readonly string[]
  /** Time zone of these hours. */
  readonly timezone: string | null
  readonly retentionDays: number
  /** Hours of continuous video; 0: none is recorded. */
  readonly continuousHours: number
  /** Whether it watches slots, and so films their events. */
  readonly filmsEvents: boolean
  /** The storage server that gets copies of its clips, with its port; null: none does. */
  readonly copiesAt: string | null
  readonly issuedAtMs: number
}

/** Information for people in front of a camera, in plain words (GDPR, Article 13, first layer). */
export type Notice = {
  readonly cctvId: number
  readonly camera: string
  readonly site: string
  /** The controller; null: the config does not name one. */
  readonly who: string | null
  readonly why: string | null
  readonly legalBasis: string | null
  readonly when: string
  readonly howLong: string
  readonly retentionDays: number
  /** Contact for questions. */
  readonly whom: string | null
  readonly sound: string
  readonly rights: string
  readonly issuedAt: string
  /** Config keys that the notice needs and that are not set. */
  readonly missing: readonly string[]
}

/** Makes the notice of a camera. Texts of the config are used as they are written there. */
export function noticeOf(facts: NoticeFacts, language: PageLanguage): Notice {
  const { sound, rights } = noticeTexts[language]
  const { cctvId, camera, site, controller, contact, legalBasis, purpose, retentionDays } = facts
  const missing = [
    ...(controller === null ? ['privacy.controller'] : []),
    ...(contact === null ? ['privacy.contact'] : []),
    ...(purpose === null ? [`cameras[id=${cctvId}].purpose`] : []),
  ]
  return {
    cctvId,
    camera,
    site,
    who: controller,
    why: purpose,
    legalBasis,
    whom: contact,
    when: whenWords(facts, language),
    howLong: howLongWords(facts, language),
    retentionDays,
    sound,
    rights,
    issuedAt: isoTime(facts.issuedAtMs),
    missing,
  }
}

function whenWords({ hours, timezone, continuousHours, filmsEvents }: NoticeFacts, language: PageLanguage): string {
  const words = noticeTexts[language]
  const zone = timezone === null ? '' : ` (${timezone})`
  const time = hours.length === 0 ? words.always : `${words.hours(hours.join(', '))}${zone}`
  const moments = filmsEvents ? words.onMotionAndEvents : words.onMotion
  return `${time}; ${continuousHours > 0 ? words.allTheTime : moments}.`
}

/** Continuous video stays for its hours, whatever the age at which clips go. Copies elsewhere are out of the gateway's reach. */
function howLongWords({ retentionDays, continuousHours, copiesAt }: NoticeFacts, language: PageLanguage): string {
  const words = noticeTexts[language]
  const days = Math.max(retentionDays, Math.ceil(continuousHours / 24))
  const here = `${words.keptDays(days)}; ${words.longer}`
  return copiesAt === null ? here : `${here} ${words.copies(copiesAt)}`
}
