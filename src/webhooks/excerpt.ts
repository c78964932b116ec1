/** So much of an answer's body is kept with its attempt. */
export const excerptBytes = 1024

/** So much of it has to be at hand: a secret that stands across the cut must be found whole. */
export const excerptSourceBytes = 4 * excerptBytes

/**
 * The beginning of an answer's body as text: UTF-8 with U+FFFD for what is none, cut at 1 KiB between two characters.
 * A receiver that echoes our secrets does not get them into the delivery log. null: there was no body.
 * @param body its first 4 KiB, or all of it
 */
export function excerptOf(body: Uint8Array, secrets: readonly string[]): string | null {
  if (body.length === 0) return null
  const text = secrets.reduce((told, secret) => told.replaceAll(secret, '[secret]'), wholeCharacters(body))
  return wholeCharacters(Buffer.from(text, 'utf8').subarray(0, excerptBytes))
}

/** As a stream, the decoder keeps a character that has not come whole for later, and there is no later. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true })
}
