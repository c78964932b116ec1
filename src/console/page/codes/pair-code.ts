/** Returns a code as a screen shows it, in halves. Pure. */
export const inHalves = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`
