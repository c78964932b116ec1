import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PlacementEvent } from '../../data/shapes.ts'
import {
  type Fate,
  fateOf,
  type Neighbors,
  neighborsOf,
  type SlotState,
  type Waiting,
  waitingIn,
} from '../../data/verify-queue.ts'
import { Said } from '../../i18n/said.tsx'
import { texts } from '../../i18n/texts.ts'
import { follow, keepsUnsaved, numberOf } from '../../kit/address.ts'
import { Bar } from '../../kit/bar.tsx'
import { textOf } from '../../kit/field.ts'
import { Icon } from '../../kit/icons.tsx'
import type { ViewProps } from '../../kit/views.ts'
import { Evidence } from './evidence.tsx'
import { useFloor } from './use-floor.ts'
import { type Pinned, useVerdict, type Verdict } from './verdict.ts'
import { verifyTexts as words } from './verify-texts.ts'

/** One placement after the other: photo, film and weight beside the booked facts, and the verdict of a supervisor. */
export const View = ({ siteId, caller, asked, onLeft }: ViewProps) => (
  <>
    <Bar here="verify" siteId={siteId} caller={caller} onLeft={onLeft} />
    <Verifying asked={numberOf(asked.get('slot'))} onLeft={onLeft} />
  </>
)

type VerifyingProps = { asked: number | undefined; onLeft: (why: string) => void }

const keyOf = ({ slot }: Waiting): string => `${slot.id} ${slot.assetBarcode}`

/** Keeps the placement that is on the screen, whatever comes and goes in the list; without one it takes the first that waits. */
function usePinned(waiting: readonly Waiting[]) {
  const [pinned, setPinned] = useState<Pinned | undefined>(undefined)
  const n = useRef(0)
  /** `from`: nothing changes when the person has gone on from there meanwhile. */
  const pin = (next: Waiting | undefined, from: Pinned | undefined = undefined) => {
    n.current = (n.current ?? 0) + 1
    const made = next && { ...next, n: n.current }
    setPinned((shown) => (from && shown?.n !== from.n ? shown : made))
  }
  const found = (one: Pinned, placed: PlacementEvent) =>
    setPinned((shown) => (shown?.n === one.n ? { ...shown, placed } : shown))
  const [first] = waiting
  useEffect(() => {
    if (!pinned && first) pin(first)
  }, [pinned, first])
  const newest = useRef(waiting)
  newest.current = waiting
  const goOnFrom = (judged: Pinned) => {
    const others = (newest.current ?? []).filter(({ slot }) => slot.id !== judged.slot.id)
    const next = neighborsOf(others, judged)
    pin(next.after ?? next.before, judged)
  }
  return { pinned, pin, found, goOnFrom }
}

/** Keeps the typed notes about each placement while others are shown. */
function useNotes(waiting: readonly Waiting[], pinned: Pinned | undefined) {
  const [notes, setNotes] = useState<Readonly<Record<string, string>>>({})
  const of = (one: Waiting) => notes[keyOf(one)] ?? ''
  const set = (one: Waiting, text: string) => setNotes((before) => ({ ...before, [keyOf(one)]: text }))
  const hasNote = [...waiting, ...(pinned ? [pinned] : [])].some((one) => of(one).trim() !== '')
  useLayoutEffect(() => (hasNote ? keepsUnsaved(() => confirm(texts.leave)) : undefined), [hasNote])
  /** Drops the note of a placement that is left for good; false: the person keeps it. */
  const mayLeave = (one: Waiting): boolean => {
    if (waiting.some((other) => keyOf(other) === keyOf(one)) || of(one).trim() === '') return true
    if (!confirm(texts.leave)) return false
    set(one, '')
    return true
  }
  return { of, set, mayLeave }
}

/** Returns what others did with the placement on the screen. */
function fateWords(fate: Fate): string {
  switch (fate.kind) {
    case 'waits':
      return ''
    case 'verified':
      return words.verifiedBy(fate.event?.operator ?? words.somebody)
    case 'disputed':
      return words.disputedBy(fate.event?.operator ?? words.somebody, fate.event?.verification_notes ?? '')
    case 'replaced':
      return words.replaced(fate.by)
    default:
      return words[fate.kind]
  }
}

const waits: Fate = { kind: 'waits' }

