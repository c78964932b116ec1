/** Says whether a scan is the QR code of an enrolment, which no badge looks like. Pure. */
export const isEnrolment = (text: string): boolean => readEnrolment(text).url !== undefined

/** Reads an enrolment code, typed or from its QR code. The QR code also has the origin of its gateway. Pure. */
export function readEnrolment(text: string): { code: string; url?: string } {
  try {
    const { code, url } = JSON.parse(text) as { code?: unknown; url?: unknown }
    return { code: String(code ?? ''), ...(typeof url === 'string' && { url: new URL(url).origin }) }
  } catch {
    return { code: text.trim() }
  }
}
