import { isoTime } from '../platform/index.ts'

/** What the config says of a camera and of who is responsible for it. */
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
  /** Whether it looks at slots, and so films what is booked there. */
  readonly filmsEvents: boolean
  /** The storage server that gets copies of its clips, with its port; null: none does. */
  readonly copiesAt: string | null
  readonly issuedAtMs: number
}

/** What people in front of a camera have to know, in plain words (GDPR, Article 13, first layer). */
export type Notice = {
  readonly cctvId: number
  readonly camera: string
  readonly site: string
  /** Who is responsible; null: the config does not say. */
  readonly who: string | null
  readonly why: string | null
  readonly legalBasis: string | null
  readonly when: string
  readonly howLong: string
  readonly retentionDays: number
  /** Whom to ask. */
  readonly whom: string | null
  readonly sound: string
  readonly rights: string
  readonly issuedAt: string
  /** Config keys that the notice needs and that are not set. */
  readonly missing: readonly string[]
}

const sound = 'No sound is recorded.'
const rights =
  'You can ask to see what was recorded of you, to have it erased or its use restricted, you can object to the recording, and you can complain to a data protection authority.'

/** Makes the notice of a camera. */
export function noticeOf(facts: NoticeFacts): Notice {
  const { cctvId, camera, site, controller, contact, legalBasis, purpose, retentionDays } = facts
  const missing = [
    ...(controller === null ? ['privacy.controller'] : []),
    ...(contact === null ? ['privacy.contact'] : []),
    ...(purpose === null ? [`cameras[id=${cctvId}].purpose`] : []),
  ]
  return {
    ...{ cctvId, camera, site, who: controller, why: purpose, legalBasis, whom: contact },
    when: whenWords(facts),
    howLong: howLongWords(facts),
    ...{ retentionDays, sound, rights, issuedAt: isoTime(facts.issuedAtMs), missing },
  }
}

function whenWords({ hours, timezone, continuousHours, filmsEvents }: NoticeFacts): string {
  const zone = timezone === null ? '' : ` (${timezone})`
  const time = hours.length === 0 ? 'Day and night' : `${hours.join(', ')}${zone}`
  const moments = filmsEvents
    ? 'when something moves, and when goods in front of it are booked'
    : 'when something moves'
  const what = continuousHours > 0 ? 'all the time' : moments
  return `${time}; pictures are recorded ${what}.`
}

/** Continuous video stays for its hours, whatever the age at which clips go. Copies elsewhere are out of the gateway's reach. */
function howLongWords({ retentionDays, continuousHours, copiesAt }: NoticeFacts): string {
  const days = Math.max(retentionDays, Math.ceil(continuousHours / 24))
  const time = days === 1 ? '1 day' : `${days} days`
  const kept = days === 0 ? 'Recordings are deleted at once' : `Recordings are deleted after ${time} at the latest`
  const here = `${kept}; longer only while they are needed to clear up an incident.`
  if (copiesAt === null) return here
  return `${here} Copies are stored at ${copiesAt}; they are not deleted by this system: ask how long they stay there.`
}
