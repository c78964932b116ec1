import { inLanguage } from '../i18n/language.ts'

const english = {
  heading: 'Messages in this browser',
  help: 'This browser shows alerts of the cameras that you see, and other alerts if you may read them.',
  none: 'The config has no channel with webPush.',
  cannot:
    'This browser cannot show messages. They need HTTPS with a trusted certificate, and on an iPhone the page on the home screen.',
  start: 'Get messages here',
  stop: 'Stop messages here',
  started: 'Messages arrive in this browser.',
  stopped: 'Messages have ended in this browser.',
  denied: 'The browser does not allow messages. Allow them in its settings',
  own: (n: number) => `Browsers of yours with messages: ${n}.`,
  since: (when: string) => `since ${when}`,
  remove: 'Remove',
  removed: 'Removed.',
}
const german: typeof english = {
  heading: 'Nachrichten in diesem Browser',
  help: 'Dieser Browser zeigt Meldungen der Kameras, die Sie sehen, und andere Meldungen, wenn Sie sie lesen dürfen.',
  none: 'Die Config hat keinen Kanal mit webPush.',
  cannot:
    'Dieser Browser kann keine Nachrichten zeigen. Nötig ist HTTPS mit einem Zertifikat, dem er traut, auf einem iPhone die Seite auf dem Startbildschirm.',
  start: 'Nachrichten hier empfangen',
  stop: 'Nachrichten hier beenden',
  started: 'Nachrichten kommen in diesem Browser an.',
  stopped: 'Nachrichten in diesem Browser sind beendet.',
  denied: 'Der Browser erlaubt keine Nachrichten. Erlauben Sie sie in seinen Einstellungen',
  own: (n) => `Ihre Browser mit Nachrichten: ${n}.`,
  since: (when) => `seit ${when}`,
  remove: 'Entfernen',
  removed: 'Entfernt.',
}

/** The texts of messages by web push. */
export const pushTexts = inLanguage<typeof english>({ en: english, de: german })
