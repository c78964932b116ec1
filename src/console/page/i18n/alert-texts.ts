import { inLanguage } from './language.ts'
import { countOf } from './words.ts'

/** The meaning of an alert, and its remedy; `gatehouse doctor` and the runbook say the same. */
type Words = readonly [means: string, todo: string]

const recovered: Words = ['The trouble has ended.', 'Acknowledge it.']
const geloest: Words = ['Die Störung ist vorbei.', 'Quittieren.']

const english = {
  title: 'Alerts',
  count: (n: number) => (n === 0 ? 'No alert is open.' : `${countOf(n, 'alert is', 'alerts are')} open.`),
  open: 'Open',
  past: 'Acknowledged',
  allWell: 'The gateway knows of no trouble.',
  allWellNext: 'Next: look at the system, or at the open tasks of the floor.',
  toSystem: 'To the system',
  nonePast: 'No alert was acknowledged yet.',
  means: 'Meaning:',
  todo: 'Next:',
  more: 'More in the manual',
  acknowledge: 'Acknowledge',
  acknowledged: 'Acknowledged.',
  all: (n: number) => `Acknowledge all ${n}`,
  allSure: (n: number) => `Yes, acknowledge all ${n}`,
  seenAt: (when: string) => `acknowledged ${when}`,
  unstored: 'The disk takes no writes, so this alert is in memory only. You can acknowledge it once it is stored.',
  other: ['The gateway needs attention.', 'Read the message, then run “gatehouse doctor” at the box.'] as Words,
  kinds: {
    'ffmpeg.bundled': [
      'The cameras are read by the ffmpeg that came with gatehouse. It is old and gets no security updates.',
      'Install ffmpeg from the packages of the system, or set ffmpeg.path; then restart the gateway.',
    ],
    'clips.waiting': [
      'Some clips could not be made yet. The box keeps their video and tries again.',
      'The message has the reason: install ffmpeg, or make room on the disk. After its retention time such a clip counts as lost.',
    ],
    'clips.refused': [
      'The database refuses to record clips. Their files stay on the box.',
      'Keep the files that the message names. Run “gatehouse ledger verify” at the box. The log of gatehouse has the reason. Each start tries again.',
    ],
    'clips.recovered': recovered,
    'storage.slow': [
      'The storage server takes over two seconds for each answer. Sign-ins take that long.',
      'Check the load of that server, and the network to it.',
    ],
    'storage.unreachable': [
      'The storage server or the sign-in provider does not answer. People who signed in lately can go on; uploads wait.',
      'Check the server and the network. Nothing is lost: uploads go on by themselves.',
    ],
    'uploads.late': [
      'Evidence has waited for its upload for over ten minutes. It exists on this box only.',
      'Open the uploads: each shows its last error. Repair the cause; the gateway tries again by itself.',
    ],
    'uploads.parked': [
      'Some files could not be uploaded and are not tried again.',
      'Open the uploads, repair the cause beside each file, and press Retry there.',
    ],
    'uploads.refused': [
      'The storage server refuses the account that uploads. Nothing is copied.',
      'Do what the message says: renew the password, enable the account, or share its folder again.',
    ],
    'upload.no_room': [
      'The storage server has no room for the account, or cannot write. Nothing is removed here meanwhile.',
      'Make room there, raise the quota, or check its disk. The uploads then go on by themselves.',
    ],
    'upload.mismatch': [
      'The copy on the storage server differs from the file that was sent. Somebody may have changed it.',
      'Find out who changed it. Move the copy away and retry the upload. Keep both until then.',
    ],
    'upload.file': [
      'A file of this box cannot be read, or does not match its hash.',
      'Check the disk, and run “gatehouse ledger verify”.',
    ],
    'upload.refused': [
      'The storage server refuses this file, and others for the same reason.',
      'Check the permissions of the account, then retry one upload; the others follow.',
    ],
    'upload.lost': [
      'A copy on the storage server is gone or changed, and this box does not have the file.',
      'Restore the file on the storage server, from its trash or a backup. Then press Retry.',
    ],
    'upload.copy_missing': [
      'A copy is missing on the storage server. The gateway uploads the file again.',
      'Find out who removed it there.',
    ],
    'upload.copy_changed': [
      'A copy on the storage server has changed. The gateway uploads the file again beside it.',
      'Find out who changed it there. Keep both copies until then.',
    ],
    'backup.late': [
      'The newest backup is too old. If the disk breaks now, everything recorded since then is lost.',
      'Check its target: the share has to be mounted, the disk plugged in.',
    ],
    'backup.failed': [
      'The last backup failed.',
      'Make room at its target, and check the rights of the folder. “gatehouse backup FILE” makes one by hand.',
    ],
    'backup.unrestorable': [
      'The rehearsal could not restore a backup. Do not rely on it.',
      'Make one by hand on another disk, and try it with “gatehouse restore”. The disk of the target may be faulty.',
    ],
    'disk.low': [
      'The disk is nearly full. Events are recorded. The gateway removes old clips first.',
      'Close incidents that hold clips, lower retention.clips.maxAgeDays, repair the upload, or fit a larger disk.',
    ],
    'disk.held': [
      'The disk is nearly full. Incidents, disputes or uploads hold every clip that is left.',
      'Resolve old incidents and disputes, repair the upload, or fit a larger disk.',
    ],
    'disk.slow': [
      'The disk is slow: each commit of the database takes over a second, and scanners wait for it.',
      'Find the program that keeps the disk busy (“iotop”). A card or disk that stays slow is probably dying: make a backup and replace it.',
    ],
    'photos.failing': [
      'The disk refuses photos. Events are recorded.',
      'Check the owner and mode of the folder photos/ in the data folder, and the disk. The gateway goes on by itself.',
    ],
    'disk.reserve': [
      'Only the reserve of the ledger is free. Events are recorded; photos, clips and reports are refused.',
      'Make room now, outside the folder of the gateway: old journals, packages, downloads.',
    ],
    'disk.full': [
      'The disk is full. Nothing can be recorded. Handhelds keep their scans and send them later.',
      'Make room now, outside the folder of the gateway. No restart is needed.',
    ],
    'disk.failing': [
      'The disk takes no writes although it may have room. It is probably dying.',
      'Make a backup if it still reads, and replace the disk. “dmesg | grep -i error” shows more.',
    ],
    'disk.gone': [
      'The data folder or its database was moved, removed or unmounted while the gateway runs. Nothing can be recorded.',
      'Put it back or mount it again; no restart is needed. If only gatehouse.db-wal is gone, stop the gateway, copy the data folder, and start it.',
    ],
    'log.unsigned': [
      'The ledger does not match what this box signed, its keys are older than the last rotation, or checkpoints cannot be stored. New events cannot be proved.',
      'Read the alert. If checkpoints cannot be stored, check the folder keys/ and the disk. Else change nothing: copy the data folder away, then run “gatehouse ledger verify”.',
    ],
    'database.failing': [
      'The database cannot be read.',
      'Stop the gateway, check the disk, then run “gatehouse ledger verify”. Keep the files.',
    ],
    'witness.unreachable': [
      'A witness has not answered for over an hour. The log is signed here, and no one outside confirms it for now.',
      'Check the network, and the address in evidence.witnesses. The newest checkpoint goes out by itself.',
    ],
    'timestamps.failing': [
      'The log has had no time stamp for over six hours. Its times rest on the clock of this box.',
      'Check the network, and the addresses in evidence.timestamps.',
    ],
    'witness.refuses': [
      'A witness does not cosign the log. Its answer is in the message.',
      'Compare its key and the name of the log with the config. Ask its operator.',
    ],
    'witness.conflict': [
      'A log that this box witnesses has shown two histories. One of them is false.',
      'Keep the checkpoints of both: they are the evidence. The operator of that log has to explain it.',
    ],
    'witness.ahead': [
      'A witness has seen more of this log than this box has. A restore from an older copy causes this.',
      'If the box was restored, look for a newer backup first. Otherwise somebody changed the ledger: change nothing.',
    ],
    'hub.unreachable': [
      'The head office has received nothing of the log for over an hour. The floor goes on; the log is sent later.',
      'Check the network to the head office.',
    ],
    'hub.refuses': [
      'The head office does not take the log. Its answer is in the message.',
      'Ask there whether the token was revoked; “gatehouse hub join” makes a new one.',
    ],
    'hub.other-keys': [
      'The head office knows the log under other keys. A restore to a time before the key rotation causes this.',
      'If the box was restored: “gatehouse restore --accept-fork”, then “gatehouse hub join” with a new code.',
    ],
    'hub.ahead': [
      'The head office has seen another history of this log. The box was restored, or one of the two was changed.',
      'Restore nothing yet. Keep the data of both sides, and compare them with the head office.',
    ],
    'clock.unsynced': [
      'The clock of the box is not synchronized. Events are recorded, and marked: their time is not certain.',
      'Set a time server that this network can reach. “timedatectl timesync-status” shows the reason.',
    ],
    'box.hot': [
      'The box is too hot. It slows itself down, and its disk and memory age faster.',
      'Look for dust, a stopped fan, a closed cabinet, the sun. Give it air.',
    ],
    'box.throttled': [
      'The processor slows itself down to protect itself. Pictures and answers come late.',
      'Cool the box, or give it fewer cameras; “gatehouse doctor --capacity” measures what it can do.',
    ],
    'box.voltage': [
      'The box gets too little voltage. It may stop at any moment, and damage its data.',
      'Use its own power supply and a short cable; unplug its USB devices.',
    ],
    'update.unreachable': [
      'The box has not reached its update server for over a week. It may lack security fixes.',
      'Check its internet access, and the address after “updates=” in first-boot.txt.',
    ],
    'update.failed': [
      'A newer system image could not be installed. The box keeps its image, and tries again another night.',
      '“journalctl -u gatehouse-update” on the box shows why.',
    ],
    'update.refused': [
      'A newer system image failed on a copy of the ledger. The box keeps its image.',
      '“gatehouse doctor” shows the reasons, and the command that installs the image anyway.',
    ],
    'update.fell_back': [
      'A newer system image did not start or did not stay healthy. The box went back to the previous image; nothing was lost.',
      '“journalctl -u gatehouse-slot” shows why. Publish a corrected image.',
    ],
    'config.refused': [
      'The last change of the config has a mistake. The gateway keeps its settings.',
      'Correct the line that the message names. Run “gatehouse config check”, then reload.',
    ],
    'alerts.unsent': [
      'Messages about alerts do not reach their recipients. The alerts are in this list.',
      'The message has the last error. Correct the channel in the config, reload, then test it below.',
    ],
    'webhook.failing': [
      'Six attempts of one delivery failed: a receiver refuses or does not answer. Other deliveries go on.',
      'Open the webhooks: each delivery shows the answer of the receiver. Its owner has to repair it.',
    ],
    'webhook.disabled': [
      'A receiver failed so long that its webhook was disabled. Nothing is lost; deliveries are held.',
      'When its owner has repaired it, send a test in the webhooks and resume it. A good test every 15 minutes does it too.',
    ],
    'webhook.offline': [
      'The box has no connection to the outside. Deliveries wait, and none counts as failed.',
      'Check the internet line and the router. Everything is sent when the line is back.',
    ],
    'cameras.unwatched': [
      'A camera with a trouble was switched off or taken out of the config. The gateway does not watch it.',
      'If this was intended, do nothing.',
    ],
    'storage.unwatched': [
      'A storage server with a trouble was taken out of the config.',
      'If this was intended, do nothing.',
    ],
    'box.cool': recovered,
    'box.powered': recovered,
    'config.accepted': recovered,
    'alerts.recovered': recovered,
    'ffmpeg.replaced': recovered,
    'update.recovered': recovered,
    'storage.recovered': recovered,
    'uploads.recovered': recovered,
    'backup.recovered': recovered,
    'disk.recovered': recovered,
    'photos.recovered': recovered,
    'log.signed': recovered,
    'database.recovered': recovered,
    'witness.recovered': recovered,
    'witness.conflict.ended': recovered,
    'timestamps.recovered': recovered,
    'hub.recovered': recovered,
    'clock.synced': recovered,
  } satisfies Readonly<Record<string, Words>>,
}

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
