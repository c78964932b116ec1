import { inLanguage } from '../i18n/language.ts'

const english = {
  SLOT_ALREADY_OCCUPIED: 'the slot already holds a pallet according to the ledger',
  SLOT_EMPTY: 'the slot is empty according to the ledger',
  ASSET_ELSEWHERE: 'the pallet is in another slot according to the ledger',
  ASSET_MISMATCH: 'the slot holds another pallet according to the ledger',
  UNKNOWN_ASSET: 'the barcode is not a registered pallet',
  TYPE_NOT_ALLOWED: 'this type of pallet is not allowed in the slot',
  OVERWEIGHT: 'the weight exceeds what the slot may carry',
  OVERHEIGHT: 'the pallet is higher than the slot allows',
  SELF_VERIFIED: 'the placement is verified by the person who made it',
  OPERATOR_DIFFERS: 'the operator is not the signed-in user',
  LATE_EVENT: 'the event happened before others that are recorded already, or over 5 minutes ago',
  CLOCK_AHEAD: 'the device clock is ahead of the gateway',
  NO_EFFECT: 'the event changes nothing',
  PHOTO_NOT_HELD: 'the gateway does not hold the photo itself',
  PHOTO_TIME_MISMATCH: 'the photo was taken at another time than the event',
  SLOT_RETIRED: 'the slot is out of use',
  SCAN_MISMATCH: 'the scan names another slot or another pallet than the event',
  PHOTO_REUSED: 'the photo proves another placement already',
  BARCODE_CHECK_DIGIT: 'the check digit of the barcode is wrong',
  BARCODE_NOT_GS1: 'the barcode says that it is GS1, but cannot be read as such',
  BARCODE_AGAINST_GS1:
    'the barcode breaks a rule of GS1, such as a date that does not exist or a value that is too long',
}

const german: typeof english = {
  SLOT_ALREADY_OCCUPIED: 'auf dem Stellplatz steht laut Lagerbuch schon eine Palette',
  SLOT_EMPTY: 'der Stellplatz ist laut Lagerbuch frei',
  ASSET_ELSEWHERE: 'die Palette steht laut Lagerbuch auf einem anderen Stellplatz',
  ASSET_MISMATCH: 'auf dem Stellplatz steht laut Lagerbuch eine andere Palette',
  UNKNOWN_ASSET: 'der Barcode gehört zu keiner erfassten Palette',
  TYPE_NOT_ALLOWED: 'diese Art ist auf dem Stellplatz nicht erlaubt',
  OVERWEIGHT: 'das Gewicht übersteigt, was der Stellplatz tragen darf',
  OVERHEIGHT: 'die Palette ist höher, als der Stellplatz erlaubt',
  SELF_VERIFIED: 'die Einlagerung hat geprüft, wer sie gebucht hat',
  OPERATOR_DIFFERS: 'gebucht wurde für jemand anderen als den Angemeldeten',
  LATE_EVENT: 'es geschah vor anderem, das schon gebucht ist, oder vor mehr als 5 Minuten',
  CLOCK_AHEAD: 'die Uhr des Geräts geht gegenüber dem Gateway vor',
  NO_EFFECT: 'das Ereignis ändert nichts',
  PHOTO_NOT_HELD: 'das Gateway hat das Foto selbst nicht',
  PHOTO_TIME_MISMATCH: 'das Foto entstand zu einer anderen Zeit als das Ereignis',
  SLOT_RETIRED: 'der Stellplatz ist stillgelegt',
  SCAN_MISMATCH: 'der Scan nennt einen anderen Stellplatz oder eine andere Palette als das Ereignis',
  PHOTO_REUSED: 'das Foto belegt schon eine andere Einlagerung',
  BARCODE_CHECK_DIGIT: 'die Prüfziffer des Barcodes ist falsch',
  BARCODE_NOT_GS1: 'der Barcode gibt sich als GS1 aus, ist aber so nicht lesbar',
  BARCODE_AGAINST_GS1:
    'der Barcode verstößt gegen GS1, etwa durch ein Datum, das es nicht gibt, oder einen zu langen Wert',
}

/** The sentences of the ledger's warnings, by their codes. */
export const warningTexts: Readonly<Record<string, string>> = inLanguage({ en: english, de: german })
