import bwip from 'bwip-js/node'

/** Pixels of a module in the picture. */
const modulePx = 8

/** Returns a QR code as SVG, with the four light modules on each side that ISO/IEC 18004 demands, on any ground. */
export const qrPicture = (text: string): string =>
  // A module is two dots of the library, and `scale` is the pixels of a dot; `padding` is in dots.
  bwip.toSVG({ bcid: 'qrcode', text, scale: modulePx / 2, padding: 4 * 2 })
