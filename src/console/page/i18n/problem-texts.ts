import { inLanguage } from './language.ts'

/** Fault of a camera and remedy, by the code of the gateway, which itself answers in English. */
const german: Readonly<Record<string, string>> = {
  unreachable:
    'Unter der Adresse der Kamera antwortet nichts. Strom, Kabel sowie Host und Port der url in der Konfiguration prüfen.',
  'name-unknown':
    'Der Hostname der Kamera ist nicht bekannt. Den Host der url prüfen oder stattdessen die IP-Adresse eintragen.',
  refused:
    'Die Kamera weist den Benutzernamen oder das Passwort ab. username und passwordFile prüfen, und ob das Konto gesperrt ist oder zu viele Verbindungen hat.',
  'wrong-path':
    'Die Kamera antwortet, hat unter diesem Pfad aber kein Bild. Den Pfad der url mit dem Handbuch der Kamera vergleichen.',
  busy: 'Die Kamera antwortet, kann das Bild aber gerade nicht liefern. Vielleicht sehen schon zu viele zu, oder sie startet gerade.',
  'no-video':
    'Der Strom der Kamera hat kein Bild, oder eines in einem Codec, den ffmpeg nicht kennt. Das Bild an der Kamera einschalten, sie auf H.264 stellen oder die url eines anderen Stroms nehmen.',
  'udp-only':
    'Die Kamera sendet ihr Bild nicht in der RTSP-Verbindung (TCP). RTP über RTSP in der Kamera erlauben; in ihren Einstellungen heißt es vielleicht TCP oder Interleaved.',
  'not-a-stream':
    'Das Programm unter dieser Adresse spricht kein RTSP oder sendet ein Bild, das nicht zu lesen ist. Den Port der url prüfen und den Codec der Kamera: H.264 ist am sichersten.',
  redirected:
    'Die Kamera nennt für ihren Strom eine andere Adresse (Weiterleitung); dorthin sendet gatehouse das Passwort nicht. Ist die neue Adresse vertrauenswürdig, sie als url eintragen; sie steht im Protokoll. Sonst nachsehen, wer anstelle der Kamera antwortet.',
  'no-picture':
    'Die Kamera wurde nach ihrem Bild gefragt, es kam aber keines. Die Kamera neu starten; auch ein sehr großer Abstand der Keyframes kann der Grund sein.',
  'no-key-frame':
    'Die Kamera hat lange keinen Keyframe gesendet. Clips beginnen an Keyframes; eine Bewegung hat jetzt vielleicht kein Video. Den Abstand der Keyframes (I-Frame-Intervall, GOP) an der Kamera auf 1 oder 2 Sekunden stellen und dynamische Abstände ausschalten.',
  'few-pictures':
    'Die Kamera sendet weniger als 3 Bilder pro Sekunde; schnelle Bewegung entgeht ihr. Ihre Bildrate auf 10 oder mehr stellen; vielleicht senkt sie ein Nachtmodus oder eine Grenze der Bandbreite.',
  'damaged-pictures':
    'Viele Bilder der Kamera kommen beschädigt an: Clips zeigen Klötzchen, und Bewegung wird vielleicht gefunden, wo keine ist. Nach einem schlechten Kabel, einer schwachen Funkverbindung oder einem überlasteten Switch suchen; sonst die Kamera neu starten oder ihre Bitrate senken.',
  'damaged-detection':
    'Viele Bilder des Stroms für die Bewegungserkennung (detectUrl) kommen beschädigt an; Bewegung wird vielleicht gefunden, wo keine ist. Die Clips sind aus dem anderen Strom, der darauf nicht geprüft wird. Nach einem schlechten Kabel, einer schwachen Funkverbindung oder einem überlasteten Switch suchen; sonst die Kamera neu starten oder die Bitrate dieses Stroms senken.',
  'size-changed':
    'Die Kamera hat die Größe ihres Bildes geändert. Die Verbindung wird neu aufgebaut, ein offener Clip endet. Bleibt es so, an der Kamera eine feste Größe einstellen.',
  frozen:
    'Das Bild steht: Die Verbindung ist offen, es kommen aber keine Bilder mehr. Sie wird neu aufgebaut; bleibt es so, die Kamera neu starten oder das Netz ansehen.',
  'time-jump':
    'Die Uhr im Strom der Kamera ist gesprungen. Die Verbindung wird neu aufgebaut; bleibt es so, den Zeitserver der Kamera prüfen oder sie neu starten.',
  reordered:
    'Die Kamera sendet ihre Bilder in anderer Reihenfolge, als sie gezeigt werden (B-Frames); dieses ffmpeg kann das nicht aufzeichnen. B-Frames an der Kamera ausschalten oder ffmpeg ab 4.4 einrichten. Bewegung wird erkannt, es gibt aber keine Clips.',
  'motion-jpeg':
    'Die Kamera sendet Motion JPEG, das Browser nicht abspielen. Clips werden neu als H.264 kodiert. Die Kamera nach Möglichkeit auf H.264 stellen, damit ihr eigenes Video erhalten bleibt.',
  closed:
    'Die Kamera hat die Verbindung beendet. Sie wird neu aufgebaut; bleibt es so, im Protokoll der Kamera nachsehen.',
  'password-unreadable':
    'Die Datei mit dem Passwort der Kamera ist nicht zu lesen. Prüfen, ob es passwordFile gibt und ob gatehouse sie lesen darf.',
  'program-failed':
    'Das Programm, das die Kamera liest (ffmpeg), ist gescheitert. Es wird neu gestartet; seine letzte Meldung steht im Protokoll.',
  'no-program':
    'ffmpeg, das Programm, das die Kameras liest, lässt sich nicht starten. Es aus den Paketen des Systems einrichten oder ffmpeg.path setzen; dann prüfen, ob der Rechner noch Speicher hat. gatehouse doctor sagt, welches benutzt wird.',
  'no-thread': 'Der Teil von gatehouse, der die Kameras liest, läuft nicht. Warum, steht im Protokoll von gatehouse.',
}

export const problemTexts: Readonly<Record<string, string>> = inLanguage({ en: {}, de: german })
