/** Returns the text by which barcodes, labels and names are compared: NFC, trimmed. */
export const matchedText = (text: string): string => text.normalize('NFC').trim()

/** As `matchedText`, for labels and names that are the same in any case. */
export const matchedName = (text: string): string => matchedText(text).toLowerCase()

/** A part of a path as text. Undefined for text that is not encoded as addresses are. */
export function decodedSegment(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
