import { hasSteppedUp, Refused, Unreachable } from '../data/ask.ts'
import { membersOf } from '../data/parsing.ts'
import { gatewayWords } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'

export type Downloaded = { readonly name: string; readonly bytes: number }

/**
 * Downloads a file that the gateway makes while it sends it, and reports the received bytes. Then the browser stores it among
 * its downloads. Throws Refused or Unreachable, and AbortError when it was stopped. A file that ends too early is not stored.
 */
export async function download(
  path: string,
  { onBytes, signal }: { onBytes: (bytes: number) => void; signal: AbortSignal },
): Promise<Downloaded> {
  const response = await fetch(path, {
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
    signal,
  }).catch((cause: Error) => {
    throw cause.name === 'AbortError' ? cause : new Unreachable(texts.notReached, { cause })
  })
  if (!response.ok || !response.body) {
    const answer: unknown = await response.json().catch(() => undefined)
    const { code: given, message } = membersOf(membersOf(answer)['error'])
    const code = String(given ?? '')
    if (await hasSteppedUp(code)) return download(path, { onBytes, signal })
    const words = message === undefined ? texts.answered(response.status) : gatewayWords(String(message))
    throw new Refused(response.status, code, words, Number(response.headers.get('retry-after') ?? 0))
  }
  const [, name = 'download'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
  const parts: BlobPart[] = []
  let bytes = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    bytes += value.byteLength
    onBytes(bytes)
  }
  keep(new Blob(parts, { type: response.headers.get('content-type') ?? '' }), name)
  return { name, bytes }
}

const keptForMs = 60_000

function keep(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser reads the address after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), keptForMs)
}

/** Returns a size as text, such as "12.3 MB". */
export function sizeWords(bytes: number, locale: string): string {
  const units = ['B', 'kB', 'MB', 'GB']
  const step = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: step === 0 || value >= 100 ? 0 : 1 }).format(value)} ${units[step]}`
}
