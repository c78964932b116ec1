const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const second = 1000

/**
 * Limits of one answer of each kind of machine outside of this process. It belongs to somebody else, or
 * somebody else may answer in its place. It must not fill the memory or the disk, and not keep a request waiting.
 */
export const answerBounds = {
  /** Sign-in at the storage server, from the first byte out to the last byte in. A wrong password takes the server a second. */
  signIn: { bytes: 256 * kibibyte, totalMs: 5 * second },
  /** OpenID provider: discovery, keys, tokens, facts about a person. */
  provider: { bytes: 256 * kibibyte, totalMs: 5 * second },
  /** Upload by WebDAV; the time runs from the head of the answer. */
  upload: { bytes: mebibyte, answerMs: 30 * second },
  /** List of tens of thousands of names on the storage server. */
  storageList: { bytes: 32 * mebibyte, totalMs: 30 * second },
  /** File of the storage server that is read into memory. */
  storageFile: { bytes: 256 * mebibyte, totalMs: 30 * 60 * second },
  /** Head office that a gateway feeds. A batch of leaves takes its time over a slow line; the head office gives a request two minutes. */
  feed: { bytes: 64 * kibibyte, totalMs: 110 * second },
  /** Witness and time stamp authority. */
  evidence: { bytes: 64 * kibibyte, totalMs: 20 * second },
  /** Bundle of 256 leaves of a log that is mirrored: each at most 64 KiB. */
  logBundle: { bytes: 17 * mebibyte, totalMs: 60 * second },
  /** Head office at `gatehouse hub join`. */
  enrolment: { bytes: 64 * kibibyte, totalMs: 20 * second },
  /** Receiver of webhooks; the time runs from the head of the answer, which the config limits. */
  receiver: { bytes: 64 * kibibyte, answerMs: 2 * second },
  /** Push service, and receiver of messages about alerts. */
  alert: { bytes: 64 * kibibyte },
  /** One answer of a mail server. */
  mail: { bytes: 64 * kibibyte },
  /** Address that shows whether the uplink works: only the beginning of its answer is read. */
  uplinkProbe: { bytes: 512, totalMs: 10 * second },
  /** Our daemon at its control socket. A verification may take hours, so its commands have no limit of time. */
  daemon: { bytes: 64 * mebibyte },
  /** ONVIF device; a recorder with 64 channels answers with about 300 kB. */
  onvif: { bytes: 1_000_000, totalMs: 4 * second },
  /** Event service of an ONVIF device, which holds a question for ten seconds when it has nothing to report. */
  onvifEvents: { bytes: 256 * kibibyte, totalMs: 20 * second },
  /** Printer at its raw port, which may report its state. */
  printer: { bytes: 64 * kibibyte },
  /** Head of an answer by RTSP. */
  rtsp: { bytes: 16 * kibibyte },
} as const

/** Limits of a document of another machine. */
export const documentBounds = {
  elements: 500_000,
  depth: 32,
  /** Characters directly in one element. */
  text: 64 * kibibyte,
} as const
