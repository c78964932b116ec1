/** Reasons why a camera gives no usable pictures. */
export const problems = [
  'unreachable',
  'name-unknown',
  'refused',
  'wrong-path',
  'busy',
  'no-video',
  'udp-only',
  'not-a-stream',
  'redirected',
  'no-picture',
  'no-key-frame',
  'few-pictures',
  'damaged-pictures',
  'damaged-detection',
  'size-changed',
  'frozen',
  'time-jump',
  'reordered',
  'motion-jpeg',
  'closed',
  'password-unreadable',
  'program-failed',
  'no-program',
] as const
export type Problem = (typeof problems)[number]

/** A problem and its remedy, each a sentence for the admin. */
export type PlainWords = { readonly what: string; readonly hint: string }

const words: Record<Problem, PlainWords> = {
  unreachable: {
    what: 'Nothing answers at the address of the camera.',
    hint: 'Check its power, its cable and the host and port of the url.',
  },
  'name-unknown': {
    what: 'The host name of the camera is not known.',
    hint: 'Check the host of the url, or write its IP address instead.',
  },
  refused: {
    what: 'The camera refuses the user name or the password.',
    hint: 'Check username and passwordFile, and whether the account is locked or has too many connections.',
  },
  'wrong-path': {
    what: 'The camera answers, but has no stream under this path.',
    hint: 'Check the path of the url in the manual of the camera.',
  },
  busy: {
    what: 'The camera answers, but cannot give the stream now.',
    hint: 'It may serve too many viewers already, or be starting.',
  },
  'no-video': {
    what: 'The stream has no video, or video in a codec that ffmpeg does not know.',
    hint: 'Switch video on at the camera, set it to H.264, or take the url of another stream.',
  },
  'udp-only': {
    what: 'The camera refuses to send its video inside the RTSP connection (TCP).',
    hint: 'Allow RTP over RTSP in the camera; its settings may call it TCP or interleaved.',
  },
  'not-a-stream': {
    what: 'The program at this address does not speak RTSP, or sends video that cannot be read.',
    hint: 'Check the port of the url, and the codec that the camera is set to: H.264 is the safest.',
  },
  redirected: {
    what: 'The camera names another address for its stream (a redirect), where gatehouse does not send the password.',
    hint: 'Write the new address into the url if you trust it; the log has it. Otherwise look for who answers in place of the camera.',
  },
  'no-picture': {
    what: 'The camera was asked for its stream, but no picture came.',
    hint: 'Restart the camera; a very long key frame interval can be the cause too.',
  },
  'no-key-frame': {
    what: 'The camera has sent no key frame for a long time. Clips begin at key frames, so a motion now may have no video.',
    hint: 'Set the key frame interval (I-frame interval, GOP) of the camera to 1 or 2 seconds, and switch smart or dynamic intervals off.',
  },
  'few-pictures': {
    what: 'The camera sends fewer than 3 pictures a second, so fast motion is missed.',
    hint: 'Set its frame rate to 10 or more, and look for a night mode or a bandwidth limit that lowers it.',
  },
  'damaged-pictures': {
    what: 'Many pictures of the camera arrive damaged: clips show blocks, and motion may be found where there is none.',
    hint: 'Look for a bad cable, a weak radio link or an overloaded switch; if there is none, restart the camera or lower its bit rate.',
  },
  'damaged-detection': {
    what: 'Many pictures of the stream for detection (detectUrl) arrive damaged, so motion may be found where there is none. Clips are of the other stream, which is not checked for this.',
    hint: 'Look for a bad cable, a weak radio link or an overloaded switch; if there is none, restart the camera or lower the bit rate of this stream.',
  },
  'size-changed': {
    what: 'The camera changed the size of its picture.',
    hint: 'The stream is opened anew, and an open clip ends. If this goes on, set one fixed size in the camera.',
  },
  frozen: {
    what: 'The stream is frozen: it is open, but pictures have stopped.',
    hint: 'It is opened anew; if this goes on, restart the camera or check the network.',
  },
  'time-jump': {
    what: 'The clock inside the stream of the camera jumped.',
    hint: 'It is opened anew; if this goes on, check the time server that the camera is set to, or restart the camera.',
  },
  reordered: {
    what: 'The camera sends its pictures in another order than they are shown (B-frames), and this ffmpeg cannot record that.',
    hint: 'Switch B-frames off in the camera, or install ffmpeg 4.4 or later. Motion is detected, but there are no clips.',
  },
  'motion-jpeg': {
    what: 'The camera sends Motion JPEG, which browsers do not play.',
    hint: 'Clips are encoded again as H.264. Set the camera to H.264, if it can, to keep its own video.',
  },
  closed: {
    what: 'The camera ended the stream.',
    hint: 'It is opened anew; if this goes on, read the log of the camera.',
  },
  'password-unreadable': {
    what: 'The file with the password of the camera cannot be read.',
    hint: 'Check that passwordFile exists and that gatehouse may read it.',
  },
  'program-failed': {
    what: 'The program that reads the stream (ffmpeg) failed.',
    hint: 'It is started again; the log has its last message.',
  },
  'no-program': {
    what: 'ffmpeg, the program that reads the cameras, cannot be started.',
    hint: 'Install it from the packages of the system, or set ffmpeg.path; then check that the box has memory left. gatehouse doctor says which one is used.',
  },
}

/** Returns the sentences for the admin about a problem. */
export function plainWords(problem: Problem): PlainWords {
  return words[problem]
}

/** The first matching pattern decides; certain ones come before likely ones. */
const signs: readonly (readonly [RegExp, Problem])[] = [
  [/\b(401 Unauthorized|403 Forbidden|authorization failed)\b/i, 'refused'],
  [/\b(404 Not Found|454 Session Not Found|410 Gone)\b/i, 'wrong-path'],
  [/\b461 |Nonmatching transport/i, 'udp-only'],
  [/\b(453 |503 Service Unavailable|Server returned 5XX|failed: 5\d\d )/i, 'busy'],
  [/Failed to resolve hostname|Name or service not known|Temporary failure in name resolution/i, 'name-unknown'],
  [/Connection refused|No route to host|Network is unreachable|Host is unreachable|timed out/i, 'unreachable'],
  [/first pts and dts value must be set|first pts value must be set/i, 'reordered'],
  [/matches no streams|does not contain any stream/i, 'no-video'],
  [/Invalid data found|Could not find codec parameters|Protocol not found|unexpected TLS packet/i, 'not-a-stream'],
]

export type Ending = {
  /** Output of the program on stderr. */
  readonly said: string
  /** Whether any video had arrived. */
  readonly hadVideo: boolean
  readonly code: number | null
  /** The signal that ended it, unless we sent it. */
  readonly signal: NodeJS.Signals | null
}

/** Returns why a stream's ffmpeg has ended. A camera that closes a running stream makes it end with code 0. */
export function problemOf({ said, hadVideo, code, signal }: Ending): Problem {
  if (signal !== null) return 'program-failed'
  const sign = signs.find(([pattern]) => pattern.test(said))
  // Complaints of a running stream's decoder are no reason for its end.
  if (hadVideo) return sign && !['no-video', 'not-a-stream'].includes(sign[1]) ? sign[1] : 'closed'
  if (sign) return sign[1]
  return code === 0 || /Input\/output error|End of file/i.test(said) ? 'no-picture' : 'not-a-stream'
}
