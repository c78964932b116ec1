import type { Track } from './track.ts'

/** The session description (RFC 4566) of these tracks; controls are `trackID=N`, counted from 0. */
export function sessionDescription(name: string, tracks: readonly Track[]): string {
  const session = [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    `s=${name}`,
    'c=IN IP4 0.0.0.0',
    't=0 0',
    'a=control:*',
    'a=range:npt=now-',
  ]
  const media = tracks.flatMap((track, i) => [...track.description(), `a=control:trackID=${i}`])
  return `${[...session, ...media].join('\r\n')}\r\n`
}
