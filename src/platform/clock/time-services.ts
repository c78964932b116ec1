/** Answer of a time service of the system about the clock. */
export type TimeReport = {
  readonly source: 'timesyncd' | 'chrony' | 'ntpd'
  /** Null: not reported. */
  readonly isSynchronized: boolean | null
  /** The server that it follows, as the service names it; null: none, or not reported. */
  readonly server: string | null
  readonly stratum: number | null
  /** This clock minus the server's, in milliseconds: positive is ahead. Null: not reported. */
  readonly offsetMs: number | null
}

/** A clock that may be wrong by more than this is not synchronized, whatever its service calls it. */
const mostDistanceSeconds = 1
/** systemd-timesyncd asks at least every 2048 s; after three misses it has lost its server. */
const longestSilenceMs = 3 * 2048 * 1000
/** From here on, a stratum of NTP means "not synchronized" (RFC 5905). */
const unsynchronizedStratum = 16

/**
 * Reads the line of `chronyc -c tracking`. Its fields are reference id, server, stratum, time of reference, correction, last offset
 * and RMS offset. Then come three frequencies, root delay, root dispersion, update interval and leap status. Undefined: not such a
 * line.
 */
export function chronyReport(line: string): TimeReport | undefined {
  const fields = line.trim().split(',')
  const [rootDelay, rootDispersion, , leap] = fields.slice(-4)
  if (fields.length < 6 || leap === undefined) return undefined
  const distance = Number(rootDelay) / 2 + Number(rootDispersion)
  const isFar = Number.isFinite(distance) && distance > mostDistanceSeconds
  const isSynchronized = leap !== 'Not synchronised' && !isFar
  const [, server = '', stratum, , correction] = fields.length >= 14 ? fields : []
  // A positive correction means that this clock is slow.
  const offsetMs = isSynchronized ? milliseconds(-Number(correction) * 1000) : null
  return { source: 'chrony', isSynchronized, server: server || null, stratum: stratumOf(stratum), offsetMs }
}

/** Reads the variables that `ntpq -c rv` prints, of ntpd and ntpsec. Undefined: no daemon answered. */
export function ntpdReport(text: string): TimeReport | undefined {
  const value = (name: string) => new RegExp(`(?:^|[\\s,])${name}="?([^",\\s]+)`, 'm').exec(text)?.[1]
  const leap = value('leap')
  if (leap === undefined) return undefined
  const stratum = stratumOf(value('stratum'))
  const distance = (Number(value('rootdelay')) / 2 + Number(value('rootdisp'))) / 1000
  const isFar = Number.isFinite(distance) && distance > mostDistanceSeconds
  const isSynchronized = !/^(11|3|alarm)$/.test(leap) && stratum !== null && !isFar
  const server = value('refid') ?? null
  // The offset of ntpd is positive when the server is ahead of this clock.
  const offsetMs = isSynchronized ? milliseconds(-Number(value('offset'))) : null
  return { source: 'ntpd', isSynchronized, server: isSynchronized ? server : null, stratum, offsetMs }
}

/** Facts of systemd-timesyncd: its marks in the file system, and its answers; undefined: no answer. */
export type TimesyncAnswers = {
  /** It has reached a server once since the boot. */
  readonly wasSynchronized: boolean
  /** `timedatectl show`: the state of the kernel. */
  readonly kernel: string | undefined
  /** `busctl get-property … NTPMessage`: the newest answer of a server. */
  readonly message: string | undefined
  /** `busctl get-property … ServerName` */
  readonly server: string | undefined
}

/**
 * Reads the facts of systemd-timesyncd. Its mark means only that it was synchronized once since the boot. So without an answer of
 * the kernel, or a recent one of a server, its present state is not known.
 */
export function timesyncReport(
  { wasSynchronized, kernel, message, server }: TimesyncAnswers,
  nowMs: number,
): TimeReport {
  const name = /^s "([^"]+)"/.exec(server ?? '')?.[1] ?? null
  const newest = ntpMessage(message ?? '')
  const facts = { source: 'timesyncd', server: name, stratum: newest?.stratum ?? null } as const
  const lost = { ...facts, isSynchronized: false, offsetMs: null }
  if (!wasSynchronized) return lost
  if (kernel !== undefined && /^NTPSynchronized=no$/m.test(kernel) && /^NTP=yes$/m.test(kernel)) return lost
  if (newest && Math.abs(nowMs - newest.receivedMs) > longestSilenceMs) return lost
  const isKnown = newest !== undefined || /^NTPSynchronized=yes$/m.test(kernel ?? '')
  return { ...facts, isSynchronized: isKnown || null, offsetMs: newest?.offsetMs ?? null }
}

/**
 * Reads the NTPMessage of systemd-timesyncd, D-Bus type (uuuuittayttttbtt). Its fields are leap, version, mode, stratum, precision,
 * root delay, root dispersion, reference, the four times of RFC 5905 in µs, and more. Undefined before the first answer.
 */
function ntpMessage(text: string): { stratum: number | null; offsetMs: number; receivedMs: number } | undefined {
  const fields = text.trim().split(/\s+/)
  if (fields[0] !== '(uuuuittayttttbtt)') return undefined
  const referenceLength = Number(fields[8])
  const [sent, reached, answered, received] = fields.slice(9 + referenceLength, 13 + referenceLength).map(Number)
  if (!sent || !reached || !answered || !received) return undefined
  const serverAhead = (reached - sent + (answered - received)) / 2
  return {
    stratum: stratumOf(fields[4]),
    offsetMs: milliseconds(-serverAhead / 1000) ?? 0,
    receivedMs: received / 1000,
  }
}

function stratumOf(text: string | undefined): number | null {
  const stratum = Number(text)
  return Number.isInteger(stratum) && stratum > 0 && stratum < unsynchronizedStratum ? stratum : null
}

/** Rounds to the microsecond. */
const milliseconds = (ms: number): number | null => (Number.isFinite(ms) ? Math.round(ms * 1000) / 1000 + 0 : null)
