/** Irregularity that is the same on every machine. */

/** A hash of a place on a grid, 0 to 1. */
export function speck(x: number, y: number): number {
  let h = Math.imul(x | 0, 0x27d4_eb2d) ^ Math.imul(y | 0, 0x1656_67b1)
  h = Math.imul(h ^ (h >>> 15), 0x85eb_ca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35)
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32
}

/** Smooth irregularity, -1 to 1, that changes over a distance of 1. */
export function grain(x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)]
  const [across, down] = [ease(x - left), ease(y - top)]
  const upper = speck(left, top) * (1 - across) + speck(left + 1, top) * across
  const lower = speck(left, top + 1) * (1 - across) + speck(left + 1, top + 1) * across
  return 2 * (upper * (1 - down) + lower * down) - 1
}

/** Values around 0 with about this standard deviation, in an order that looks random: the noise of a sensor. */
export function sensorNoise(count: number, deviation: number): Int8Array {
  // The sum of three even distributions is bell-shaped enough; its deviation is 0.5.
  return Int8Array.from({ length: count }, (_, i) =>
    Math.round((speck(i, 1) + speck(i, 2) + speck(i, 3) - 1.5) * 2 * deviation),
  )
}

const ease = (t: number) => t * t * (3 - 2 * t)
