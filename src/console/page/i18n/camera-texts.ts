import { countOf } from './counting.ts'
import { inLanguage } from './language.ts'

/** A meaning and its remedy. */
type Meaning = readonly [means: string, todo: string]

const english = {
  title: 'Cameras',
  count: (all: number, watching: number) =>
    all === 0 ? '' : watching === all ? `All ${all} watch.` : `${watching} of ${all} watch.`,
  none: 'There is no camera that you may see.',
  noneAdmin:
    'Next: find the cameras of the hall with “gatehouse camera discover”. Try one with “gatehouse camera probe”, and paste the printed entry into the config.',
  noneOther: 'The admin adds cameras in the config, and names there who sees them (owner and viewers).',
  noSuch: 'There is no such camera, or you may not see it.',
  all: 'All cameras',
  pictures: 'Pictures',
  newPictures: 'every few seconds',
  allLive: 'all live',
  watchLive: 'Watch live',
  stopLive: 'Stop live',
  liveOf: (name: string) => `Live pictures of ${name}`,
  newestOf: (name: string) => `Newest picture of ${name}`,
  connecting: 'Connecting …',
  lost: 'The connection was lost. Trying again …',
  noPicture: 'No picture now.',
  taken: (when: string) => `Picture of ${when}`,
  open: 'Day and clips',
  alerts: 'Alerts',
  means: 'Meaning:',
  todo: 'Next:',
  notice: 'Sign for the door, to print',
  accept: 'The picture is right as it is',
  accepted: (name: string) => `${name}: the picture counts as right from now on.`,
  states: {
    live: 'Live',
    watching: 'Watching',
    connecting: 'Connecting',
    away: 'Away',
    off: 'Switched off',
    hours: 'Outside its hours',
    covered: 'Covered or dark',
    turned: 'Turned',
    still: 'Frozen picture',
    few_pictures: 'Too few pictures',
    too_busy: 'Not looked at',
    no_events: 'No events',
    light: 'Light just changed',
  },
  since: (when: string, why: string) => `Since ${when}, because ${why}.`,
  sinceOnly: (when: string) => `Since ${when}.`,
  for: (span: string) => `For ${span}.`,
  off: 'Motion is not recorded. It is disabled in the config, or somebody stopped it.',
  means_: {
    'camera.offline': [
      'No pictures came for over a minute. There is no film of this time; the ledger has it as a gap.',
      'Check its power and its cable, then read its tile. A second alert reports its return.',
    ],
    'camera.covered': [
      'The picture has lost its detail: something is in front of the lens, it is dirty, or it is dark. Motion can hardly be seen.',
      'Look at the picture. Clean or free the lens, or switch on the light.',
    ],
    'camera.turned': [
      'Its view has changed: somebody moved or hit it. It may not see its slots.',
      'Turn it back, or accept the new view. After half an hour the new view is accepted by itself.',
    ],
    'camera.still': [
      'Every picture is exactly the same. The camera has probably hung, and shows nothing new.',
      'Restart the camera.',
    ],
    'camera.few-pictures': [
      'It sends fewer than 3 pictures a second, so motion cannot be found. The time is a gap in the ledger.',
      'Set its frame rate to 10 or more, and look for a night mode or a bandwidth limit that lowers it.',
    ],
    'camera.too-busy': [
      'The gateway is too busy to look at its pictures, so it may miss motion. The time is a gap in the ledger.',
      'Find the other work that loads the processor, or give the camera a smaller stream for detection.',
    ],
    'camera.no-events': [
      'Its own analytics are to find motion, and their events do not come. The time is a gap in the ledger.',
      'Check ONVIF, account and clock in the camera. Its page says what is wrong.',
    ],
    'camera.pre-roll': [
      'Clips begin later than the config asks for, so the seconds before a motion are missing.',
      'Give the camera a shorter distance of key frames, or the gateway more memory; the alert says which.',
    ],
  } as Readonly<Record<string, Meaning>>,
  over: [
    'The trouble has ended. The time without pictures stays in the ledger as a gap.',
    'Acknowledge it.',
  ] as Meaning,
  other: ['This camera needs attention.', 'Read the message; it says what to do.'] as Meaning,
  slots: (labels: readonly string[]) =>
    labels.length === 0 ? '' : `Looks at ${labels.length > 6 ? countOf(labels.length, 'slot') : labels.join(', ')}.`,
  acknowledge: 'Acknowledge',
  acknowledged: 'Acknowledged.',
  day: {
    before: 'Day before',
    after: 'Day after',
    choose: 'Day to show',
    closer: 'Closer',
    farther: 'Farther',
    whole: 'Whole day',
    shows: (from: string, to: string) => `${from} to ${to}`,
    line: 'Time of the day',
    keys: 'Keys: arrows move in time. N and P go to the next or previous entry. Enter plays, plus and minus zoom, 0 shows the whole day.',
    legend:
      'Top: clips (low marks: motion without a clip). Hatched: times in which the camera did not watch. Bottom: how much the picture changed, with the sensitivity as a dashed line.',
    quiet: 'Nothing was recorded at this moment.',
    motion: 'Motion',
    film: 'Film of an event on the floor',
    gap: (why: string) => `Did not watch: ${why}`,
    without: {
      cooldown: 'no separate clip: another one was open or had just ended',
      lost: 'its clip was lost',
      expired: 'its clip was removed when its time was over',
    } as Readonly<Record<string, string>>,
    clipOf: (when: string) => `Clip of ${when}`,
    unplayable: 'This browser cannot play the clip.',
    report: 'Report an incident about this clip',
    loading: 'Looking for clips and gaps …',
    nothing: 'In this time the camera recorded no motion, and no gap is known.',
    table: (detections: number, gaps: number, from: string, to: string) =>
      `${countOf(detections, 'detection')} and ${countOf(gaps, 'gap')}, ${from} to ${to}`,
    tableName: 'Clips and gaps',
    columns: ['Time', 'Kind', 'Length', 'Score or detail', 'Clip'],
    play: 'Play',
    playAt: (when: string) => `Play the clip of ${when}`,
    failed: (why: string) => `The day could not be read: ${why}.`,
  },
}

