import { inLanguage } from './language.ts'

/** By kinds of the API. A later version of the gateway may know more. */
type Words = Readonly<Record<string, string>>
type Texts = Readonly<
  Record<'title' | 'filter' | 'everything' | 'listening' | 'waiting' | 'wrongTimes' | 'rules' | 'map', string>
> & {
  readonly kinds: Words
  readonly problems: Words
  readonly byCamera: (what: string) => string
  readonly rule: (name: string, kind: string, isMapped: boolean) => string
}

const english: Texts = {
  title: 'Analytics of the camera',
  filter: 'Show',
  everything: 'Everything',
  kinds: {
    ...{ person: 'Person', vehicle: 'Vehicle', animal: 'Animal', line: 'Line or field', motion: 'Motion' },
    ...{ tamper: 'Tampering', ignore: 'Ignored' },
  },
  byCamera: (what: string) => `${what} (found by the camera)`,
  listening: 'The gateway receives its events.',
  waiting: 'The gateway connects to its event service.',
  wrongTimes: 'Its events state wrong times, so the time of their arrival counts. Set the clock of the camera.',
  problems: {
    unreachable: 'Its ONVIF service does not answer. Switch ONVIF on in the camera, and check analytics.url.',
    refused: 'Its ONVIF service refuses the account. Add the account for ONVIF in the camera, and check its clock.',
    'no-events': 'It offers no events by ONVIF. Check its firmware, or set motion.source to pictures.',
    'no-place': 'It has no subscription left. Disconnect another recorder, or restart the camera.',
    forgotten: 'It ended the subscription. It may have restarted.',
    'too-large': 'Its answer is too large to be a list of events. Restart the camera, and update its firmware.',
    unreadable: 'Its answer cannot be read. Check analytics.url in the config.',
    'password-unreadable': 'The passwordFile of the camera cannot be read.',
  },
  rules: 'Rules that have reported',
  rule: (name: string, kind: string, isMapped: boolean) => `${name}: ${kind}${isMapped ? '' : ' (default)'}`,
  map: 'Another meaning: analytics.rules in the config.',
}

const german: Texts = {
  title: 'Analyse der Kamera',
  filter: 'Zeigen',
  everything: 'Alles',
  kinds: {
    ...{ person: 'Person', vehicle: 'Fahrzeug', animal: 'Tier', line: 'Linie oder Feld', motion: 'Bewegung' },
    ...{ tamper: 'Manipulation', ignore: 'Nicht beachtet' },
  },
  byCamera: (what) => `${what} (von der Kamera gefunden)`,
  listening: 'Das Gateway empfängt ihre Ereignisse.',
  waiting: 'Das Gateway verbindet sich mit ihrem Ereignisdienst.',
  wrongTimes: 'Ihre Ereignisse tragen falsche Zeiten, darum zählt die Zeit der Ankunft. Die Uhr der Kamera stellen.',
  problems: {
    unreachable: 'Ihr ONVIF-Dienst antwortet nicht. ONVIF in der Kamera einschalten und analytics.url prüfen.',
    refused: 'Ihr ONVIF-Dienst weist das Konto ab. Das Konto in der Kamera für ONVIF anlegen und ihre Uhr prüfen.',
    'no-events': 'Sie bietet über ONVIF keine Ereignisse. Firmware prüfen oder motion.source auf pictures stellen.',
    'no-place': 'Sie hat kein Abonnement mehr frei. Einen anderen Rekorder trennen oder die Kamera neu starten.',
    forgotten: 'Sie hat das Abonnement beendet. Vielleicht hat sie neu gestartet.',
    'too-large': 'Ihre Antwort ist zu groß für eine Liste von Ereignissen. Neu starten und die Firmware erneuern.',
    unreadable: 'Ihre Antwort ist nicht lesbar. analytics.url in der Konfiguration prüfen.',
    'password-unreadable': 'Die passwordFile der Kamera ist nicht lesbar.',
  },
  rules: 'Regeln, die sich gemeldet haben',
  rule: (name, kind, isMapped) => `${name}: ${kind}${isMapped ? '' : ' (Vorgabe)'}`,
  map: 'Andere Bedeutung: analytics.rules in der Konfiguration.',
}

export const analyticsTexts = inLanguage({ en: english, de: german })
