import type { PlainWords } from '../../video/index.ts'
import { type DoctorFinding, type DoctorVerdict, findingsOn } from './finding.ts'

/** One stream of a camera that was opened and measured, or why it was not. */
export type StreamSeen = {
  readonly id: number
  readonly name: string
  /** Which address of the camera. */
  readonly key: 'url' | 'detectUrl'
  /** Why there is no usable stream; null: there is one. */
  readonly problem: PlainWords | null
  /** Results of a measurement: codec, size, key frames against the pre-roll, clock. */
  readonly measured: readonly {
    readonly topic: string
    readonly value: string
    readonly verdict: Exclude<DoctorVerdict, 'bad'>
    readonly words: string
  }[]
  /** First line of a server that answers there without RTSP; null: none. */
  readonly stranger: string | null
}

const shown = ['codec', 'size', 'key frame interval', 'clock of the camera']

/** Returns the findings of a stream: one for each thing to change, or one that describes it. */
export function streamFindings({ id, name, key, problem, measured, stranger }: StreamSeen): DoctorFinding[] {
  const of = findingsOn({ topic: 'camera', subject: `${id} (${name})${key === 'detectUrl' ? ', detectUrl' : ''}` })
  if (problem !== null) {
    const says = stranger === null ? '' : ` It says ${JSON.stringify(stranger)}.`
    return [of.bad(`${problem.what}${says}`, problem.hint)]
  }
  const changes = measured.filter(({ verdict }) => verdict === 'change')
  if (changes.length > 0)
    return changes.map(({ topic, value, words }) => of.change(`${capital(topic)}: ${value}.`, words))
  const facts = measured.filter(({ topic }) => shown.includes(topic)).map(({ topic, value }) => `${topic}: ${value}`)
  const what = `${capital(facts.join('; '))}.`
  const notes = measured.filter(({ verdict }) => verdict === 'note').map(({ words }) => words)
  return [notes.length > 0 ? of.note(what, notes.join(' ')) : of.good(what)]
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A camera as the running gateway sees it. */
type CameraNow = { readonly id: number; readonly name: string; readonly state: string; readonly problem: string | null }

/** Names slots of the config that do not exist: a mistyped label looks like a slot without a camera. */
export function slotFindings(cameras: readonly { id: number; name: string; unknownSlots: readonly string[] }[]) {
  return cameras
    .filter(({ unknownSlots }) => unknownSlots.length > 0)
    .map(({ id, name, unknownSlots }) =>
      findingsOn({ topic: 'camera', subject: `${id} (${name})` }).change(
        `It names ${listed(unknownSlots)}, but there is no such slot.`,
        'Correct slots of the camera in the config, or make the slot: until then its events get no film.',
      ),
    )
}

const mostListed = 5
const listed = (labels: readonly string[]): string =>
  labels.length <= mostListed
    ? labels.map((label) => JSON.stringify(label)).join(', ')
    : `${listed(labels.slice(0, mostListed))} and ${labels.length - mostListed} more`

/** Judges the reports of the running gateway on its cameras. */
export function cameraFindings(cameras: readonly CameraNow[]): DoctorFinding[] {
  return cameras
    .filter(({ state }) => state === 'away')
    .map(({ id, name, problem }) =>
      findingsOn({ topic: 'camera', subject: `${id} (${name})` }).bad(
        'The running gateway gets no pictures of it.',
        problem ?? 'Wait a minute, then check again.',
      ),
    )
}
