import { inLanguage, locale } from '../i18n/language.ts'
import { many } from './words.ts'

const english = {
  title: (site: string) => `Floor of ${site}`,
  unknown: 'There is no such site, or you may not see it.',
  at: 'At this time (clock of this device)',
  show: 'Show',
  now: 'Now',
  asOf: (when: string) => `As it was on ${when}, time of the site`,
  asNow: 'As it is now',
  olderLog:
    'An earlier log of this site still fills slots. If the box was replaced or restored, run at the head office:',
  behind: (n: number) =>
    `Not up to date: ${many(n, 'newer log entry', 'newer log entries')} of this site ${n === 1 ? 'has' : 'have'} not come yet.`,
  filter: 'Slot or pallet',
  count: (occupied: number, all: number) => `${occupied} of ${many(all, 'known slot', 'known slots')} taken`,
  none: 'This site has sent no slot and no event yet. Next: run “gatehouse status” on its gateway; it says whether the feed to the head office works.',
  noneThen: 'At that time no event had named a slot of this site yet. Choose a later time, or “Now”.',
  empty: 'empty',
  disputed: 'disputed',
  unverified: 'not yet verified',
  how: 'State',
  gateway: 'Its gateway',
  troubles: 'Troubles that the gateway reports',
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
}

const german: typeof english = {
  title: (site) => `Halle von ${site}`,
  unknown: 'Diesen Standort gibt es nicht, oder Sie dürfen ihn nicht sehen.',
  at: 'Zu dieser Zeit (Uhr dieses Geräts)',
  show: 'Zeigen',
  now: 'Jetzt',
  asOf: (when) => `Wie es am ${when} Ortszeit war`,
  asNow: 'Wie es jetzt ist',
  olderLog:
    'Ein früheres Log dieses Standorts belegt noch Stellplätze. Wenn sein Gerät ersetzt oder wiederhergestellt wurde, an der Zentrale ausführen:',
  behind: (n) =>
    `Nicht aktuell: ${many(n, 'neuerer Eintrag', 'neuere Einträge')} dieses Standorts ${n === 1 ? 'ist' : 'sind'} noch nicht da.`,
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
  troubles: 'Störungen, die das Gateway meldet',
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
}

/** The texts of the floor of a site at the head office. */
export const floorTexts = inLanguage({ en: english, de: german })
