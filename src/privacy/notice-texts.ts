import type { PageLanguage } from '../http/index.ts'

const english = {
  title: 'Video surveillance',
  camera: 'Camera',
  rows: {
    who: 'Responsible',
    why: 'Purpose',
    legalBasis: 'Legal basis',
    when: 'When',
    howLong: 'Kept for',
    sound: 'Sound',
    whom: 'Questions',
    rights: 'Your rights',
  },
  purposeKey: 'purpose of the camera',
  notStated: (key: string) => `Not stated yet. The administrator has to set “${key}” in the configuration.`,
  /** `day` as YYYY-MM-DD. */
  issued: (day: string, camera: number) => `Issued ${day} · camera ${camera}`,
  always: 'Day and night',
  /** `hours` as the config has them, such as `Mo-Fr 06:00-22:00`. */
  hours: (hours: string) => hours,
  allTheTime: 'pictures are recorded all the time',
  onMotion: 'pictures are recorded when something moves',
  onMotionAndEvents: 'pictures are recorded when something moves, and when goods in front of it are booked',
  keptDays: (days: number) =>
    days === 0
      ? 'Recordings are deleted at once'
      : `Recordings are deleted after ${days === 1 ? '1 day' : `${days} days`} at the latest`,
  longer: 'longer only while they are needed to clear up an incident.',
  copies: (host: string) =>
    `Copies are stored at ${host}; they are not deleted by this system: ask how long they stay there.`,
  sound: 'No sound is recorded.',
  rights:
    'You can ask to see the recordings of you, to have them erased, or to restrict their use. You can object to the recording, and complain to a data protection authority.',
}

/** The days that German writes otherwise than the config. */
const days: Readonly<Record<string, string>> = { Tu: 'Di', We: 'Mi', Th: 'Do', Su: 'So' }

const german: typeof english = {
  title: 'Videoüberwachung',
  camera: 'Kamera',
  rows: {
    who: 'Verantwortlich',
    why: 'Zweck',
    legalBasis: 'Rechtsgrundlage',
    when: 'Wann',
    howLong: 'Speicherdauer',
    sound: 'Ton',
    whom: 'Fragen',
    rights: 'Ihre Rechte',
  },
  purposeKey: 'purpose der Kamera',
  notStated: (key) => `Noch nicht angegeben. Die Verwaltung muss „${key}“ in der Konfiguration setzen.`,
  issued: (day, camera) => `Stand ${day.split('-').toReversed().join('.')} · Kamera ${camera}`,
  always: 'Tag und Nacht',
  hours: (hours) => hours.replace(/\b(Tu|We|Th|Su)\b/g, (name) => days[name] ?? name),
  allTheTime: 'Bilder werden ständig aufgezeichnet',
  onMotion: 'Bilder werden aufgezeichnet, wenn sich etwas bewegt',
  onMotionAndEvents: 'Bilder werden aufgezeichnet, wenn sich etwas bewegt und wenn Ware davor gebucht wird',
  keptDays: (n) =>
    n === 0
      ? 'Aufzeichnungen werden sofort gelöscht'
      : `Aufzeichnungen werden spätestens nach ${n === 1 ? '1 Tag' : `${n} Tagen`} gelöscht`,
  longer: 'länger bleiben sie nur, solange sie gebraucht werden, um einen Vorfall zu klären.',
  copies: (host) =>
    `Kopien liegen auf ${host}; dieses System löscht sie dort nicht: Fragen Sie, wie lange sie dort bleiben.`,
  sound: 'Es wird kein Ton aufgezeichnet.',
  rights:
    'Sie können Auskunft über Aufnahmen von Ihnen verlangen, ihre Löschung oder eingeschränkte Verarbeitung. Sie können der Aufzeichnung widersprechen und sich bei einer Datenschutzaufsicht beschweren.',
}

/** The texts of the sign for the door. */
export const noticeTexts: Readonly<Record<PageLanguage, typeof english>> = { en: english, de: german }
