/** Widths of the bars and spaces of each character of Code 128 (ISO/IEC 15417), and of the stop at 106. */
const patterns = (
  '212222222122222221121223121322131222122213122312132212221213221312231212112232122132122231113222123122123221' +
  '223211221132221231213212223112312131311222321122321221312212322112322211212123212321232121111323131123131321' +
  '112313132113132311211313231113231311112133112331132131113123113321133121313121211331231131213113213311213131' +
  '311123311321331121312113312311332111314111221411431111111224111422121124121421141122141221112214112412122114' +
  '122411142112142211241211221114413111241112134111111242121142121241114212124112124211411212421112421211212141' +
  '214121412121111143111341131141114113114311411113411311113141114131311141411131211412211214211232'
).match(/.{6}/g)
const stop = '2331112'
const startB = 104

/** Returns the widths of bars and spaces in turn, in units of the narrowest; undefined for text that set B does not have. Pure. */
export function barsOf(code: string): readonly number[] | undefined {
  if (!/^[ -~]{1,40}$/.test(code)) return undefined
  const values = [...code].map((letter) => letter.charCodeAt(0) - 32)
  const check = values.reduce((sum, value, i) => sum + value * (i + 1), startB) % 103
  const widths = [startB, ...values, check].map((value) => patterns?.[value] ?? '').join('') + stop
  return [...widths].map(Number)
}

const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

/** Returns a new code for a badge: 12 letters that are not mixed up, 60 bits. `random`: 12 bytes of chance. Pure. */
export const badgeCode = (random: Uint8Array): string =>
  `B-${[...random.slice(0, 12)].map((byte) => letters[byte % letters.length]).join('')}`
