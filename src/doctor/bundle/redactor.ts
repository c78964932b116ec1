import { scrubText } from '../../platform/index.ts'

/** Secrets and names that must not leave the box. */
export type Hidden = {
  /** Passwords, tokens, keys. */
  readonly secrets: readonly string[]
  /** User names of people. */
  readonly people: readonly string[]
}

/** Shorter secrets would take half of the words with them; the config refuses none, so they are replaced as words. */
const shortestPart = 6
/** Words of gatehouse itself that are user names at times. */
const ownWords = new Set([
  'admin',
  'viewer',
  'operator',
  'supervisor',
  'auditor',
  'root',
  'gatehouse',
  'system',
  'unknown',
])

/**
 * Returns a function that takes secrets and people out of a text. It replaces known ones wherever they are. It also replaces text
 * in the form of a secret. These are user info and query of a URL, credentials of a header, and JSON under a key such as
 * `password`.
 */
export function redactorOf({ secrets, people }: Hidden): (text: string) => string {
  const known = [...new Set(secrets.flatMap(formsOf))]
    .filter((one) => one !== '')
    .toSorted((a, b) => b.length - a.length)
  const parts = known.filter((one) => one.length >= shortestPart)
  const words = known.filter((one) => one.length < shortestPart)
  const names = [...new Set(people)].filter((name) => name.length > 1 && !ownWords.has(name.toLowerCase()))
  const patterns: [RegExp, string][] = [
    ...(parts.length > 0 ? [[anyOf(parts), '[secret]'] as [RegExp, string]] : []),
    ...(words.length > 0 ? [[asWords(words, 'gu'), '[secret]'] as [RegExp, string]] : []),
    ...(names.length > 0
      ? [
          [
            asWords(
              names.toSorted((a, b) => b.length - a.length),
              'giu',
            ),
            '[person]',
          ] as [RegExp, string],
        ]
      : []),
  ]
  return (text) => patterns.reduce((now, [pattern, by]) => now.replace(pattern, by), scrubbed(text))
}

/** Returns the forms of a secret in a URL, in JSON or in a Basic header. */
function formsOf(secret: string): string[] {
  return [secret, encodeURIComponent(secret), encodeURI(secret), JSON.stringify(secret).slice(1, -1)]
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const anyOf = (texts: readonly string[]) => new RegExp(texts.map(escaped).join('|'), 'g')
const asWords = (texts: readonly string[], flags: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}_])(?:${texts.map(escaped).join('|')})(?![\\p{L}\\p{N}_])`, flags)

function scrubbed(text: string): string {
  return scrubText(text)
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s"'?]+)\?[^\s"']*/gi, '$1?[query]')
    .replace(
      /("[\w-]*(?:secret|passw|token|cookie|authorization|private_?key)[\w-]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
      '$1"[secret]"',
    )
    .replace(/\b((?:password|passwd|secret|token)\s*[=:]\s*)(?![[*"])\S+/gi, '$1[secret]')
}
