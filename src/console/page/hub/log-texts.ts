import { inLanguage } from '../i18n/language.ts'
import { many } from './words.ts'

const english = {
  title: (site: string) => `Signed history of ${site}`,
  unknown: 'There is no such log, or you may not see it.',
  entries: (n: number) => `${many(n, 'log entry', 'log entries')} stored here`,
  state: 'State',
  states: {
    live: 'The gateway goes on with this log. Each new state of it is signed by the gateway and confirmed by the head office.',
    forked:
      'This log has shown two histories, both signed by its gateway. Somebody rewrote it, or two boxes go on from one copy. Both are kept below, and the log takes no more entries.',
    retired:
      'This log has ended: a restored box goes on with another one, or the box was replaced. It stays as history.',
  } as Readonly<Record<'live' | 'forked' | 'retired', string>>,
  toSite: 'Floor of the site',
  toNext: 'The log that goes on behind it',
  notYours:
    'Your account may not read the evidence of this site. It shows whether the log has two histories, with both sides. The person who manages the accounts of the head office can change that.',
  forks: 'Two histories',
  forksHint:
    'Both sides are as they came. Each has a checkpoint that the gateway signed, so anyone can check them with the keys below.',
  forksFile: 'Both sides (JSON)',
  moreForks: 'There are more; the interface for programs lists all of them.',
  forkAt: {
    leaf: (n: string, when: string) => `Log entry ${n}: two different entries. Noticed ${when}.`,
    root: (n: string, when: string) => `Over ${n} log entries: two different states. Noticed ${when}.`,
  },
  what: 'Difference',
  known: 'Stored before',
  sent: 'Came later',
  nothing: 'nothing',
  facts: {
    assetKey: 'Pallet',
    slotCode: 'Slot',
    slotId: 'Number of the slot',
    eventType: 'Event',
    timestamp: 'Time (UTC)',
    receivedAt: 'Arrived at the gateway (UTC)',
    root: 'Root over the entries',
    bytes: 'Bytes (base64)',
  } as Readonly<Record<string, string>>,
  notes: 'The two signed checkpoints',
  checkpoints: 'Signed states of the log',
  checkpointsHint:
    'A checkpoint has the number of entries of the log, and one hash of them all. The head office keeps the newest one and the last of each hour.',
  file: 'Newest 500 (JSON)',
  none: 'The gateway has signed nothing here yet. Its first feed brings a signed state; “gatehouse status” on the gateway says whether it works.',
  noOlder: 'There is none that is older.',
  upTo: 'Entries',
  came: 'Came',
  confirmed: 'Confirmed here',
  yes: 'yes',
  no: 'no',
  text: 'Signed text',
  show: (n: string) => `Signed text of ${n}`,
  newest: 'Newest',
  older: 'Older',
  keys: 'Keys to check signatures with',
  keysHint:
    'Compare those of the log with “gatehouse ledger key” at the gateway. The last one is that of the head office.',
  ofSite: 'Signed history',
  ofSiteHint: {
    live: 'The gateway signs everything that it records. The head office keeps what it signed, and notices a second history.',
    forked: 'This site has shown two histories of one log. Compare the two before anything else.',
    retired: 'The signed history of this site stays here.',
  } as Readonly<Record<'live' | 'forked' | 'retired', string>>,
  toNewest: 'Signed states of the log',
  toBoth: 'Both histories, side by side',
  toEarlier: (n: number) => (n === 1 ? 'Log before it' : `Log ${n} before it`),
}

