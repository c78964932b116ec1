import { countOf, numberWords } from './counting.ts'
import { inLanguage } from './language.ts'

const english = {
  hidden: 'It is in a place that you may not see.',
  never: 'Never seen: no move of it is recorded.',
  removedFrom: (slot: string, when: string) => `Removed from ${slot} on ${when}. Not placed since.`,
  replaced: (slot: string, when: string) =>
    `Not in ${slot} any more: another pallet was placed there, or taken out of it. Placed there on ${when}.`,
  since: (slot: string, when: string) => `In ${slot} since ${when}.`,
  underAMinute: 'less than a minute',
  minutes: (n: number) => countOf(n, 'minute'),
  hours: (n: number) => countOf(n, 'hour'),
  days: (n: number) => countOf(n, 'day'),
  causes: {
    offline: 'the camera was offline',
    refused: 'the camera refused the sign-in',
    stalled: 'the camera sent no pictures',
    disarmed: 'the camera was disarmed',
    cooldown: 'the camera paused after the clip before',
    disk_full: 'the disk was full',
    daemon_down: 'the gateway was off',
    restarted: 'the gateway was opening the stream',
    no_keyframe: 'the stream had no complete picture',
    outside_hours: 'it was outside of the recording hours',
    still: 'the picture of the camera stood still',
    covered: 'the camera was covered or in the dark',
    turned: 'the camera showed another place',
    few_pictures: 'the camera sent too few pictures',
    too_busy: 'the gateway was too busy to look at the pictures',
    no_events: 'the camera sent no events of its analytics',
  } as Readonly<Record<string, string>>,
  noCamera: (slot: string) => `No camera watches ${slot}.`,
  notVisible: (slot: string) => `A camera watches ${slot}, but you may not see it.`,
  noneSetUp: (slot: string) => `No camera watched here, because none is set up for ${slot}.`,
  pending: 'The film is being made.',
  filmGone: 'The film is gone for good.',
  expired: 'The film was removed when its time to be kept was over.',
  notKept: 'No film: a camera watched, but this move came too late to be filmed, and no continuous video was kept.',
  noFilm: (why: string) => `No film: ${why}.`,
  noneWatched: (why: string) => `No camera watched here, because ${why}.`,
  nothingRecorded: 'No film: nothing was recorded at that moment.',
  nothingMoved: 'nothing moved',
  motion: (n: number) => `motion ${countOf(n, 'time')}`,
  watchedAll: (name: string, saw: string) => `${name} watched all the time: ${saw}.`,
  watchedNot: (name: string, why: string) =>
    `${name} did not watch here${why === '' ? ': it was not connected to this gateway yet' : `, because ${why}`}.`,
  watchedPartly: (name: string, percent: number, saw: string, why: string) =>
    `${name} watched ${numberWords(percent)} % of the time (${saw}). For the rest no camera watched here${why === '' ? ', because it was added later' : `, because ${why}`}.`,
  recorded: 'Recorded: on disk, not signed yet',
  signed: (when: string) => (when === '' ? 'Signed' : `Signed on ${when}`),
  witnessed: (names: string) => `Witnessed by ${names}`,
  stamped: (when: string, names: string) =>
    `Time-stamped${when === '' ? '' : ` on ${when}`}${names === '' ? '' : `, witnessed by ${names}`}`,
}

const german: typeof english = {
  hidden: 'Sie steht an einem Ort, den Sie nicht sehen dürfen.',
  never: 'Nie gesehen: Keine Bewegung von ihr ist gebucht.',
  removedFrom: (slot, when) => `Ausgelagert von ${slot} am ${when}. Seither nicht eingelagert.`,
  replaced: (slot, when) =>
    `Nicht mehr auf ${slot}: Dort wurde eine andere Palette ein- oder ausgelagert. Eingelagert wurde sie dort am ${when}.`,
  since: (slot, when) => `Auf ${slot} seit ${when}.`,
  underAMinute: 'weniger als eine Minute',
  minutes: (n) => countOf(n, 'Minute', 'Minuten'),
  hours: (n) => countOf(n, 'Stunde', 'Stunden'),
  days: (n) => (n === 1 ? '1 Tag' : `${numberWords(n)} Tage`),
  causes: {
    offline: 'die Kamera war nicht verbunden',
    refused: 'die Kamera lehnte die Anmeldung ab',
    stalled: 'die Kamera sandte keine Bilder',
    disarmed: 'die Kamera war unscharf geschaltet',
    cooldown: 'die Kamera pausierte nach dem vorigen Clip',
    disk_full: 'die Platte war voll',
    daemon_down: 'das Gateway war aus',
    restarted: 'das Gateway öffnete den Videostrom erst',
    no_keyframe: 'der Videostrom hatte kein vollständiges Bild',
    outside_hours: 'es war außerhalb der Aufnahmezeiten',
    still: 'das Bild der Kamera stand still',
    covered: 'die Kamera war verdeckt oder im Dunkeln',
    turned: 'die Kamera zeigte einen anderen Ort',
    few_pictures: 'die Kamera sendete zu wenige Bilder',
    too_busy: 'das Gateway war zu beschäftigt, um die Bilder anzusehen',
    no_events: 'die Kamera sendete keine Ereignisse ihrer Analyse',
  },
  noCamera: (slot) => `Keine Kamera sieht ${slot}.`,
  notVisible: (slot) => `Eine Kamera sieht ${slot}, aber Sie dürfen sie nicht sehen.`,
  noneSetUp: (slot) => `Hier sah keine Kamera zu: Für ${slot} ist keine eingerichtet.`,
  pending: 'Der Film wird gerade gemacht.',
  filmGone: 'Den Film gibt es nicht mehr.',
  expired: 'Der Film wurde nach Ablauf seiner Frist gelöscht.',
  notKept:
    'Kein Film: Eine Kamera hat zugesehen, aber diese Bewegung kam zu spät, um gefilmt zu werden, und fortlaufendes Video wurde nicht aufbewahrt.',
  noFilm: (why) => `Kein Film: ${why}.`,
  noneWatched: (why) => `Hier sah keine Kamera zu: ${why}.`,
  nothingRecorded: 'Kein Film: In diesem Augenblick wurde nichts aufgezeichnet.',
  nothingMoved: 'nichts bewegte sich',
  motion: (n) => `${numberWords(n)}-mal Bewegung`,
  watchedAll: (name, saw) => `${name} sah die ganze Zeit zu: ${saw}.`,
  watchedNot: (name, why) =>
    `${name} sah hier nicht zu: ${why === '' ? 'noch nicht mit diesem Gateway verbunden' : why}.`,
  watchedPartly: (name, percent, saw, why) =>
    `${name} sah ${numberWords(percent)} % der Zeit zu (${saw}). In der übrigen Zeit sah hier keine Kamera zu: ${why === '' ? 'sie kam später dazu' : why}.`,
  recorded: 'Gebucht: auf der Platte, noch nicht signiert',
  signed: (when) => (when === '' ? 'Signiert' : `Signiert am ${when}`),
  witnessed: (names) => `Bezeugt von ${names}`,
  stamped: (when, names) =>
    `Mit Zeitstempel${when === '' ? '' : ` vom ${when}`}${names === '' ? '' : `, bezeugt von ${names}`}`,
}

/** The sentences about where a pallet was, who watched and what is proven. */
export const storyTexts = inLanguage({ en: english, de: german })
