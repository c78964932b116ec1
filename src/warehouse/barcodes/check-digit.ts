/** Returns the GS1 check digit of the digits before it: weights 3 and 1 from the right. */
export function checkDigit(body: string): number {
  let sum = 0
  for (let i = body.length - 1, weight = 3; i >= 0; i--, weight = 4 - weight) sum += Number(body[i]) * weight
  return (10 - (sum % 10)) % 10
}

/** Returns whether the last digit is the check digit of the others. */
export function hasCheckDigit(digits: string): boolean {
  return checkDigit(digits.slice(0, -1)) === Number(digits.at(-1))
}

/** Values of the characters, by their place in this text. */
const set82 = '!"%&\'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
const checkCharacters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/** One weight a character, from the right; a model number has no more characters than there are weights. */
const weights = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83]

/** Returns whether the last two characters check the others. Source: GS1 General Specifications, 7.9.5. */
export function hasCheckCharacters(text: string): boolean {
  const body = text.slice(0, -2)
  if (body === '' || body.length > weights.length) return false
  const sum = weights
    .slice(0, body.length)
    .reduce((total, weight, i) => total + weight * set82.indexOf(body.charAt(body.length - 1 - i)), 0)
  const rest = sum % 1021
  return text.slice(-2) === checkCharacters.charAt(rest >> 5) + checkCharacters.charAt(rest & 31)
}
