import { inLanguage, locale } from './language.ts'
import type { SignInTexts } from './sign-in-texts.ts'

const many = (n: number, one: string, more: string) => `${n.toLocaleString(locale)} ${n === 1 ? one : more}`

const gibOf = (bytes: number) => (bytes / 1024 ** 3).toLocaleString(locale, { maximumFractionDigits: 1 })

type Way = { from: string; to: string | undefined; unit: string; since: string }

/** The first five of a list, and how many more there are. */
const firstOf = (all: readonly string[], more: (n: number) => string) =>
  [...all.slice(0, 5), ...(all.length > 5 ? [more(all.length - 5)] : [])].join(', ')

const english = {
  title: 'Head office',
  signIn: {
    gateway: 'Head office',
    here: 'the head office',
    unreachable: 'The head office cannot be reached. Is this device still on the network?',
    triesSpent: (wait: string) =>
      `Too many wrong passwords were typed at this head office, so the storage server takes no more of them for now. An application password works at once. Or try again in ${wait}.`,
  } satisfies Partial<SignInTexts>,
  signOut: 'Sign out',
  signedOut: 'The session has ended. Sign in again.',
  asking: 'Asking the head office …',
  unreachable: 'The head office does not answer. Trying again …',
  tooMany: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
  failed: (message: string) => `That did not work: ${message}.`,
  stale: (message: string) => `This may be old: ${message}`,
  file: 'File (CSV)',
  views: { nav: 'Views', sites: 'Sites', find: 'Find', recall: 'Recall', alerts: 'Alerts' },
  sites: {
    title: 'Sites',
    table: 'Table of sites',
    shown: (n: number, all: number) =>
      n === all ? many(all, 'site', 'sites') : `${n} of ${many(all, 'site', 'sites')}`,
    none: 'No site sends its log here yet. Next: make a code with “gatehouse hub enrol --site ID”, and run the command that it prints on the gateway.',
    noneFound: 'No site matches.',
    showAll: 'Show all sites',
    toSites: 'To the list of sites',
    filter: 'Site or version',
    show: 'Show',
    kinds: { all: 'all', trouble: 'any problem', behind: 'entries missing here', drift: 'config differs' },
    region: 'Region',
    anyRegion: 'any',
    counts: 'Sites by state',
    withProblem: 'with a problem',
    differs: (sections: string) => `config differs from most in ${sections}`,
    offered: (version: string) => `${version} is offered`,
    offer: (version: string, sites: number, running: number) =>
      `Version ${version} is offered to ${many(sites, 'site', 'sites')}; ${running.toLocaleString(locale)} of them ${running === 1 ? 'runs' : 'run'} it. It goes to 1 site first, then to 5, then to the rest. Each gateway decides by itself when to take it.`,
    offerWaits: (sites: readonly { name: string; state: 'undecided' | 'failed' | 'silent' | 'unwell' }[]) => {
      const is = {
        undecided: 'has not taken it yet',
        failed: 'could not take it',
        silent: 'is not heard',
        unwell: 'is unwell with it',
      }
      return `Not ready for the next step: ${firstOf(
        sites.map(({ name, state }) => `${name} ${is[state]}`),
        (n) => `${n} more`,
      )}.`
    },
    state: 'State',
    name: 'Site',
    contact: 'Last contact',
    size: 'Log entries',
    alerts: 'Open alerts',
    version: 'Version',
    never: 'never',
    states: {
      forked: 'Fork',
      unhealthy: 'Not working',
      late: 'Out of contact',
      degraded: 'Has a problem',
      retired: 'Log ended',
      well: 'Well',
      silent: 'Says nothing of itself',
    },
    forks: (n: number) =>
      `${many(n, 'site has', 'sites have')} shown two histories of one log. Compare the two before anything else; both are kept.`,
    notes: {
      behind: (n: number) => `${many(n, 'log entry is', 'log entries are')} still missing here`,
      cameras: (n: number) => `${many(n, 'camera', 'cameras')} without pictures`,
      certificate: (days: number) =>
        days < 0 ? 'certificate has ended' : `certificate ends in ${many(days, 'day', 'days')}`,
      disk: (bytes: number) => `${gibOf(bytes)} GiB of disk left`,
      backup: (days: number) => `newest backup ${many(days, 'day', 'days')} old`,
      unbacked: (_: number) => 'no backup',
      alerts: (n: number) => `${many(n, 'open alert', 'open alerts')} at the head office`,
      'gateway-alerts': (n: number) => `${many(n, 'open alert', 'open alerts')} at the gateway`,
    } as Readonly<Record<string, (amount: number) => string>>,
    page: (at: number, of: number) => `Page ${at} of ${of}`,
    before: 'Page before',
    after: 'Next page',
    sortedBy: (what: string) => `Sort by ${what}`,
  },
  find: {
    title: 'Find on any site',
    code: 'Barcode or SSCC',
    go: 'Find',
    hint: 'Scan or type a code. It is looked for on every site that you may see.',
    unknown: (code: string) =>
      `No site that you may see knows ${code}. Compare it with the label. A pallet is known from its first scan on, and a site that is out of contact sends it later.`,
    toSites: 'Which sites are out of contact',
    states: {
      here: (slots: string) => `It is at ${slots}.`,
      left: () => 'Every site that knows it has taken it out.',
      in_transit: () => 'On its way.',
      two_places: (slots: string) =>
        `In two places: ${slots}. It was placed at one and never taken out at the other. Look at both slots.`,
    },
    slotAt: (site: string, slot: string) => `${site}, slot ${slot}`,
    and: ' and ',
    onItsWay: ({ from, to, unit, since }: Way) =>
      `On its way from ${from}${to === undefined ? '' : ` to ${to}`}, with the transport unit ${unit}, whose last step was on ${since}.`,
    now: 'At each site that knows it',
    site: 'Site',
    slot: 'Slot',
    since: 'Since',
    verified: 'verified',
    gone: 'taken out',
    trail: 'From site to site',
    moves: { PLACED: 'Placed', REMOVED: 'Taken out' },
    entry: (seq: number) => `log entry ${seq}`,
    proof: (seq: number) => `log entry ${seq} with its proof`,
    behind: 'Lost by a restore',
    behindHint:
      'These moves were recorded and signed, but the site went back to an older copy. They are evidence and no part of the history.',
  },
  recall: {
    title: 'Recall over all sites',
    lot: 'Lot (empty: every lot)',
    gtin: 'GTIN (empty: every item)',
    go: 'List pallets',
    hint: 'Lists every pallet of a lot, and where it is now, item by item.',
    empty: 'Type a lot, a GTIN, or both.',
    item: (gtin: string | null) => (gtin === null ? 'Item not known' : `GTIN ${gtin}`),
    items: (n: number) =>
      `${many(n, 'item has', 'items have')} this lot number. Look which one you mean before you send the list.`,
    ofLot: 'Lot',
    wrongGtin: 'This GTIN is not right: 8, 12, 13 or 14 digits, the last of them a check digit.',
    wrongLot: 'This lot is not right: 90 characters at most.',
    none: {
      item: 'No site that you may see knows a pallet of this item. Compare the GTIN with the label, or ask by the lot alone.',
      lot: (lot: string) =>
        `No site that you may see knows a pallet of lot ${lot}. Compare it with the label: capitals, hyphens and leading zeros count. A site knows the lot only of pallets whose barcode has it, or where somebody entered it.`,
    },
    found: (pallets: number, sites: number) =>
      `${many(pallets, 'pallet', 'pallets')} at ${many(sites, 'site', 'sites')}`,
    besides: {
      in_transit: (n: number) => `${n.toLocaleString(locale)} on the way`,
      left: (n: number) => `${n.toLocaleString(locale)} taken out`,
    },
    behind: (sites: readonly string[]) =>
      `${many(sites.length, 'site is', 'sites are')} not up to date, and this list may be wrong for ${sites.length === 1 ? 'it' : 'them'}: ${firstOf(sites, (n) => `${n.toLocaleString(locale)} more`)}.`,
    behindFor: {
      forked: 'a fork: its log takes no more entries',
      late: (when: string | null) => (when === null ? 'never heard' : `last heard ${when}`),
      missing: (n: number) => `${many(n, 'log entry', 'log entries')} missing here`,
    },
    more: 'These are the first pallets. The file has all of them.',
    state: 'State',
    states: { here: 'there', left: 'taken out', in_transit: 'on the way', two_places: 'in two places' },
    copy: 'Copy list',
    copied: 'The list is copied.',
    notCopied: 'This browser does not allow copying here. Use the file.',
    print: 'Print',
    pallet: 'Pallet',
  },
  floor: {
    title: (site: string) => `Floor of ${site}`,
    unknown: 'There is no such site, or you may not see it.',
    at: 'At this time (clock of this device)',
    show: 'Show',
    now: 'Now',
    asOf: (when: string) => `As it was on ${when}, time of the site`,
    asNow: 'As it is now',
    behind: (n: number) =>
      `This is not how it is now: ${many(n, 'newer log entry', 'newer log entries')} of this site ${n === 1 ? 'has' : 'have'} not come yet.`,
    filter: 'Slot or pallet',
    count: (occupied: number, all: number) => `${occupied} of ${many(all, 'known slot', 'known slots')} taken`,
    none: 'This site has sent no slot and no event yet. Next: run “gatehouse status” on its gateway; it says whether the feed to the head office works.',
    noneThen: 'At that time no event had named a slot of this site yet. Choose a later time, or “Now”.',
    empty: 'empty',
    disputed: 'disputed',
    unverified: 'not yet verified',
    how: 'State',
    gateway: 'Its gateway',
    troubles: 'What the gateway says is wrong',
    offered: 'Offered version',
    region: 'Region',
    alerts: 'Open alerts at the gateway',
    alertsMany: 'more than 10,000',
    alertsNewest: (shown: number, all: number) =>
      shown < all
        ? `Open alerts at the gateway: the newest ${shown} of ${all.toLocaleString(locale)}`
        : 'Open alerts at the gateway',
    todo: 'Next:',
    unknownYet: '–',
    cameras: 'Cameras without pictures',
    ofCameras: (n: number, all: number) => `${n} of ${all}`,
    free: 'Free disk',
    gib: (gib: number) => `${gib.toLocaleString(locale, { maximumFractionDigits: 1 })} GiB`,
    certificate: 'Certificate until',
    backup: 'Newest backup',
    rehearsed: 'Backup last rehearsed',
    config: 'Config (hash)',
    differs: 'Config differs from most in',
    changed: (at: string) => `Config changed ${at} in`,
  },
  log: {
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
      'Who may read evidence of this site sees here whether the log has shown two histories, and both sides. Your account may not. The person who manages the accounts of the head office can change that.',
    forks: 'Two histories',
    forksHint:
      'Both sides are as they came. Each has a checkpoint that the gateway signed, so anyone can check them with the keys below.',
    forksFile: 'Both sides (JSON)',
    moreForks: 'There are more; the interface for programs lists all of them.',
    forkAt: {
      leaf: (n: string, when: string) => `Log entry ${n}: two different entries. Noticed ${when}.`,
      root: (n: string, when: string) => `Over ${n} log entries: two different states. Noticed ${when}.`,
    },
    what: 'What differs',
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
      'A checkpoint says how many entries the log had and what they were, in one hash. Kept are the newest one and the last of each hour.',
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
      retired: 'What this site has signed stays here.',
    } as Readonly<Record<'live' | 'forked' | 'retired', string>>,
    toNewest: 'Signed states of the log',
    toBoth: 'Both histories, side by side',
    toEarlier: (n: number) => (n === 1 ? 'Log before it' : `Log ${n} before it`),
  },
  alerts: {
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
  },
}

