import type { PageLanguage } from '../http/index.ts'

/** The steps on one kind of device; `command` and `after` follow them. */
type Kind = {
  readonly name: string
  readonly steps: readonly string[]
  readonly command?: string
  readonly after?: string
}

const certutil = 'certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n gatehouse -i gatehouse-ca.crt'

const english = {
  title: 'Trust this gateway',
  other: 'Deutsch',
  nothing:
    'There is nothing to install: this gateway has no certificate authority. Either its certificate comes from somebody whom devices trust already, or it runs without TLS. Handhelds that scan without a network need TLS: an admin makes it by',
  why: 'Do this once on each handheld, tablet and computer. Then its browser shows no warning for this gateway, and scanning works without a network.',
  compare: '1. Compare the fingerprint',
  same: 'It must be the same as on the paper or screen of your admin: in the enrolment code, or printed by',
  differs: 'If one character differs, stop and call your admin.',
  get: '2. Download the certificate',
  download: 'Download the certificate',
  install: '3. Install it on this device',
  kinds: [
    {
      name: 'Android',
      steps: [
        'Tap “Download the certificate” above.',
        'Open Settings. Search there for “CA certificate”. It is under Security, More security settings, Encryption and credentials, Install a certificate.',
        'Tap “CA certificate”, then “Install anyway”. Android warns about every CA; you compared the fingerprint.',
        'Choose gatehouse-ca.crt in Downloads.',
        'Close the browser and open this gateway again.',
      ],
      after:
        'Android asks for a screen lock first if the device has none. Firefox has a separate switch: Settings, Secret settings, Use third party CA certificates.',
    },
    {
      name: 'iPhone and iPad',
      steps: [
        'Open this page in Safari and tap “Download the certificate”, then “Allow”.',
        'Open Settings. Tap “Profile Downloaded”, or General, VPN & Device Management.',
        'Tap the profile of gatehouse, then “Install”, twice.',
        'Go to Settings, General, About, Certificate Trust Settings. Switch on gatehouse there.',
        'Open this gateway again.',
      ],
    },
    {
      name: 'Windows',
      steps: [
        'Click “Download the certificate” above, and open the file.',
        'Click “Install Certificate”. Choose “Local Machine” for all users, or “Current User”.',
        'Choose “Place all certificates in the following store”, “Browse”, “Trusted Root Certification Authorities”.',
        'Click “Next”, “Finish”, and “Yes”.',
        'Close every window of the browser and open this gateway again.',
      ],
    },
    {
      name: 'Linux',
      steps: [
        'Click “Download the certificate” above.',
        'Chromium and Chrome: run the command below, and start the browser again.',
        'Firefox: Settings, Privacy & Security, View Certificates, Authorities, Import. Tick “Trust this CA to identify websites”.',
        'Programs on Debian and Ubuntu: copy the file to /usr/local/share/ca-certificates and run update-ca-certificates as root.',
      ],
      command: certutil,
    },
  ] as readonly Kind[],
}

const german: typeof english = {
  title: 'Diesem Gateway vertrauen',
  other: 'English',
  nothing:
    'Hier ist nichts zu installieren: Dieses Gateway hat keine eigene Zertifizierungsstelle. Entweder kommt sein Zertifikat von jemandem, dem Geräte schon vertrauen, oder es läuft ohne TLS. Handscanner, die ohne Netz scannen, brauchen TLS. Ein Admin richtet es ein mit',
  why: 'Machen Sie das einmal auf jedem Handscanner, Tablet und Rechner. Danach zeigt der Browser für dieses Gateway keine Warnung mehr, und Scannen geht auch ohne Netz.',
  compare: '1. Fingerabdruck vergleichen',
  same: 'Er muss derselbe sein wie auf dem Papier oder Bildschirm Ihres Admins: im Code zum Anmelden des Geräts, oder ausgegeben von',
  differs: 'Weicht ein einziges Zeichen ab, hören Sie auf und rufen Sie Ihren Admin.',
  get: '2. Zertifikat herunterladen',
  download: 'Zertifikat herunterladen',
  install: '3. Auf diesem Gerät installieren',
  kinds: [
    {
      name: 'Android',
      steps: [
        'Tippen Sie oben auf „Zertifikat herunterladen“.',
        'Öffnen Sie die Einstellungen und suchen Sie „CA-Zertifikat“. Es steht unter Sicherheit, Weitere Sicherheitseinstellungen, Verschlüsselung und Anmeldedaten, Zertifikat installieren.',
        'Tippen Sie auf „CA-Zertifikat“, dann auf „Trotzdem installieren“. Android warnt vor jeder CA; Sie haben den Fingerabdruck verglichen.',
        'Wählen Sie gatehouse-ca.crt unter Downloads.',
        'Schließen Sie den Browser und öffnen Sie dieses Gateway erneut.',
      ],
      after:
        'Hat das Gerät keine Bildschirmsperre, verlangt Android zuerst eine. Firefox hat einen eigenen Schalter: Einstellungen, Geheime Einstellungen, CA-Zertifikate von Drittanbietern verwenden.',
    },
    {
      name: 'iPhone und iPad',
      steps: [
        'Öffnen Sie diese Seite in Safari und tippen Sie auf „Zertifikat herunterladen“, dann auf „Zulassen“.',
        'Öffnen Sie die Einstellungen. Tippen Sie auf „Profil geladen“, oder auf Allgemein, VPN & Geräteverwaltung.',
        'Tippen Sie auf das Profil von gatehouse, dann zweimal auf „Installieren“.',
        'Gehen Sie zu Einstellungen, Allgemein, Info, Zertifikatsvertrauenseinstellungen. Schalten Sie dort gatehouse ein.',
        'Öffnen Sie dieses Gateway erneut.',
      ],
    },
    {
      name: 'Windows',
      steps: [
        'Klicken Sie oben auf „Zertifikat herunterladen“ und öffnen Sie die Datei.',
        'Klicken Sie auf „Zertifikat installieren“. Wählen Sie „Lokaler Computer“ für alle Benutzer oder „Aktueller Benutzer“.',
        'Wählen Sie „Alle Zertifikate in folgendem Speicher speichern“, „Durchsuchen“, „Vertrauenswürdige Stammzertifizierungsstellen“.',
        'Klicken Sie auf „Weiter“, „Fertig stellen“ und „Ja“.',
        'Schließen Sie alle Fenster des Browsers und öffnen Sie dieses Gateway erneut.',
      ],
    },
    {
      name: 'Linux',
      steps: [
        'Klicken Sie oben auf „Zertifikat herunterladen“.',
        'Chromium und Chrome: Geben Sie den Befehl unten ein und starten Sie den Browser neu.',
        'Firefox: Einstellungen, Datenschutz & Sicherheit, Zertifikate anzeigen, Zertifizierungsstellen, Importieren. Setzen Sie den Haken bei „Dieser CA vertrauen, um Websites zu identifizieren“.',
        'Programme unter Debian und Ubuntu: Kopieren Sie die Datei nach /usr/local/share/ca-certificates und starten Sie als root update-ca-certificates.',
      ],
      command: certutil,
    },
  ],
}

/** The texts of the page at /trust, which is made without a script. */
export const trustTexts: Readonly<Record<PageLanguage, typeof english>> = { en: english, de: german }
