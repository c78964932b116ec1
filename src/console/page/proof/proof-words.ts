import { gatewayWords, language } from '../i18n/language.ts'

/**
 * Findings of the checks of proofs and receipts, in German. The checks themselves write English, as `gatehouse ledger verify` does.
 * So a sentence on a phone can be compared with one of the command. A `$1` is the text of the first group.
 */
const german: readonly (readonly [RegExp, string])[] = [
  [/^number (\d+) of (\S+)$/, 'Nummer $1 von $2'],
  [/^(\d+) hashes from leaf (\d+) of (\d+)$/, '$1 Hashes von Blatt $2 von $3'],
  [/^it does not fit leaf (\S+) of (\S+)$/, 'er passt nicht zu Blatt $1 von $2'],
  [/^the path leads to another root than the signed one$/, 'der Weg führt zu einer anderen Wurzel als der signierten'],
  [/^the file is larger than a bundle can be$/, 'die Datei ist größer, als ein Beweis sein kann'],
  [/^the file is not a JSON object$/, 'die Datei ist kein JSON-Objekt'],
  [/^the file is not a gatehouse-proof\/1$/, 'die Datei ist kein gatehouse-proof/1'],
  [/^it is not the base64 of a leaf$/, 'er ist nicht das Base64 eines Blatts'],
  [/^the bundle has no proof$/, 'die Datei enthält keinen Beweis'],
  [/^a key of the bundle is not a text$/, 'ein Schlüssel der Datei ist kein Text'],
  [/^a key of the bundle is not a verifier key$/, 'ein Schlüssel der Datei ist kein Prüfschlüssel'],
  [/^the bundle has no list of (.+)$/, 'in der Datei fehlt die Liste „$1“'],
  [/^the bundle has more than (\S+) (.+)$/, 'die Datei hat mehr als $1 Einträge in der Liste „$2“'],
  [/^the proof is not a c2sp\.org\/tlog-proof@v1$/, 'der Beweis ist kein c2sp.org/tlog-proof@v1'],
  [/^the proof has no index$/, 'der Beweis hat keinen Index'],
  [/^it has more than (\S+) hashes$/, 'er hat mehr als $1 Hashes'],
  [/^a line of it is not a hash$/, 'eine Zeile davon ist kein Hash'],
  [/^the checkpoint is not a signed note of a tree head$/, 'der Checkpoint ist keine signierte Notiz eines Baumkopfs'],
  [
    /^the checkpoint has lines that a gatehouse log does not write$/,
    'der Checkpoint hat Zeilen, die ein Log von gatehouse nicht schreibt',
  ],
  [/^it cannot be read$/, 'sie ist nicht lesbar'],
  [/^its leaf names no keys of this log$/, 'ihr Blatt nennt keine Schlüssel dieses Logs'],
  [/^its path does not lead to the signed root$/, 'ihr Weg führt nicht zur signierten Wurzel'],
  [
    /^the (\S+) key (\S+) that it names did not sign its checkpoint$/,
    'der Schlüssel $2 ($1), den sie nennt, hat ihren Checkpoint nicht signiert',
  ],
  [/^it is not JSON$/, 'er ist kein JSON'],
  [/^it names no log$/, 'er nennt kein Log'],
  [/^it is of another log than the checkpoint$/, 'er gehört zu einem anderen Log als der Checkpoint'],
  [/^it has no number$/, 'er hat keine Nummer'],
  [
    /^the proof is for index (\S+), the leaf has number (\S+)$/,
    'der Beweis gilt für Index $1, das Blatt hat Nummer $2',
  ],
  [
    /^no key of (\S+) that is known here signed the checkpoint$/,
    'kein hier bekannter Schlüssel von $1 hat den Checkpoint signiert',
  ],
  [/^this browser cannot verify (.+)$/, 'dieser Browser kann $1 nicht prüfen'],
  [/^(Ed25519(?:, .+)?)\. (.+): not checked here$/, '$1. $2: hier nicht geprüft'],
  [/^(\S+) is named as a witness and did not sign$/, '$1 ist als Zeuge genannt und hat nicht signiert'],
  [/^the (\S+(?: with a time)?) signature of (\S+) does not verify$/, 'die Signatur von $2 ($1) stimmt nicht'],
  [/^an anchor cannot be read$/, 'ein Anker ist nicht lesbar'],
  [/^an anchor is of an unknown kind$/, 'ein Anker ist von unbekannter Art'],
  [/^a time stamp is not of this checkpoint$/, 'ein Zeitstempel gehört nicht zu diesem Checkpoint'],
  [/^a time stamp is of something else$/, 'ein Zeitstempel gehört zu etwas anderem'],
  [/^a time stamp is not base64$/, 'ein Zeitstempel ist kein Base64'],
  [/^not checkable here, ask the receiver: (.+)$/, 'hier nicht prüfbar, fragen Sie den Empfänger: $1'],
  [/^a time stamp, without a certificate to check it$/, 'ein Zeitstempel, dessen Stelle hier nicht geprüft wird'],
  [
    /^a time stamp, without a certificate to check it; not checkable here, ask the receiver: (.+)$/,
    'ein Zeitstempel, dessen Stelle hier nicht geprüft wird; fragen Sie auch den Empfänger: $1',
  ],
  [/^an opening cannot be read$/, 'eine Öffnung ist nicht lesbar'],
  [/^the leaf has another commitment at (\S+)$/, 'das Blatt hat an der Stelle $1 eine andere Festlegung'],
  [/^salt and text of (\S+) do not open its commitment$/, 'Salz und Text von $1 passen nicht zur Festlegung'],
  [/^a file of the bundle cannot be read$/, 'eine genannte Datei ist nicht lesbar'],
  [/^the leaf does not state the hash of (.+)$/, 'das Blatt nennt den Hash von $1 nicht'],
  [/^(.+) has other bytes$/, '$1 hat andere Bytes'],
  [/^(.+) has (\S+) bytes, not (\S+)$/, '$1 hat $2 Bytes, nicht $3'],
  [/^not there: (.+)$/, 'nicht da: $1'],
  [/^no signature$/, 'keine Signatur'],
  [/^Entry (\S+) says something else than its proof\.$/, 'Eintrag $1 sagt etwas anderes als sein Beweis.'],
  [/^One entry that is shown here has no proof \((.+)\)\.$/, 'Ein Eintrag, der hier steht, hat keinen Beweis ($1).'],
  [/^The weight that is shown is not one of the proofs\.$/, 'Das gezeigte Gewicht steht in keinem der Beweise.'],
  [/^one photo that could not be fetched$/, 'ein Foto, das nicht geholt werden konnte'],
  [/^(\S+) photos that could not be fetched$/, '$1 Fotos, die nicht geholt werden konnten'],
  [
    /^the stage and the status: the newest entries are not on this page$/,
    'Station und Status: die neuesten Einträge stehen nicht auf dieser Seite',
  ],
  [/^the name of the warehouse$/, 'der Name des Lagers'],
  [
    /^what each entry says about how far it is signed$/,
    'was unter jedem Eintrag darüber steht, wie weit er signiert ist',
  ],
  [
    /^The gateway shows a checkpoint that cannot be read\.$/,
    'Das Gateway zeigt einen Checkpoint, der nicht lesbar ist.',
  ],
  [
    /^The log is another one: (\S+), and this device has kept (\S+)\. After a restore somebody has to confirm that\.$/,
    'Das Log ist ein anderes: $1, und dieses Gerät hat $2 behalten. Nach einer Wiederherstellung muss das jemand bestätigen.',
  ],
  [
    /^The checkpoint is not signed by the key of the log\.$/,
    'Der Checkpoint ist nicht mit dem Schlüssel des Logs signiert.',
  ],
  [
    /^The log shows (\S+) entries; this device has seen (\S+)\.$/,
    'Das Log zeigt $1 Einträge; dieses Gerät hat $2 gesehen.',
  ],
  [
    /^The log does not continue what this device saw: (\S+) entries then, (\S+) now\. An entry was changed or removed\. Do not clear this device; call the person who checks the ledger\.$/,
    'Das Log setzt nicht fort, was dieses Gerät sah: damals $1 Einträge, jetzt $2. Ein Eintrag wurde geändert oder entfernt. Löschen Sie nichts auf diesem Gerät; rufen Sie den, der das Log prüft.',
  ],
]