const german: typeof english = {
  title: 'Zentrale',
  signIn: {
    gateway: 'Zentrale',
    here: 'der Zentrale',
    unreachable: 'Die Zentrale ist nicht erreichbar. Ist dieses Gerät noch im Netz?',
    triesSpent: (wait) =>
      `An dieser Zentrale wurden zu viele falsche Passwörter eingegeben; der Speicherserver nimmt vorerst keine mehr an. Ein App-Passwort geht sofort. Oder noch einmal in ${wait}.`,
  },
  signOut: 'Abmelden',
  signedOut: 'Die Sitzung ist beendet. Bitte neu anmelden.',
  asking: 'Die Zentrale wird gefragt …',
  unreachable: 'Die Zentrale antwortet nicht. Neuer Versuch läuft …',
  tooMany: (seconds) => `Zu viele Versuche. In ${seconds} s noch einmal.`,
  failed: (message) => `Das ging nicht: ${message}.`,
  stale: (message) => `Dies kann veraltet sein: ${message}`,
  file: 'Datei (CSV)',
  views: { nav: 'Ansichten', sites: 'Standorte', find: 'Suchen', recall: 'Rückruf', alerts: 'Meldungen' },
  sites: {
    title: 'Standorte',
    table: 'Tabelle der Standorte',
    shown: (n, all) =>
      n === all ? many(all, 'Standort', 'Standorte') : `${n} von ${many(all, 'Standort', 'Standorten')}`,
    none: 'Noch sendet kein Standort sein Log. Als Nächstes: mit „gatehouse hub enrol --site ID“ einen Code machen und den Befehl, den er ausgibt, am Gateway ausführen.',
    noneFound: 'Kein Standort passt.',
    showAll: 'Alle Standorte zeigen',
    toSites: 'Zur Liste der Standorte',
    filter: 'Standort oder Version',
    show: 'Zeigen',
    kinds: {
      all: 'alle',
      trouble: 'mit einem Problem',
      behind: 'Einträge fehlen hier',
      drift: 'Konfiguration weicht ab',
    },
    region: 'Region',
    anyRegion: 'jede',
    counts: 'Standorte nach Zustand',
    withProblem: 'mit einem Problem',
    differs: (sections) => `Konfiguration weicht ab in ${sections}`,
    offered: (version) => `${version} wird angeboten`,
    offer: (version, sites, running) =>
      `Version ${version} wird ${many(sites, 'Standort', 'Standorten')} angeboten; auf ${running.toLocaleString(locale)} davon läuft sie. Sie geht zuerst an 1 Standort, dann an 5, dann an die übrigen. Jedes Gateway entscheidet selbst, wann es sie nimmt.`,
    offerWaits: (sites) => {
      const is = {
        undecided: 'hat sie noch nicht genommen',
        failed: 'konnte sie nicht nehmen',
        silent: 'meldet sich nicht',
        unwell: 'hat damit Störungen',
      }
      return `Noch nicht bereit für den nächsten Schritt: ${firstOf(
        sites.map(({ name, state }) => `${name} ${is[state]}`),
        (n) => `${n} weitere`,
      )}.`
    },
    state: 'Zustand',
    name: 'Standort',
    contact: 'Letzter Kontakt',
    size: 'Einträge',
    alerts: 'Offene Meldungen',
    version: 'Version',
    never: 'nie',
    states: {
      forked: 'Abspaltung',
      unhealthy: 'Außer Betrieb',
      late: 'Ohne Kontakt',
      degraded: 'Hat ein Problem',
      retired: 'Log beendet',
      well: 'In Ordnung',
      silent: 'Sagt nichts über sich',
    },
    forks: (n) =>
      `${many(n, 'Standort hat', 'Standorte haben')} zwei Verläufe eines Logs gezeigt. Zuerst beide vergleichen; beide sind aufbewahrt.`,
    notes: {
      behind: (n) => `${many(n, 'Eintrag fehlt', 'Einträge fehlen')} hier noch`,
      cameras: (n) => `${many(n, 'Kamera', 'Kameras')} ohne Bild`,
      certificate: (days) =>
        days < 0 ? 'Zertifikat ist abgelaufen' : `Zertifikat läuft in ${many(days, 'Tag', 'Tagen')} ab`,
      disk: (bytes) => `noch ${gibOf(bytes)} GiB Platte`,
      backup: (days) => `neueste Sicherung ${many(days, 'Tag', 'Tage')} alt`,
      unbacked: (_) => 'keine Sicherung',
      alerts: (n) => `${many(n, 'offene Meldung', 'offene Meldungen')} der Zentrale`,
      'gateway-alerts': (n) => `${many(n, 'offene Meldung', 'offene Meldungen')} am Gateway`,
    },
    page: (at, of) => `Seite ${at} von ${of}`,
    before: 'Seite davor',
    after: 'Nächste Seite',
    sortedBy: (what) => `Nach ${what} ordnen`,
  },
  find: {
    title: 'An jedem Standort suchen',
    code: 'Barcode oder SSCC',
    go: 'Suchen',
    hint: 'Code scannen oder eingeben. Gesucht wird an jedem Standort, den Sie sehen dürfen.',
    unknown: (code) =>
      `Kein Standort, den Sie sehen dürfen, kennt ${code}. Bitte mit dem Etikett vergleichen. Eine Palette ist ab dem ersten Scan bekannt, und ein Standort ohne Kontakt sendet sie später.`,
    toSites: 'Welche Standorte ohne Kontakt sind',
    states: {
      here: (slots) => `Steht in ${slots}.`,
      left: () => 'Jeder Standort, der sie kennt, hat sie ausgelagert.',
      in_transit: () => 'Unterwegs.',
      two_places: (slots) =>
        `An zwei Orten: ${slots}. An einem wurde sie eingelagert und am anderen nie ausgelagert. Bitte beide Stellplätze ansehen.`,
    },
    slotAt: (site, slot) => `${site}, Stellplatz ${slot}`,
    and: ' und ',
    onItsWay: ({ from, to, unit, since }) =>
      `Unterwegs von ${from}${to === undefined ? '' : ` nach ${to}`}, mit der Transporteinheit ${unit}, deren letzter Schritt am ${since} war.`,
    now: 'An jedem Standort, der sie kennt',
    site: 'Standort',
    slot: 'Stellplatz',
    since: 'Seit',
    verified: 'geprüft',
    gone: 'ausgelagert',
    trail: 'Von Standort zu Standort',
    moves: { PLACED: 'Eingelagert', REMOVED: 'Ausgelagert' },
    entry: (seq) => `Eintrag ${seq}`,
    proof: (seq) => `Eintrag ${seq} mit Beweis`,
    behind: 'Durch eine Wiederherstellung verloren',
    behindHint:
      'Diese Bewegungen wurden erfasst und signiert, doch der Standort ging auf einen älteren Stand zurück. Sie sind Beweis und kein Teil des Verlaufs.',
  },
  recall: {
    title: 'Rückruf über alle Standorte',
    lot: 'Charge (leer: jede)',
    gtin: 'GTIN (leer: jeder Artikel)',
    go: 'Paletten auflisten',
    hint: 'Listet jede Palette einer Charge, und wo sie jetzt ist, Artikel für Artikel.',
    empty: 'Bitte Charge oder GTIN eingeben, oder beides.',
    item: (gtin) => (gtin === null ? 'Artikel nicht bekannt' : `Artikel mit der GTIN ${gtin}`),
    items: (n) =>
      `${many(n, 'Artikel hat', 'Artikel haben')} diese Chargennummer. Vor dem Versenden prüfen, welcher gemeint ist.`,
    ofLot: 'Charge',
    wrongGtin: 'Diese GTIN stimmt nicht: 8, 12, 13 oder 14 Ziffern, die letzte ist eine Prüfziffer.',
    wrongLot: 'Diese Charge stimmt nicht: höchstens 90 Zeichen.',
    none: {
      item: 'Kein Standort, den Sie sehen dürfen, kennt eine Palette dieses Artikels. GTIN mit dem Etikett vergleichen, oder nur mit der Charge fragen.',
      lot: (lot) =>
        `Kein Standort, den Sie sehen dürfen, kennt eine Palette der Charge ${lot}. Bitte mit dem Etikett vergleichen: Großbuchstaben, Bindestriche und führende Nullen zählen. Ein Standort kennt die Charge nur von Paletten, deren Barcode sie enthält oder bei denen sie eingetragen ist.`,
    },
    found: (pallets, sites) => `${many(pallets, 'Palette', 'Paletten')} an ${many(sites, 'Standort', 'Standorten')}`,
    besides: {
      in_transit: (n) => `${n.toLocaleString(locale)} unterwegs`,
      left: (n) => `${n.toLocaleString(locale)} ausgelagert`,
    },
    behind: (sites) =>
      `${many(sites.length, 'Standort ist', 'Standorte sind')} nicht auf dem neuesten Stand, und diese Liste kann für ${sites.length === 1 ? 'ihn' : 'sie'} falsch sein: ${firstOf(sites, (n) => `${n.toLocaleString(locale)} weitere`)}.`,
    behindFor: {
      forked: 'Abspaltung: sein Log nimmt keine Einträge mehr an',
      late: (when) => (when === null ? 'hat sich noch nie gemeldet' : `zuletzt gemeldet ${when}`),
      missing: (n) => `hier ${n === 1 ? 'fehlt' : 'fehlen'} ${many(n, 'Eintrag', 'Einträge')}`,
    },
    more: 'Das sind die ersten Paletten. In der Datei stehen alle.',
    state: 'Zustand',
    states: { here: 'dort', left: 'ausgelagert', in_transit: 'unterwegs', two_places: 'an zwei Orten' },
    copy: 'Liste kopieren',
    copied: 'Die Liste ist kopiert.',
    notCopied: 'Dieser Browser erlaubt hier kein Kopieren. Bitte die Datei nehmen.',
    print: 'Drucken',
    pallet: 'Palette',
  },
  floor: {
    title: (site) => `Halle von ${site}`,
    unknown: 'Diesen Standort gibt es nicht, oder Sie dürfen ihn nicht sehen.',
    at: 'Zu dieser Zeit (Uhr dieses Geräts)',
    show: 'Zeigen',
    now: 'Jetzt',
    asOf: (when) => `Wie es am ${when} Ortszeit war`,
    asNow: 'Wie es jetzt ist',
    behind: (n) =>
      `So ist es jetzt nicht: ${many(n, 'neuerer Eintrag', 'neuere Einträge')} dieses Standorts ${n === 1 ? 'ist' : 'sind'} noch nicht da.`,
    filter: 'Stellplatz oder Palette',
    count: (occupied, all) => `${occupied} von ${many(all, 'bekannten Stellplatz', 'bekannten Stellplätzen')} belegt`,
    none: 'Dieser Standort hat noch keinen Stellplatz und kein Ereignis gesendet. Als Nächstes: „gatehouse status“ auf seinem Gateway sagt, ob die Verbindung zur Zentrale steht.',
    noneThen:
      'Zu dieser Zeit hatte noch kein Ereignis einen Stellplatz dieses Standorts genannt. Bitte eine spätere Zeit wählen, oder „Jetzt“.',
    empty: 'frei',
    disputed: 'beanstandet',
    unverified: 'noch nicht geprüft',
    how: 'Zustand',
    gateway: 'Gateway des Standorts',
    troubles: 'Was dem Gateway fehlt, wie es selbst sagt',
    offered: 'Angebotene Version',
    region: 'Region',
    alerts: 'Offene Meldungen am Gateway',
    alertsMany: 'mehr als 10.000',
    alertsNewest: (shown, all) =>
      shown < all
        ? `Offene Meldungen am Gateway: die neuesten ${shown} von ${all.toLocaleString(locale)}`
        : 'Offene Meldungen am Gateway',
    todo: 'Als Nächstes:',
    unknownYet: '–',
    cameras: 'Kameras ohne Bild',
    ofCameras: (n, all) => `${n} von ${all}`,
    free: 'Freie Platte',
    gib: (gib) => `${gib.toLocaleString(locale, { maximumFractionDigits: 1 })} GiB`,
    certificate: 'Zertifikat bis',
    backup: 'Neueste Sicherung',
    rehearsed: 'Zuletzt geprobt',
    config: 'Konfiguration (Hash)',
    differs: 'Konfiguration weicht von den meisten ab in',
    changed: (at) => `Konfiguration geändert ${at} in`,
  },
  log: {
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
      'Wer Beweise dieses Standorts lesen darf, sieht hier, ob das Log zwei Verläufe gezeigt hat, und beide Seiten. Ihr Konto darf das nicht; ändern kann es, wer die Konten der Zentrale verwaltet.',
    forks: 'Zwei Verläufe',
    forksHint:
      'Beide Seiten sind, wie sie kamen. Zu jeder gehört ein vom Gateway signierter Stand; mit den Schlüsseln unten kann ihn jeder prüfen.',
    forksFile: 'Beide Seiten (JSON)',
    moreForks: 'Es gibt mehr; die Schnittstelle für Programme nennt alle.',
    forkAt: {
      leaf: (n, when) => `Eintrag ${n}: zwei verschiedene Einträge. Bemerkt ${when}.`,
      root: (n, when) => `Über ${n} Einträge: zwei verschiedene Stände. Bemerkt ${when}.`,
    },
    what: 'Was abweicht',
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
      'Ein Stand sagt in einem Hash, wie viele Einträge das Log hatte und welche. Aufbewahrt sind der neueste und der letzte jeder Stunde.',
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
      retired: 'Was dieser Standort signiert hat, bleibt hier.',
    },
    toNewest: 'Signierte Stände des Logs',
    toBoth: 'Beide Verläufe nebeneinander',
    toEarlier: (n) => (n === 1 ? 'Das Log davor' : `Log ${n} davor`),
  },
  alerts: {
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
  },
}

/** The texts of the page of the head office. */
export const hubTexts = inLanguage({ en: english, de: german })
