import { english, type Words } from './alert-texts-english.ts'
import { inLanguage } from './language.ts'

const geloest: Words = ['Die Störung ist vorbei.', 'Quittieren.']

const german: Omit<typeof english, 'kinds'> & { readonly kinds: Record<keyof typeof english.kinds, Words> } = {
  title: 'Meldungen',
  count: (n) =>
    n === 0 ? 'Keine Meldung ist offen.' : n === 1 ? '1 Meldung ist offen.' : `${n} Meldungen sind offen.`,
  open: 'Offen',
  past: 'Quittiert',
  allWell: 'Dem Gateway ist keine Störung bekannt.',
  allWellNext: 'Weiter: das System ansehen, oder die offenen Aufgaben der Halle.',
  toSystem: 'Zum Zustand',
  nonePast: 'Noch wurde keine Meldung quittiert.',
  means: 'Bedeutung:',
  todo: 'Weiter:',
  more: 'Mehr im Handbuch',
  acknowledge: 'Quittieren',
  acknowledged: 'Quittiert.',
  all: (n) => `Alle ${n} quittieren`,
  allSure: (n) => `Ja, alle ${n} quittieren`,
  seenAt: (when) => `quittiert ${when}`,
  unstored:
    'Die Platte nimmt nichts an, die Meldung steht nur im Speicher. Quittieren geht, sobald sie gespeichert ist.',
  other: ['Das Gateway braucht Aufmerksamkeit.', 'Die Meldung lesen; dann am Gerät „gatehouse doctor“ aufrufen.'],
  kinds: {
    'ffmpeg.bundled': [
      'Die Kameras werden mit dem ffmpeg gelesen, das gatehouse mitbringt. Es ist alt und bekommt keine Sicherheitsupdates.',
      'ffmpeg aus den Paketen des Systems einrichten oder ffmpeg.path setzen; dann das Gateway neu starten.',
    ],
    'clips.waiting': [
      'Clips von Kameras ließen sich noch nicht fertigstellen. Ihr Video bleibt auf dem Gerät, und es wird wieder versucht.',
      'In der Meldung steht, warum: ffmpeg einrichten oder Platz auf der Platte schaffen. Nach der Aufbewahrungsfrist gilt ein solcher Clip als verloren.',
    ],
    'clips.refused': [
      'Die Datenbank nimmt Clips nicht an. Ihre Dateien bleiben auf dem Gerät.',
      'Die Dateien behalten, die in der Meldung stehen. Am Gerät „gatehouse ledger verify“ aufrufen und im Log von gatehouse lesen, warum. Jeder Start versucht es wieder.',
    ],
    'clips.recovered': geloest,
    'storage.slow': [
      'Der Speicherserver braucht über zwei Sekunden für jede Antwort. So lange dauert jede Anmeldung.',
      'Die Last des Servers und die Leitung dorthin ansehen.',
    ],
    'storage.unreachable': [
      'Der Speicherserver oder der Anmeldedienst antwortet nicht. Wer kürzlich angemeldet war, arbeitet weiter; Uploads warten.',
      'Server und Netz ansehen. Nichts geht verloren, es geht von selbst weiter.',
    ],
    'uploads.late': [
      'Belege warten seit über zehn Minuten auf ihren Upload. Es gibt sie nur auf diesem Gerät.',
      'Uploads öffnen: bei jedem steht sein letzter Fehler. Ursache beheben; das Gateway versucht es selbst wieder.',
    ],
    'uploads.parked': [
      'Einige Dateien ließen sich nicht hochladen und werden nicht mehr versucht.',
      'Uploads öffnen, beheben was bei der Datei steht, und dort „Noch einmal“ drücken.',
    ],
    'uploads.refused': [
      'Der Speicherserver weist das Konto der Uploads ab. Nichts wird kopiert.',
      'Tun, was die Meldung sagt: das Passwort erneuern, das Konto freigeben oder den Ordner wieder teilen.',
    ],
    'upload.no_room': [
      'Der Speicherserver hat für das Konto keinen Platz oder kann nicht schreiben. Hier wird inzwischen nichts gelöscht.',
      'Dort aufräumen, das Kontingent erhöhen oder nach der Platte sehen. Danach geht es von selbst weiter.',
    ],
    'upload.mismatch': [
      'Die Kopie auf dem Speicherserver ist nicht die gesendete Datei. Vielleicht hat sie jemand geändert.',
      'Herausfinden, wer. Die Kopie beiseite legen und den Upload wiederholen. Bis dahin beide behalten.',
    ],
    'upload.file': [
      'Eine Datei dieses Geräts ist nicht lesbar, oder nicht das, was ihr Hash sagt.',
      'Die Platte ansehen und „gatehouse ledger verify“ aufrufen.',
    ],
    'upload.refused': [
      'Der Speicherserver weist diese Datei ab, und andere aus demselben Grund.',
      'Die Rechte des Kontos prüfen, dann einen Upload wiederholen; die anderen folgen.',
    ],
    'upload.lost': [
      'Eine Kopie auf dem Speicherserver fehlt oder ist verändert, und die Datei ist nicht auf diesem Gerät.',
      'Die Datei auf dem Speicherserver aus Papierkorb oder Sicherung zurückholen. Dann „Noch einmal“ drücken.',
    ],
    'upload.copy_missing': [
      'Eine Kopie fehlt auf dem Speicherserver. Das Gateway lädt die Datei wieder hoch.',
      'Herausfinden, wer sie dort entfernt hat.',
    ],
    'upload.copy_changed': [
      'Eine Kopie auf dem Speicherserver ist verändert. Das Gateway lädt die Datei daneben wieder hoch.',
      'Herausfinden, wer sie dort geändert hat. Bis dahin beide Kopien behalten.',
    ],
    'backup.late': [
      'Die neueste Sicherung ist zu alt. Nach einem Plattenschaden fehlte alles seither.',
      'Ihr Ziel prüfen: Die Freigabe muss eingehängt sein, die Platte angesteckt.',
    ],
    'backup.failed': [
      'Die letzte Sicherung ließ sich nicht machen.',
      'Am Ziel Platz schaffen und die Rechte des Ordners ansehen. „gatehouse backup DATEI“ macht eine von Hand.',
    ],
    'backup.unrestorable': [
      'Eine Sicherung ließ sich bei der Probe nicht wiederherstellen. Nicht auf sie verlassen.',
      'Von Hand eine auf eine andere Platte machen und mit „gatehouse restore“ prüfen. Die Platte des Ziels ist verdächtig.',
    ],
    'disk.low': [
      'Die Platte ist fast voll. Buchungen laufen weiter; zuerst gehen alte Clips.',
      'Vorfälle schließen, die Clips halten, retention.clips.maxAgeDays senken, den Upload richten oder eine größere Platte.',
    ],
    'disk.held': [
      'Die Platte ist fast voll, und jeden verbliebenen Clip hält ein Vorfall, ein Streitfall oder ein Upload.',
      'Alte Vorfälle und Streitfälle abschließen, den Upload richten oder eine größere Platte.',
    ],
    'disk.slow': [
      'Die Platte ist langsam: Jeder Commit der Datenbank dauert über eine Sekunde, und die Scanner warten darauf.',
      'Das Programm suchen, das die Platte beschäftigt („iotop“). Bleibt sie langsam, geht sie wahrscheinlich kaputt: sichern und ersetzen.',
    ],
    'photos.failing': [
      'Die Platte nimmt keine Fotos an. Buchungen laufen.',
      'Eigentümer und Rechte des Ordners photos/ im Datenordner prüfen, dann die Platte. Das Gateway macht von selbst weiter.',
    ],
    'disk.reserve': [
      'Nur die Reserve des Lagerbuchs ist frei. Buchungen laufen; Fotos, Clips und Berichte werden abgewiesen.',
      'Jetzt Platz schaffen, außerhalb des Ordners des Gateways: alte Journale, Pakete, Downloads.',
    ],
    'disk.full': [
      'Die Platte ist voll. Nichts lässt sich buchen. Handgeräte behalten ihre Scans und senden sie später.',
      'Jetzt Platz schaffen, außerhalb des Ordners des Gateways. Ein Neustart ist nicht nötig.',
    ],
    'disk.failing': [
      'Die Platte nimmt nichts an, obwohl sie Platz haben mag. Wahrscheinlich geht sie kaputt.',
      'Sichern, solange sie noch liest, und ersetzen. „dmesg | grep -i error“ zeigt mehr.',
    ],
    'disk.gone': [
      'Der Datenordner oder seine Datenbank wurde im Betrieb verschoben, gelöscht oder ausgehängt. Nichts lässt sich buchen.',
      'Zurücklegen oder wieder einhängen; ein Neustart ist nicht nötig. Fehlt nur gatehouse.db-wal: Gateway anhalten, Datenordner kopieren, dann starten.',
    ],
    'log.unsigned': [
      'Das Lagerbuch ist nicht das, was dieses Gerät signiert hat, die Schlüssel sind älter als ihr letzter Wechsel, oder Prüfpunkte lassen sich nicht speichern. Neues lässt sich nicht beweisen.',
      'Die Meldung lesen. Lassen sich Prüfpunkte nicht speichern: den Ordner keys/ und die Platte prüfen. Sonst nichts ändern: den Datenordner wegkopieren, dann „gatehouse ledger verify“.',
    ],
    'database.failing': [
      'Die Datenbank ist nicht lesbar.',
      'Gateway anhalten, die Platte ansehen, dann „gatehouse ledger verify“. Die Dateien behalten.',
    ],
    'witness.unreachable': [
      'Ein Zeuge antwortet seit über einer Stunde nicht. Das Log ist hier signiert, außen bestätigt es gerade niemand.',
      'Netz und Adresse in evidence.witnesses ansehen. Der neueste Stand geht von selbst hinaus.',
    ],
    'timestamps.failing': [
      'Das Log hat seit über sechs Stunden keinen Zeitstempel. Seine Zeiten beruhen auf der Uhr dieses Geräts.',
      'Netz und Adressen in evidence.timestamps ansehen.',
    ],
    'witness.refuses': [
      'Ein Zeuge unterschreibt das Log nicht. Seine Antwort steht in der Meldung.',
      'Schlüssel und Namen des Logs mit dem Config vergleichen. Seinen Betreiber fragen.',
    ],
    'witness.conflict': [
      'Ein Log, das dieses Gerät bezeugt, hat zwei Geschichten gezeigt. Eine davon ist falsch.',
      'Die Stände beider behalten: sie sind der Beweis. Der Betreiber des Logs muss es erklären.',
    ],
    'witness.ahead': [
      'Ein Zeuge hat mehr von diesem Log gesehen, als hier ist. So ist es nach einer Wiederherstellung aus einer älteren Kopie.',
      'Wurde wiederhergestellt: zuerst eine neuere Sicherung suchen. Sonst hat jemand das Lagerbuch geändert: nichts ändern.',
    ],
    'hub.unreachable': [
      'Die Zentrale hat seit über einer Stunde nichts vom Log bekommen. Die Halle läuft weiter; es wird nachgesendet.',
      'Die Leitung zur Zentrale ansehen.',
    ],
    'hub.refuses': [
      'Die Zentrale nimmt das Log nicht an. Ihre Antwort steht in der Meldung.',
      'Dort fragen, ob das Token widerrufen wurde; „gatehouse hub join“ macht ein neues.',
    ],
    'hub.other-keys': [
      'Die Zentrale kennt das Log unter anderen Schlüsseln. So ist es nach einer Wiederherstellung auf einen Stand vor dem Schlüsselwechsel.',
      'Wurde wiederhergestellt: „gatehouse restore --accept-fork“, dann „gatehouse hub join“ mit neuem Code.',
    ],
    'hub.ahead': [
      'Die Zentrale hat eine andere Geschichte dieses Logs gesehen. Das Gerät wurde wiederhergestellt, oder eines von beiden geändert.',
      'Noch nichts wiederherstellen. Die Daten beider Seiten behalten und mit der Zentrale vergleichen.',
    ],
    'clock.unsynced': [
      'Die Uhr des Geräts ist nicht abgeglichen. Buchungen laufen und sagen, dass ihre Zeit unsicher ist.',
      'Einen Zeitserver setzen, der aus diesem Netz erreichbar ist. „timedatectl timesync-status“ zeigt den Grund.',
    ],
    'box.hot': [
      'Das Gerät ist zu heiß. Es bremst sich, und Platte und Speicher altern schneller.',
      'Nach Staub, einem stehenden Lüfter, einem geschlossenen Schrank, der Sonne sehen. Luft geben.',
    ],
    'box.throttled': [
      'Der Prozessor bremst sich, um sich zu schützen. Bilder und Antworten kommen spät.',
      'Das Gerät kühlen oder ihm weniger Kameras geben; „gatehouse doctor --capacity“ misst, was es kann.',
    ],
    'box.voltage': [
      'Das Gerät bekommt zu wenig Spannung. Es kann jederzeit ausgehen und beschädigen, was es schreibt.',
      'Sein eigenes Netzteil und ein kurzes Kabel benutzen; abziehen, was an seinem USB hängt.',
    ],
    'update.unreachable': [
      'Das Gerät hat seinen Updateserver seit über einer Woche nicht erreicht. Ihm können Sicherheitskorrekturen fehlen.',
      'Seinen Weg ins Internet prüfen und die Adresse hinter „updates=“ in first-boot.txt.',
    ],
    'update.failed': [
      'Ein neueres System ließ sich nicht installieren. Das Gerät läuft mit seinem weiter und versucht es in einer anderen Nacht wieder.',
      '„journalctl -u gatehouse-update“ auf dem Gerät zeigt den Grund.',
    ],
    'update.refused': [
      'Ein neueres System wurde an einer Kopie des Lagerbuchs geprüft und bestand nicht. Das Gerät läuft mit seinem weiter.',
      '„gatehouse doctor“ zeigt die Gründe und den Befehl, der das System trotzdem nimmt.',
    ],
    'update.fell_back': [
      'Ein neueres System startete nicht oder blieb nicht gesund. Das Gerät ging zum vorigen zurück; nichts ist verloren.',
      '„journalctl -u gatehouse-slot“ zeigt den Grund. Ein berichtigtes System veröffentlichen.',
    ],
    'config.refused': [
      'Die letzte Änderung am Config hat einen Fehler. Das Gateway behält seine Einstellungen.',
      'Die Zeile der Meldung berichtigen. „gatehouse config check“ aufrufen, dann neu laden.',
    ],
    'alerts.unsent': [
      'Nachrichten über Meldungen kommen nicht an. Die Meldungen stehen in dieser Liste.',
      'Die Meldung nennt den letzten Fehler. Den Kanal im Config berichtigen, neu laden, dann unten testen.',
    ],
    'webhook.failing': [
      'Sechs Versuche einer Zustellung schlugen fehl: ein Empfänger weist ab oder antwortet nicht. Andere gehen weiter.',
      'Webhooks öffnen: bei jeder Zustellung steht, was der Empfänger geantwortet hat. Sein Betreiber muss es richten.',
    ],
    'webhook.disabled': [
      'Ein Empfänger ging so lange fehl, dass sein Webhook abgeschaltet wurde. Nichts ist verloren; Zustellungen warten.',
      'Ist er gerichtet, in den Webhooks einen Test senden und fortsetzen. Ein guter Test alle 15 Minuten tut das auch.',
    ],
    'webhook.offline': [
      'Das Gerät hat keine Verbindung nach außen. Zustellungen warten, keine zählt als fehlgeschlagen.',
      'Leitung und Router ansehen. Alles wird gesendet, wenn sie wieder da ist.',
    ],
    'cameras.unwatched': [
      'Eine Kamera mit einer Störung wurde abgeschaltet oder aus dem Config genommen. Das Gateway beobachtet sie nicht.',
      'Nichts, wenn es so gewollt war.',
    ],
    'storage.unwatched': [
      'Ein Speicherserver mit einer Störung wurde aus dem Config genommen.',
      'Nichts, wenn es so gewollt war.',
    ],
    'box.cool': geloest,
    'box.powered': geloest,
    'config.accepted': geloest,
    'alerts.recovered': geloest,
    'ffmpeg.replaced': geloest,
    'update.recovered': geloest,
    'storage.recovered': geloest,
    'uploads.recovered': geloest,
    'backup.recovered': geloest,
    'disk.recovered': geloest,
    'photos.recovered': geloest,
    'log.signed': geloest,
    'database.recovered': geloest,
    'witness.recovered': geloest,
    'witness.conflict.ended': geloest,
    'timestamps.recovered': geloest,
    'hub.recovered': geloest,
    'clock.synced': geloest,
  },
}

/** The texts of the view of alerts. */
export const alertTexts = inLanguage<typeof german>({ en: english, de: german })
