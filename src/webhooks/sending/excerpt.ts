/** Bytes of the body of an answer that are stored with its attempt. */
export const excerptBytes = 1024

/** Bytes that are read for the excerpt: a secret that crosses the cut must be found as a whole. */
export const excerptSourceBytes = 4 * excerptBytes

/**
 * The beginning of an answer's body as text: UTF-8, with U+FFFD for invalid bytes, cut at 1 KiB between two characters. A receiver
 * that echoes our secrets does not get them into the delivery log. null: there was no body.
 * @param body its first 4 KiB, or all of it
 */
export function excerptOf(body: Uint8Array, secrets: readonly string[]): string | null {
  if (body.length === 0) return null
  const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), wholeCharacters(body))
  return wholeCharacters(Buffer.from(text, 'utf8').subarray(0, excerptBytes))
}

/** Decodes UTF-8; in stream mode the decoder leaves out an incomplete character at the end. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true })
}
