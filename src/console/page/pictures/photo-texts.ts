import { countOf } from '../i18n/counting.ts'
import { inLanguage } from '../i18n/language.ts'

const english = {
  gone: 'The photo is gone for good.',
  photo: (when: string, days: number) =>
    `The gateway removed it on ${when}, because photos stay here for ${countOf(days, 'day')} after their upload.`,
  film: (when: string, days: number) =>
    `The gateway removed it on ${when}, because films stay here for ${countOf(days, 'day')}.`,
  forRoom: (when: string) => `The gateway removed it on ${when}, because the disk was nearly full.`,
  byPolicy: (when: string, policy: string) => `The gateway removed it on ${when}, because of its age: ${policy}.`,
  lost: 'The photo is gone: the gateway does not have its file any more. An admin finds the reason in the log.',
  failed: 'The photo could not be loaded.',
  again: 'Load the photo again',
}

const german: typeof english = {
  gone: 'Das Foto gibt es nicht mehr.',
  photo: (when, days) =>
    `Das Gateway hat es am ${when} entfernt, weil Fotos nach dem Hochladen ${countOf(days, 'Tag', 'Tage')} hier bleiben.`,
  film: (when, days) =>
    `Das Gateway hat ihn am ${when} entfernt, weil Filme ${countOf(days, 'Tag', 'Tage')} hier bleiben.`,
  forRoom: (when) => `Das Gateway hat die Datei am ${when} entfernt, weil die Platte fast voll war.`,
  byPolicy: (when, policy) => `Das Gateway hat die Datei am ${when} wegen ihres Alters entfernt: ${policy}.`,
  lost: 'Das Foto ist weg: Das Gateway hat seine Datei nicht mehr. Den Grund findet ein Admin im Log.',
  failed: 'Das Foto konnte nicht geladen werden.',
  again: 'Foto neu laden',
}

/** The texts about photos and films that the gateway removed. */
export const photoTexts = inLanguage({ en: english, de: german })
