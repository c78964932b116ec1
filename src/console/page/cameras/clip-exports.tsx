import { useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { ListedCamera, SignedIn } from '../data/shapes.ts'
import { numberWords } from '../i18n/counting.ts'
import { gatewayWords } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { whenWords } from '../i18n/words.ts'
import { Field, Twice } from '../kit/acts.tsx'
import { follow } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import { ownPath } from '../kit/own-path.ts'
import { useTyped } from '../kit/typed.ts'
import type { Act } from './camera-wall.tsx'
import { clipTexts as words } from './clip-texts.ts'

/** A requested clip and its state. `url`: for the requester, while it may be downloaded. */
export type ClipExport = {
  readonly id: number
  readonly detectionId: number
  readonly cctvId: number
  readonly state: keyof typeof words.states
  readonly who: string
  readonly isOwn: boolean
  readonly why: string | null
  readonly recipient: string | null
  readonly decidedBy: string | null
  readonly decisionNote: string | null
  readonly createdAt: string
  readonly endsAt: string | null
  readonly url: string | null
}

/** Whether a caller may see the list. */
export const mayReadExports = ({ permissions }: SignedIn): boolean => permissions.includes('audit:read')
export const mayHandOut = ({ permissions }: SignedIn): boolean => permissions.includes('cameras:export')

/** Returns the newest requested clips. */
export const readExports = async (): Promise<readonly ClipExport[]> =>
  (await get('/api/iot/exports', { limit: 100 })).data

const tones = { waiting: 'warn', granted: 'ok', refused: 'off', ended: 'off' } as const

type HandOutProps = { detectionId: number; onMade: () => void }

/** Form that requests a clip, with the reason. Typed text stays until the gateway has it. */
export const HandOut = ({ detectionId, onMade }: HandOutProps) => {
  useTyped()
  const [why, setWhy] = useState('')
  const [recipient, setRecipient] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [made, setMade] = useState<ClipExport | undefined>(undefined)
  const send = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem('')
    const body = { reason: why, ...(recipient.trim() !== '' && { recipient }) }
    try {
      setMade(await ask<ClipExport>(`/api/iot/detection-events/${detectionId}/export`, { method: 'POST', body }))
      setWhy('')
      setRecipient('')
      onMade()
    } catch (error) {
      setProblem(words.failed(whyOf(error as Error)))
    } finally {
      setBusy(false)
    }
  }
  if (made)
    return (
      <p class="note" role="status">
        {made.state === 'waiting' ? words.madeWaiting : words.made} <a href="#exports-title">{words.title}</a>
      </p>
    )
  return (
    <details class="hand-out">
      <summary>{words.open}</summary>
      <form onSubmit={send}>
        <p class="muted">{words.help}</p>
        <Field
          id="clip-why"
          words={words.why}
          hint={words.whyHint}
          value={why}
          onText={setWhy}
          rows={2}
          required
          most={2000}
        />
        <Field
          id="clip-recipient"
          words={words.recipient}
          hint={words.recipientHint}
          value={recipient}
          onText={setRecipient}
          most={200}
        />
        <p class="problem" role="alert">
          <Said words={problem} />
        </p>
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.ask}
        </button>
      </form>
    </details>
  )
}

const whyOf = (error: Error): string =>
  gatewayWords(error instanceof Refused && error.details !== '' ? `${error.message}: ${error.details}` : error.message)

const decidedWords = ({ state, decidedBy }: ClipExport): string =>
  decidedBy === null ? '' : state === 'refused' ? words.refusedBy(decidedBy) : words.approvedBy(decidedBy)

type FactsProps = { one: ClipExport; timeZone: string | undefined }

const Facts = ({ one, timeZone }: FactsProps) => {
  const path = ownPath(one.url)
  return (
    <>
      <p class="box-what">
        {words.clip(numberWords(one.detectionId))}{' '}
        <span class={`chip ${tones[one.state]}`}>{words.states[one.state]}</span>
      </p>
      <p>{one.why ?? words.erased}</p>
      <p class="muted">
        {words.by(one.who, whenWords(one.createdAt, timeZone))} {one.recipient === null ? '' : words.for(one.recipient)}{' '}
        {decidedWords(one)} {one.decisionNote ?? ''} {one.state === 'waiting' && one.isOwn ? words.second : ''}
        {one.state === 'granted' && one.endsAt !== null ? words.until(whenWords(one.endsAt, timeZone)) : ''}
      </p>
      {path === undefined ? null : (
        <p>
          <a class="button" href={path} download="">
            {words.download}
          </a>
        </p>
      )}
    </>
  )
}

type ExportsProps = {
  camera: ListedCamera
  exports: readonly ClipExport[]
  caller: SignedIn
  timeZone: string | undefined
  onAct: Act
}

/** Clips of a camera that were handed out, newest first, with the decisions of the caller. */
export const ClipExports = ({ camera, exports, caller, timeZone, onAct }: ExportsProps) => {
  const ours = exports.filter(({ cctvId }) => cctvId === camera.id)
  return (
    <section class="card" aria-labelledby="exports-title">
      <h2 id="exports-title">{words.title}</h2>
      {ours.length === 0 ? <p class="blank">{words.none}</p> : null}
      <ul class="box-list">
        {ours.map((one) => (
          <li key={one.id} class={tones[one.state]}>
            <Facts one={one} timeZone={timeZone} />
            {one.state === 'waiting' && mayHandOut(caller) ? <Decision one={one} onAct={onAct} /> : null}
          </li>
        ))}
      </ul>
    </section>
  )
}

const Decision = ({ one, onAct }: { one: ClipExport; onAct: Act }) => {
  const decide = (how: 'approve' | 'refuse') => () => ask(`/api/iot/exports/${one.id}/${how}`, { method: 'POST' })
  const { isOwn } = one
  const of = words.clip(numberWords(one.detectionId))
  const clip = `/api/iot/detection-events/${one.detectionId}/clip`
  return (
    <p class="box-acts">
      {isOwn ? null : (
        <>
          <a class="button" href={clip} target="_blank" rel="noopener">
            {words.look}
          </a>
          <Twice
            words={words.approve}
            sure={words.approveSure}
            of={of}
            strong
            isBusy={false}
            onSure={() => onAct(decide('approve'), words.approved)}
          />
        </>
      )}
      <Twice
        words={isOwn ? words.withdraw : words.refuse}
        sure={isOwn ? words.withdrawSure : words.refuseSure}
        of={of}
        isBusy={false}
        onSure={() => onAct(decide('refuse'), isOwn ? words.withdrawn : words.refused)}
      />
    </p>
  )
}

type WaitingProps = { cameras: readonly ListedCamera[]; exports: readonly ClipExport[]; caller: SignedIn }

/** Says on the wall of cameras which clips wait for this person's agreement. */
export const WaitingExports = ({ cameras, exports, caller }: WaitingProps) => {
  if (!mayHandOut(caller)) return null
  const waiting = new Set(
    exports.filter(({ state, isOwn }) => state === 'waiting' && !isOwn).map(({ cctvId }) => cctvId),
  )
  return (
    <>
      {cameras
        .filter(({ id }) => waiting.has(id))
        .map(({ id, name }) => (
          <p key={id} class="card">
            <Icon name="warning" />{' '}
            <a href={`/cameras/${id}#exports-title`} onClick={follow}>
              {words.waitsAt(name)}
            </a>
          </p>
        ))}
    </>
  )
}
