/** NIST SP 800-63B, 3.1.1.2: length counts and composition does not. Used alone, so no less than this. */
export const shortestPassword = 12
/** As a sign-in takes it (`NewSession`). */
export const longestPassword = 1024

/** Different characters: fewer are one character or word again and again. */
const leastCharacters = 5

/** Words that guesses begin with, in the languages of the console. */
const firstGuesses = [
  ...['password', 'passwort', 'kennwort', 'secret', 'geheim', 'geheimnis', 'letmein', 'welcome', 'willkommen'],
  ...['admin', 'administrator', 'iloveyou', 'ichliebedich', 'changeme', 'default', 'gatehouse', 'warehouse', 'lager'],
]
/** Rows of keyboards, the alphabet and the digits: neighbors in one of them are a run. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
]

/**
 * Returns why a password cannot be chosen; undefined when it can. It refuses short ones and the first guesses: one character or
 * word again and again, rows of keys, and a known word with digits or signs around it.
 * @param names words of the context, such as the user name and the site
 */
export function passwordProblem(password: string, names: readonly string[]): string | undefined {
  const { length } = [...password]
  if (length < shortestPassword) return `has ${length} characters; choose ${shortestPassword} or more`
  if (length > longestPassword) return `has ${length} characters; ${longestPassword} are the most`
  const plain = password.normalize('NFKC').toLowerCase()
  const word = onceOnly(plain.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, ''))
  const guesses = [...firstGuesses, ...names.map((name) => name.normalize('NFKC').toLowerCase())]
  const isGuess = guesses.includes(word) || guesses.includes(onceOnly(plain)) || isRun(word) || isRun(onceOnly(plain))
  return isGuess || new Set(plain).size < leastCharacters
    ? 'is one of the first guesses; join some words that have nothing to do with you or this site'
    : undefined
}

/** Returns the shortest text that gives this one when it is repeated. */
const onceOnly = (text: string): string => /^(.+?)\1+$/su.exec(text)?.[1] ?? text

/** Says whether most steps go to the next or the previous key of a row. */
function isRun(text: string): boolean {
  const steps = [...text].slice(1).map((to, at) => {
    const from = text[at] ?? ''
    return rows.some((row) => row.includes(from + to) || row.includes(to + from))
  })
  return steps.length >= 3 && steps.filter(Boolean).length >= steps.length * 0.7
}
