import { countOf } from './counting.ts'
import { inLanguage } from './language.ts'

const english = {
  removed: (when: string, days: number) =>
    `The photo is gone for good. The gateway removed it on ${when}, because photos stay here for ${countOf(days, 'day')} after their upload.`,
  removedBecause: (why: string) => `The photo is gone for good: ${why}.`,
  lost: 'The photo is gone: the gateway does not have its file any more. An admin finds the reason in the log.',
}

const german: typeof english = {
  removed: (when, days) =>
    `Das Foto gibt es nicht mehr. Das Gateway hat es am ${when} entfernt, weil Fotos nach dem Hochladen ${countOf(days, 'Tag', 'Tage')} hier bleiben.`,
  removedBecause: (why) => `Das Foto gibt es nicht mehr: ${why}.`,
  lost: 'Das Foto ist weg: Das Gateway hat seine Datei nicht mehr. Den Grund findet ein Admin im Log.',
}

/** The texts about a photo that the gateway has no longer. */
export const photoTexts = inLanguage({ en: english, de: german })
