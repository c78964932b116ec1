/** Returns an id that no other act has, also where the page is not served by TLS and `randomUUID` is missing. */
export const newActId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