const german: typeof english = {
  title: 'Kameras',
  count: (all, watching) =>
    all === 0
      ? ''
      : watching === all
        ? all === 1
          ? 'Die eine sieht zu.'
          : `Alle ${all} sehen zu.`
        : `${watching} von ${all} ${watching === 1 ? 'sieht' : 'sehen'} zu.`,
  none: 'Es gibt keine Kamera, die Sie sehen dürfen.',
  noneAdmin:
    'Weiter: die Kameras der Halle mit „gatehouse camera discover“ finden. Eine mit „gatehouse camera probe“ ausprobieren und den ausgegebenen Eintrag in die Konfiguration einfügen.',
  noneOther: 'Der Admin trägt Kameras in der Konfiguration ein und nennt dort, wer sie sieht (owner und viewers).',
  noSuch: 'Diese Kamera gibt es nicht, oder Sie dürfen sie nicht sehen.',
  all: 'Alle Kameras',
  pictures: 'Bilder',
  newPictures: 'alle paar Sekunden',
  allLive: 'alle live',
  watchLive: 'Live ansehen',
  stopLive: 'Live beenden',
  liveOf: (name) => `Livebild von ${name}`,
  newestOf: (name) => `Neuestes Bild von ${name}`,
  connecting: 'Verbindet …',
  lost: 'Die Verbindung ging verloren. Neuer Versuch …',
  noPicture: 'Jetzt kein Bild.',
  taken: (when) => `Bild von ${when}`,
  open: 'Tag und Clips',
  alerts: 'Meldungen',
  means: 'Bedeutung:',
  todo: 'Weiter:',
  notice: 'Schild für die Tür, zum Drucken',
  accept: 'Das Bild ist so richtig',
  accepted: (name) => `${name}: Das Bild gilt ab jetzt als richtig.`,
  states: {
    live: 'Aktiv',
    watching: 'Sieht zu',
    connecting: 'Verbindet',
    away: 'Nicht da',
    off: 'Ausgeschaltet',
    hours: 'Außerhalb ihrer Zeiten',
    covered: 'Verdeckt oder dunkel',
    turned: 'Verdreht',
    still: 'Standbild',
    few_pictures: 'Zu wenige Bilder',
    too_busy: 'Nicht angesehen',
    no_events: 'Keine Ereignisse',
    light: 'Licht eben gewechselt',
  },
  since: (when, why) => `Seit ${when}, weil: ${why}.`,
  sinceOnly: (when) => `Seit ${when}.`,
  for: (span) => `Seit ${span}.`,
  off: 'Bewegung wird nicht aufgezeichnet. Es ist in der Konfiguration abgeschaltet, oder jemand hat es angehalten.',
  means_: {
    'camera.offline': [
      'Über eine Minute lang kamen keine Bilder. Von dieser Zeit gibt es keinen Film; sie steht als Lücke im Lagerbuch.',
      'Strom und Kabel prüfen, dann die Kachel lesen. Eine zweite Meldung meldet ihre Rückkehr.',
    ],
    'camera.covered': [
      'Das Bild hat keine Einzelheiten mehr: Etwas verdeckt das Objektiv, es ist schmutzig, oder es ist dunkel. Bewegung ist kaum zu sehen.',
      'Das Bild ansehen. Objektiv reinigen oder freimachen, oder Licht einschalten.',
    ],
    'camera.turned': [
      'Ihr Blick hat sich geändert: Jemand hat sie bewegt oder angestoßen. Vielleicht sieht sie ihre Stellplätze nicht.',
      'Zurückdrehen oder den neuen Blick annehmen. Nach einer halben Stunde gilt er von selbst.',
    ],
    'camera.still': [
      'Jedes Bild ist genau gleich. Wahrscheinlich hängt die Kamera und zeigt nichts Neues.',
      'Die Kamera neu starten.',
    ],
    'camera.few-pictures': [
      'Sie sendet weniger als 3 Bilder in der Sekunde; Bewegung ist so nicht zu finden. Die Zeit steht als Lücke im Lagerbuch.',
      'Die Bildrate auf 10 oder mehr stellen und nach einem Nachtmodus oder einer Grenze der Bandbreite sehen, die sie senkt.',
    ],
    'camera.too-busy': [
      'Das Gateway ist zu beschäftigt, ihre Bilder anzusehen; Bewegung kann ihm entgehen. Die Zeit steht als Lücke im Lagerbuch.',
      'Nachsehen, was sonst den Prozessor braucht, oder der Kamera einen kleineren Videostrom für die Erkennung geben.',
    ],
    'camera.no-events': [
      'Ihre eigene Analyse soll Bewegung finden, und deren Ereignisse kommen nicht. Die Zeit steht als Lücke im Lagerbuch.',
      'ONVIF, Konto und Uhr in der Kamera prüfen. Ihre Seite sagt, was fehlt.',
    ],
    'camera.pre-roll': [
      'Clips beginnen später, als die Konfiguration es verlangt; die Sekunden vor einer Bewegung fehlen.',
      'Der Kamera einen kürzeren Abstand der Schlüsselbilder geben oder dem Gateway mehr Speicher; die Meldung sagt, was.',
    ],
  },
  over: ['Die Störung ist vorbei. Die Zeit ohne Bilder bleibt als Lücke im Lagerbuch.', 'Quittieren.'],
  other: ['Diese Kamera braucht Aufmerksamkeit.', 'Die Meldung lesen; sie sagt, was zu tun ist.'],
  slots: (labels) =>
    labels.length === 0
      ? ''
      : `Blickt auf ${labels.length > 6 ? countOf(labels.length, 'Stellplatz', 'Stellplätze') : labels.join(', ')}.`,
  acknowledge: 'Quittieren',
  acknowledged: 'Quittiert.',
  day: {
    before: 'Tag davor',
    after: 'Tag danach',
    choose: 'Tag, der gezeigt wird',
    closer: 'Näher',
    farther: 'Weiter weg',
    whole: 'Ganzer Tag',
    shows: (from, to) => `${from} bis ${to}`,
    line: 'Uhrzeit',
    keys: 'Tasten: Pfeile gehen durch die Zeit. N und P gehen zum nächsten oder vorigen Eintrag. Enter spielt ab, Plus und Minus ändern die Größe, 0 zeigt den ganzen Tag.',
    legend:
      'Oben: Clips (niedrige Marken: Bewegung ohne Clip). Schraffiert: Zeiten, in denen die Kamera nicht zusah. Unten: wie stark sich das Bild änderte, gestrichelt die Empfindlichkeit.',
    quiet: 'In diesem Augenblick wurde nichts aufgezeichnet.',
    motion: 'Bewegung',
    film: 'Film eines Ereignisses in der Halle',
    gap: (why) => `Sah nicht zu: ${why}`,
    without: {
      cooldown: 'kein eigener Clip: ein anderer lief noch oder war eben zu Ende',
      lost: 'der Clip ging verloren',
      expired: 'der Clip wurde nach Ablauf seiner Frist gelöscht',
    },
    clipOf: (when) => `Clip von ${when}`,
    unplayable: 'Dieser Browser kann den Clip nicht abspielen.',
    report: 'Vorfall zu diesem Clip melden',
    loading: 'Clips und Lücken werden gesucht …',
    nothing: 'In dieser Zeit hat die Kamera keine Bewegung aufgezeichnet, und es ist keine Lücke bekannt.',
    table: (detections, gaps, from, to) =>
      `${countOf(detections, 'Erkennung', 'Erkennungen')} und ${countOf(gaps, 'Lücke', 'Lücken')}, ${from} bis ${to}`,
    tableName: 'Clips und Lücken',
    columns: ['Zeit', 'Art', 'Länge', 'Wert oder Grund', 'Clip'],
    play: 'Abspielen',
    playAt: (when) => `Den Clip von ${when} abspielen`,
    failed: (why) => `Der Tag konnte nicht gelesen werden: ${why}.`,
  },
}

/** The texts of the views of cameras. */
export const cameraTexts = inLanguage({ en: english, de: german })
