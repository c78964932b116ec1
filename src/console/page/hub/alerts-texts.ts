import { inLanguage } from '../i18n/language.ts'

const english = {
  close: 'Close as handled',
  closed: 'Closed.',
  closedBy: (name: string) => `closed by ${name}`,
  title: 'Alerts of the head office',
  none: 'There is none, and nothing to do. The head office alerts to a fork, and to a log that a restore cut off. Troubles of a gateway are on the page of its site.',
  open: 'open',
  newest: (n: number) => `These are ${n} of them: open ones first, then the newest. The file has all.`,
  toBoth: 'Both sides',
  toLog: 'Signed history',
  words: {
    'log.forked':
      'The log shows two histories. Somebody rewrote it, or two boxes go on from one copy. Both are kept, and the log takes no more entries.',
    'log.ahead':
      'The gateway has fewer entries of its log than the head office has seen. Its box was restored from an older copy, or another box goes on with the log. Check the box before anything else; “gatehouse restore --accept-fork” there goes on with a new log.',
    'log.leaves-behind-fork': 'A restore went behind entries that the head office has. They are kept as evidence.',
    'log.branch-lost': 'The same backup was restored twice. The entries in between are kept as evidence.',
    'log.parent-differs': 'The new log continues another history than the one that is known here.',
    'log.retired': 'The log was retired: the site has another box, or is closed. Its entries stay as history.',
    'site.revoked': 'The tokens of the site were revoked. Its gateway has to join anew.',
  } as Readonly<Record<string, string>>,
  other: 'Look at this site.',
}

const german: typeof english = {
  close: 'Als erledigt schließen',
  closed: 'Geschlossen.',
  closedBy: (name) => `geschlossen von ${name}`,
  title: 'Meldungen der Zentrale',
  none: 'Es gibt keine, und nichts ist zu tun. Die Zentrale meldet eine Abspaltung und ein abgeschnittenes Log. Störungen eines Gateways stehen auf der Seite seines Standorts.',
  open: 'offen',
  newest: (n) => `Das sind ${n} davon: erst die offenen, dann die neuesten. In der Datei stehen alle.`,
  toBoth: 'Beide Seiten',
  toLog: 'Signierter Verlauf',
  words: {
    'log.forked':
      'Das Log zeigt zwei Verläufe. Jemand hat es umgeschrieben, oder zwei Geräte führen einen Stand weiter. Beide sind aufbewahrt, und das Log nimmt nichts mehr an.',
    'log.ahead':
      'Das Gateway hat weniger Einträge seines Logs, als die Zentrale gesehen hat. Es wurde aus einem älteren Stand wiederhergestellt, oder ein anderes Gerät führt das Log weiter. Zuerst das Gerät ansehen; „gatehouse restore --accept-fork“ führt dort ein neues Log weiter.',
    'log.leaves-behind-fork':
      'Eine Wiederherstellung ging hinter Einträge zurück, die die Zentrale hat. Sie sind als Beweis aufbewahrt.',
    'log.branch-lost':
      'Dieselbe Sicherung wurde zweimal eingespielt. Die Einträge dazwischen sind als Beweis aufbewahrt.',
    'log.parent-differs': 'Das neue Log setzt einen anderen Verlauf fort als den hier bekannten.',
    'log.retired':
      'Das Log wurde beendet: Der Standort hat ein anderes Gerät oder ist geschlossen. Seine Einträge bleiben als Verlauf.',
    'site.revoked': 'Die Token des Standorts wurden widerrufen. Sein Gateway muss neu beitreten.',
  },
  other: 'Bitte diesen Standort ansehen.',
}

/** The texts of the alerts at the head office. */
export const alertsTexts = inLanguage({ en: english, de: german })
