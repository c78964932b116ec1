import { inLanguage } from '../i18n/language.ts'

const english = {
  close: 'Close: it was looked at',
  closed: 'Closed.',
  closedBy: (name: string) => `closed by ${name}`,
  title: 'Alerts of the head office',
  none: 'There is none, and nothing to do. A fork, or a log that a restore cut off, would be here. What a gateway says is wrong with itself is on the page of its site.',
  open: 'open',
  newest: (n: number) => `These are ${n} of them: open ones first, then the newest. The file has all.`,
  toBoth: 'Both sides',
  toLog: 'Signed history',
  words: {
    'log.forked':
      'The log shows two histories. Somebody rewrote it, or two boxes go on from one copy. Both are kept, and the log takes no more entries.',
    'log.ahead':
      'The gateway has fewer entries of its log than the head office has seen. Its box was restored from an older copy, or another box goes on with the log. Look at the box before anything else; “gatehouse restore --accept-fork” there goes on with a new log.',
    'log.leaves-behind-fork': 'A restore went behind entries that the head office has. They are kept as evidence.',
    'log.branch-lost': 'The same backup was restored twice. What was recorded in between is kept as evidence.',
    'log.parent-differs': 'The log that goes on names another history before it than the one that is known here.',
    'log.retired': 'The log was retired: the site has another box, or is closed. What it sent stays as history.',
    'site.revoked': 'The tokens of the site were revoked. Its gateway has to join anew.',
  } as Readonly<Record<string, string>>,
  other: 'Look at this site.',
}

const german: typeof english = {
  close: 'Als erledigt schließen',
  closed: 'Geschlossen.',
  closedBy: (name) => `geschlossen von ${name}`,
  title: 'Meldungen der Zentrale',
  none: 'Es gibt keine, und nichts ist zu tun. Eine Abspaltung oder ein abgeschnittenes Log stünde hier. Was einem Gateway fehlt, steht auf der Seite seines Standorts.',
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
      'Dieselbe Sicherung wurde zweimal eingespielt. Was dazwischen erfasst wurde, ist als Beweis aufbewahrt.',
    'log.parent-differs': 'Das neue Log nennt einen anderen Verlauf vor sich als den hier bekannten.',
    'log.retired':
      'Das Log wurde beendet: Der Standort hat ein anderes Gerät oder ist geschlossen. Was es gesendet hat, bleibt als Verlauf.',
    'site.revoked': 'Die Token des Standorts wurden widerrufen. Sein Gateway muss neu beitreten.',
  },
  other: 'Bitte diesen Standort ansehen.',
}

/** The texts of the alerts at the head office. */
export const alertsTexts = inLanguage({ en: english, de: german })
