import { inLanguage, locale } from '../i18n/language.ts'
import { firstOf, gibOf, many } from './words.ts'

const english = {
  title: 'Sites',
  table: 'Table of sites',
  shown: (n: number, all: number) => (n === all ? many(all, 'site', 'sites') : `${n} of ${many(all, 'site', 'sites')}`),
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
    `Version ${version} is offered to ${many(sites, 'site', 'sites')}; ${running.toLocaleString(locale)} of them ${running === 1 ? 'runs' : 'run'} it. It goes to 1 site first, then to 5, then to the rest. Each gateway decides by itself when to install it.`,
  offerWaits: (sites: readonly { name: string; state: 'undecided' | 'failed' | 'silent' | 'unwell' }[]) => {
    const is = {
      undecided: 'has not installed it yet',
      failed: 'could not install it',
      silent: 'is out of contact',
      unwell: 'has troubles with it',
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
    degraded: 'Impaired',
    retired: 'Log ended',
    well: 'Well',
    silent: 'Reports no state',
  },
  forks: (n: number) =>
    `${many(n, 'site has', 'sites have')} shown two histories of one log. Compare the two before anything else; both are kept.`,
  notes: {
    behind: (n: number) => `${many(n, 'log entry is', 'log entries are')} still missing here`,
    'older-log': (n: number) => `${many(n, 'earlier log still fills', 'earlier logs still fill')} slots`,
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
}

const german: typeof english = {
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
    `Version ${version} wird ${many(sites, 'Standort', 'Standorten')} angeboten; auf ${running.toLocaleString(locale)} davon läuft sie. Sie geht zuerst an 1 Standort, dann an 5, dann an die übrigen. Jedes Gateway entscheidet selbst, wann es sie installiert.`,
  offerWaits: (sites) => {
    const is = {
      undecided: 'hat sie noch nicht installiert',
      failed: 'konnte sie nicht installieren',
      silent: 'ist ohne Kontakt',
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
    degraded: 'Eingeschränkt',
    retired: 'Log beendet',
    well: 'In Ordnung',
    silent: 'Meldet keinen Zustand',
  },
  forks: (n) =>
    `${many(n, 'Standort hat', 'Standorte haben')} zwei Verläufe eines Logs gezeigt. Zuerst beide vergleichen; beide sind aufbewahrt.`,
  notes: {
    behind: (n) => `${many(n, 'Eintrag fehlt', 'Einträge fehlen')} hier noch`,
    'older-log': (n) => `${many(n, 'früheres Log belegt', 'frühere Logs belegen')} noch Stellplätze`,
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
}

/** The texts of the list of sites at the head office. */
export const sitesTexts = inLanguage({ en: english, de: german })