const Verifying = ({ asked, onLeft }: VerifyingProps) => {
  const { floor, timeZone, trouble, reload, learn } = useFloor(onLeft)
  // A requested slot is shown until it is judged, also a disputed one.
  const [first, setFirst] = useState<number | undefined>(asked)
  const field = useRef<HTMLTextAreaElement>(null)
  const title = useRef<HTMLHeadingElement>(null)
  const waiting = useMemo(() => (floor ? waitingIn(floor, first) : []), [floor, first])
  const { pinned, pin, found, goOnFrom } = usePinned(waiting)
  const notes = useNotes(waiting, pinned)
  const note = pinned ? notes.of(pinned) : ''
  const fate = pinned && floor ? fateOf(pinned, floor) : waits
  const neighbors = pinned ? neighborsOf(waiting, pinned) : { before: undefined, after: undefined }
  const now = waiting.find(({ slot }) => slot.id === pinned?.slot.id)
  const onJudged = (judged: Pinned, state: SlotState) => {
    notes.set(judged, '')
    if (judged.slot.id === first) setFirst(undefined)
    learn(state)
    goOnFrom(judged)
    title.current?.focus({ preventScroll: true })
  }
  const onNoteMissing = () => field.current?.focus()
  const verdict = useVerdict({ pinned, fate, note, onJudged, onNoteMissing, onOutdated: reload, onLeft })
  const { judge } = verdict
  const go = (next: Waiting | undefined) => {
    verdict.forgetProblem()
    if (next && pinned && notes.mayLeave(pinned)) pin(next)
  }
  useKeys({
    j: () => go(neighbors.after),
    k: () => go(neighbors.before),
    v: () => judge('VERIFIED'),
    d: () => judge('DISPUTED'),
  })

  return (
    <main class="verify">
      <Head title={title} status={`${verdict.outcome} ${floor ? words.left(waiting.length) : words.loading}`} />
      <p class="problem" role="alert">
        {/* The stream may tell this person's own verdict before its answer is here. */}
        {verdict.isBusy ? '' : fateWords(fate)} <Said words={verdict.problem || trouble} />
      </p>
      {fate.kind !== 'waits' && now && pinned ? (
        <p>
          <button type="button" onClick={() => go(now)}>
            {words.showNow}
          </button>
        </p>
      ) : null}
      {floor && waiting.length === 0 && !pinned ? <Done /> : null}
      {pinned ? (
        <>
          <Evidence
            key={pinned.n}
            waiting={pinned}
            timeZone={timeZone}
            onFound={(placed) => found(pinned, placed)}
            onSeen={() => verdict.markSeen(pinned.n)}
          />
          <VerdictForm
            field={field}
            note={note}
            onNote={(text) => notes.set(pinned, text)}
            mayJudge={verdict.mayJudge}
            onVerdict={judge}
            neighbors={neighbors}
            onGo={go}
          />
        </>
      ) : null}
    </main>
  )
}

const Head = ({ title, status }: { title: { current: HTMLHeadingElement | null }; status: string }) => (
  <div class="verify-head">
    <h1 tabindex={-1} ref={title}>
      {words.title}
    </h1>
    <p role="status">{status}</p>
    <p class="muted keys">{words.keys}</p>
  </div>
)

/** Calls the function of a key that is pressed outside of fields; once, however long it is held. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const newest = useRef(keys)
  newest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest('input, textarea, select, video')) return
      newest.current?.[event.key.toLowerCase()]?.()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}

const Done = () => (
  <section class="card all-well">
    <Icon name="verified" />
    <p>
      <strong>{words.empty}</strong>
    </p>
    <p>{words.emptyNext}</p>
    <p>
      <a class="button" href="/todo" onClick={follow}>
        {texts.views.todo}
      </a>
    </p>
  </section>
)

type FormProps = {
  field: { current: HTMLTextAreaElement | null }
  note: string
  onNote: (text: string) => void
  mayJudge: (verdict: Verdict) => boolean
  onVerdict: (verdict: Verdict) => void
  neighbors: Neighbors
  onGo: (to: Waiting | undefined) => void
}

/** The note, the two verdicts, and the ways to the placements before and after. */
const VerdictForm = ({ field, note, onNote, mayJudge, onVerdict, neighbors, onGo }: FormProps) => (
  <div class="verify-acts">
    <label for="note">{words.note}</label>
    <textarea
      id="note"
      ref={field}
      rows={2}
      maxlength={4000}
      placeholder={words.noteHint}
      value={note}
      onInput={(event: Event) => onNote(textOf(event))}
      onKeyDown={(event: KeyboardEvent) => event.key === 'Escape' && field.current?.blur()}
    />
    <div class="verify-buttons">
      <button type="button" aria-disabled={neighbors.before ? 'false' : 'true'} onClick={() => onGo(neighbors.before)}>
        {words.previous}
      </button>
      <button
        type="button"
        class="dispute"
        aria-disabled={mayJudge('DISPUTED') ? 'false' : 'true'}
        onClick={() => onVerdict('DISPUTED')}
      >
        <Icon name="disputed" /> {words.dispute}
      </button>
      <button
        type="button"
        class="strong"
        aria-disabled={mayJudge('VERIFIED') ? 'false' : 'true'}
        onClick={() => onVerdict('VERIFIED')}
      >
        <Icon name="verified" /> {words.verify}
      </button>
      <button type="button" aria-disabled={neighbors.after ? 'false' : 'true'} onClick={() => onGo(neighbors.after)}>
        {words.next}
      </button>
    </div>
  </div>
)
