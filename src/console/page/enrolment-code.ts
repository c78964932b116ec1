/** Says whether a scan is the QR code of an enrolment, which no badge looks like. Pure. */
export const isEnrolment = (text: string): boolean => readEnrolment(text).url !== undefined

/**
 * Reads an enrolment code, as somebody types it or as its QR code has it: then with the origin of the gateway that it is for.
 * Pure.
 */
export function readEnrolment(text: string): { code: string; url?: string } {
  try {
    const { code, url } = JSON.parse(text) as { code?: unknown; url?: unknown }
    return { code: String(code ?? ''), ...(typeof url === 'string' && { url: new URL(url).origin }) }
  } catch {
    return { code: text.trim() }
  }
}
