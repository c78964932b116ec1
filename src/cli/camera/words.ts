import type { Finding, OnvifDevice, OnvifProfile } from '../../video/index.ts'

const marks = { good: 'good', note: 'note', change: 'CHANGE', unknown: 'unknown' } as const

/** Returns one line for each finding: topic, value, verdict, and remedy. */
export function findingWords(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ topic }) => topic.length))
  return findings
    .map(({ topic, value, verdict, words }) => `${topic.padEnd(width)}  ${value}\n  ${marks[verdict]}: ${words}\n`)
    .join('')
}

/** Topics that tell one stream from another. */
const topicsOfComment = ['codec', 'size', 'pictures a second', 'key frame interval']

/** Returns the measured properties of a stream in one line, for the comment of its entry. */
export function measuredWords(findings: readonly Finding[]): string {
  const [codec, size, rate, interval] = topicsOfComment.map(
    (topic) => findings.find((one) => one.topic === topic)?.value ?? '?',
  )
  return `${codec}, ${size}, ${rate} pictures a second, key frame interval ${interval}`
}

/** Returns maker, model and address of a device in one line, for the comments of its entries. */
export const madeWords = ({ manufacturer, model, address }: OnvifDevice): string =>
  `${[manufacturer, model].filter((part) => part !== '').join(' ')} at ${address.host}`.trim()

const failures: Record<NonNullable<OnvifDevice['failure']>, string> = {
  'credentials-needed': 'Give --username and --password-file to learn more.',
  refused: 'It refuses the user name or the password. ONVIF often has separate accounts: add one in the camera.',
  'no-answer': 'Its ONVIF service does not answer.',
  'too-large': 'Its answer is larger than any camera needs, and was not read.',
  unreadable: 'Its answer cannot be read as ONVIF.',
  slow: 'It did not answer everything in time.',
}

/** Returns what a device answered, over several lines. */
export function deviceWords(device: OnvifDevice): string {
  const { address, name, manufacturer, model, firmware, channels, failure } = device
  const made = [manufacturer, model, firmware && `firmware ${firmware}`].filter((part) => part !== '').join(' ')
  const lines = [
    `${address.host}${address.port === 80 ? '' : `:${address.port}`}  ${name || model || 'without a name'}`,
    ...(made === '' ? [] : [`  ${made}`]),
    ...(device.clockAheadSeconds === null ? [] : [`  ${clockWords(device.clockAheadSeconds)}`]),
    ...channels.flatMap(({ profiles, main, sub }) =>
      profiles.map((one) => profileWords(one, one === main, one === sub)),
    ),
    ...(failure === null ? [] : [`  ${failures[failure]}`]),
  ]
  return `${lines.join('\n')}\n`
}

function profileWords(
  { codec, width, height, picturesPerSecond, url }: OnvifProfile,
  isMain: boolean,
  isSub: boolean,
): string {
  const use = isMain ? 'for clips' : isSub ? 'for detection' : 'not used'
  const rate = picturesPerSecond === null ? '' : `, ${picturesPerSecond} pictures a second`
  return `  ${codec} ${width} x ${height}${rate}, ${use}: ${url}`
}

function clockWords(aheadSeconds: number): string {
  const seconds = Math.round(Math.abs(aheadSeconds))
  if (seconds <= 2) return 'clock: good'
  const side = aheadSeconds > 0 ? 'ahead' : 'behind'
  return `clock: ${seconds} s ${side}; set the time server (NTP) of the camera`
}