const german: typeof english = {
  title: (site) => `Signierter Verlauf von ${site}`,
  unknown: 'Dieses Log gibt es nicht, oder Sie dürfen es nicht sehen.',
  entries: (n) => `${many(n, 'Eintrag', 'Einträge')} hier aufbewahrt`,
  state: 'Zustand',
  states: {
    live: 'Das Gateway führt dieses Log weiter. Jeder neue Stand ist vom Gateway signiert und von der Zentrale bestätigt.',
    forked:
      'Dieses Log hat zwei Verläufe gezeigt, beide von seinem Gateway signiert. Jemand hat es umgeschrieben, oder zwei Geräte führen einen Stand weiter. Beide sind unten aufbewahrt, und das Log nimmt nichts mehr an.',
    retired:
      'Dieses Log ist beendet: Ein wiederhergestelltes Gerät führt ein anderes weiter, oder das Gerät wurde ersetzt. Es bleibt als Verlauf.',
  },
  toSite: 'Halle des Standorts',
  toNext: 'Das Log, das es fortsetzt',
  notYours:
    'Ihr Konto darf die Beweise dieses Standorts nicht lesen. Sie zeigen, ob das Log zwei Verläufe hat, mit beiden Seiten. Ändern kann es, wer die Konten der Zentrale verwaltet.',
  forks: 'Zwei Verläufe',
  forksHint:
    'Beide Seiten sind, wie sie kamen. Zu jeder gehört ein vom Gateway signierter Stand; mit den Schlüsseln unten kann ihn jeder prüfen.',
  forksFile: 'Beide Seiten (JSON)',
  moreForks: 'Es gibt mehr; die Schnittstelle für Programme nennt alle.',
  forkAt: {
    leaf: (n, when) => `Eintrag ${n}: zwei verschiedene Einträge. Bemerkt ${when}.`,
    root: (n, when) => `Über ${n} Einträge: zwei verschiedene Stände. Bemerkt ${when}.`,
  },
  what: 'Unterschied',
  known: 'Zuvor aufbewahrt',
  sent: 'Später gekommen',
  nothing: 'nichts',
  facts: {
    assetKey: 'Palette',
    slotCode: 'Stellplatz',
    slotId: 'Nummer des Stellplatzes',
    eventType: 'Ereignis',
    timestamp: 'Zeit (UTC)',
    receivedAt: 'Am Gateway angekommen (UTC)',
    root: 'Wurzel über die Einträge',
    bytes: 'Bytes (in Base64)',
  },
  notes: 'Die zwei signierten Stände',
  checkpoints: 'Signierte Stände des Logs',
  checkpointsHint:
    'Ein Stand hat die Zahl der Einträge des Logs und einen Hash über alle. Die Zentrale bewahrt den neuesten und den letzten jeder Stunde auf.',
  file: 'Neueste 500 (JSON)',
  none: 'Das Gateway hat hier noch nichts signiert. Der erste signierte Stand kommt mit den ersten Einträgen; „gatehouse status“ auf dem Gateway sagt, ob sie gehen.',
  noOlder: 'Einen älteren gibt es nicht.',
  upTo: 'Einträge',
  came: 'Gekommen',
  confirmed: 'Hier bestätigt',
  yes: 'ja',
  no: 'nein',
  text: 'Signierter Text',
  show: (n) => `Signierter Text von ${n}`,
  newest: 'Neueste',
  older: 'Ältere',
  keys: 'Schlüssel zum Prüfen der Signaturen',
  keysHint:
    'Die des Logs mit „gatehouse ledger key“ am Gateway vergleichen. Der letzte ist der Schlüssel der Zentrale.',
  ofSite: 'Signierter Verlauf',
  ofSiteHint: {
    live: 'Das Gateway signiert alles, was es erfasst. Die Zentrale bewahrt auf, was es signiert hat, und bemerkt einen zweiten Verlauf.',
    forked: 'Dieser Standort hat zwei Verläufe eines Logs gezeigt. Zuerst beide vergleichen.',
    retired: 'Der signierte Verlauf dieses Standorts bleibt hier.',
  },
  toNewest: 'Signierte Stände des Logs',
  toBoth: 'Beide Verläufe nebeneinander',
  toEarlier: (n) => (n === 1 ? 'Das Log davor' : `Log ${n} davor`),
}

/** The texts of the log of a site at the head office. */
export const logTexts = inLanguage({ en: english, de: german })
