/** Widths of bars and spaces of the 106 characters and the stop, by ISO/IEC 15417. */
const patterns =
  '212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112'.split(
    ' ',
  )

/** Reads a Code 128 symbol: FNC1 becomes GS, the leading one too. Throws when the widths are no symbol. */
export function readCode128(widths: readonly number[]): string {
  if (widths.slice(-7).join('') !== patterns[106]) throw new Error('no stop')
  const values: number[] = []
  for (let at = 0; at < widths.length - 7; at += 6) values.push(patterns.indexOf(widths.slice(at, at + 6).join('')))
  if (values.includes(-1)) throw new Error('no such character')
  const check = values.pop()
  const sum = values.reduce((total, value, i) => total + value * Math.max(i, 1), 0)
  if (sum % 103 !== check) throw new Error('wrong check character')
  const [start = 0, ...data] = values
  let set = 'ABC'[start - 103] ?? '?'
  let text = ''
  for (const value of data) {
    if (value === 102) text += '\x1d'
    else if (set === 'C' && value < 100) text += String(value).padStart(2, '0')
    else if (set !== 'C' && value < 96)
      text += String.fromCharCode(set === 'A' && value >= 64 ? value - 64 : value + 32)
    else if (value === 99 || value === 100 || value === 101) set = { 99: 'C', 100: 'B', 101: 'A' }[value]
    else throw new Error(`value ${value} in set ${set}`)
  }
  return text
}

/** Bars and spaces of a row of boxes in a path `Mx yhWvHh-Wz…`, in units of the narrowest. */
export function barsOf(path: string): number[] {
  const boxes = [...path.matchAll(/M(\d+) \d+h(\d+)v\d+h-\d+z/g)].map(([, x, w]) => ({ x: Number(x), w: Number(w) }))
  const unit = Math.min(...boxes.map(({ w }) => w))
  return boxes.flatMap(({ x, w }, i) => {
    const next = boxes[i + 1]
    return next ? [w / unit, (next.x - x - w) / unit] : [w / unit]
  })
}