const germanNames: Readonly<Record<string, string>> = {
  reference: 'die Referenz',
  SSCC: 'der SSCC',
  direction: 'die Richtung',
  carrier: 'der Spediteur',
  vehicle: 'das Fahrzeug',
  stage: 'die Station',
  status: 'der Status',
}

/** Returns a finding in German; undefined for an unknown sentence. Pure. */
export function inGerman(found: string): string | undefined {
  const [, failing, why] = /^The proof of entry (\S+) fails: (.+)\.$/.exec(found) ?? []
  if (failing !== undefined && why !== undefined)
    return sentence(`Der Beweis von Eintrag ${failing} stimmt nicht: `, why)
  const [, handOver] = /^a hand-over of the keys does not hold: (.+)$/.exec(found) ?? []
  if (handOver !== undefined) {
    const words = inGerman(handOver)
    return words === undefined ? undefined : `eine Übergabe der Schlüssel stimmt nicht: ${words}`
  }
  const [, other] = /^A proof is of another history of the log\. (.+)$/.exec(found) ?? []
  if (other !== undefined) return sentence('Ein Beweis gehört zu einer anderen Geschichte des Logs. ', other)
  const [, shown] = /^The (\S+) that is shown is not the one of the proofs\.$/.exec(found) ?? []
  const [, named] = /^the (\S+)$/.exec(found) ?? []
  const name = germanNames[shown ?? named ?? '']
  if (name !== undefined) return shown === undefined ? name : `Nicht wie in den Beweisen: ${name}.`
  for (const [pattern, words] of german) if (pattern.test(found)) return found.replace(pattern, words)
  return undefined
}

function sentence(before: string, rest: string): string | undefined {
  const words = inGerman(rest)
  return words === undefined ? undefined : `${before}${words}${words.endsWith('.') ? '' : '.'}`
}

/** Returns a finding in the language of the page. An unknown one stays English, and is marked as English. */
export const proofWords = (found: string): string =>
  language === 'de' ? (inGerman(found) ?? gatewayWords(found)) : found
