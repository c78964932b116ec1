const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** Returns a number of bytes in its largest unit, with one digit behind the point, rounded down: `12.5 MiB`. */
export function sizeWords(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1)
  return `${Math.floor((bytes / 1024 ** power) * 10) / 10} ${units[power]}`
}
