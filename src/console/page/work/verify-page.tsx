import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { errorMessage } from '../../../platform/faults.ts'
import { onSignedInAgain } from '../data/again.ts'
import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import { isOutdated } from '../data/asking.ts'
import { Calm, layoutPace } from '../data/calm.ts'
import type { Heard } from '../data/heard.ts'
import { listen } from '../data/live.ts'
import type { Asset, EventFootage, List, PlacementEvent, Slot } from '../data/shapes.ts'
import { useOnceKey } from '../data/use-once-key.ts'
import {
  afterHearing,
  type Fate,
  type FloorNow,
  fateOf,
  neighborsOf,
  type SlotState,
  type Waiting,
  waitingIn,
  withStates,
} from '../data/verify-queue.ts'
import { kilograms } from '../i18n/counting.ts'
import { Said } from '../i18n/said.tsx'
import { whyNoFilm } from '../i18n/story-words.ts'
import { texts } from '../i18n/texts.ts'
import { exactTime } from '../i18n/words.ts'
import { follow, keepsUnsaved, numberOf, pageOfCode } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { Icon } from '../kit/icons.tsx'
import { ownPath } from '../kit/own-path.ts'
import type { ViewProps } from '../kit/views.ts'
import { Warnings } from '../kit/warnings.tsx'
import { usePhoto } from '../pictures/use-photo.ts'
import { Fact } from '../proof/move.tsx'
import { verifyTexts as words } from './verify-texts.ts'

type Verdict = 'VERIFIED' | 'DISPUTED'

const aloneMs = 15_000
const firstMs = 1500

/** One placement after the other: photo, film and weight beside the booked facts, and the verdict of a supervisor. */
export const View = ({ siteId, caller, asked, onLeft }: ViewProps) => (
  <>
    <Bar here="verify" siteId={siteId} caller={caller} onLeft={onLeft} />
    <Verifying asked={numberOf(asked.get('slot'))} onLeft={onLeft} />
  </>
)

type VerifyingProps = { asked: number | undefined; onLeft: (why: string) => void }

/** The placement that somebody looks at. It stays until that person leaves it, whatever comes and goes in the list. */
type Pinned = Waiting & { readonly n: number }

const keyOf = ({ slot }: Waiting): string => `${slot.id} ${slot.assetBarcode}`

/** Keeps the placement that is on the screen; without one it takes the first that waits. */
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
  return { pinned, pin, found }
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
/** Another one's verdict is about the same placement, so it can be disputed behind it. */
const takes = {
  VERIFIED: new Set<Fate['kind']>(['waits']),
  DISPUTED: new Set<Fate['kind']>(['waits', 'verified', 'disputed']),
}

const Verifying = ({ asked, onLeft }: VerifyingProps) => {
  const { floor, timeZone, trouble, reload, learn } = useFloor(onLeft)
  // A requested slot is shown until it is judged, also a disputed one.
  const [first, setFirst] = useState<number | undefined>(asked)
  const [outcome, setOutcome] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  // A verdict counts when the photo of this look was on the screen, or there is none.
  const [seen, setSeen] = useState(0)
  const once = useOnceKey()
  const field = useRef<HTMLTextAreaElement>(null)
  const title = useRef<HTMLHeadingElement>(null)
  const waiting = useMemo(() => (floor ? waitingIn(floor, first) : []), [floor, first])
  const { pinned, pin, found } = usePinned(waiting)
  const notes = useNotes(waiting, pinned)
  const note = pinned ? notes.of(pinned) : ''
  const fate = pinned && floor ? fateOf(pinned, floor) : waits
  const { before, after } = pinned ? neighborsOf(waiting, pinned) : { before: undefined, after: undefined }
  const now = waiting.find(({ slot }) => slot.id === pinned?.slot.id)
  const isSeen = seen === pinned?.n
  const newest = useRef(waiting)
  newest.current = waiting

  const go = (next: Waiting | undefined) => {
    setProblem('')
    if (next && pinned && notes.mayLeave(pinned)) pin(next)
  }
  const goOnFrom = (judged: Pinned) => {
    const others = (newest.current ?? []).filter(({ slot }) => slot.id !== judged.slot.id)
    const next = neighborsOf(others, judged)
    pin(next.after ?? next.before, judged)
  }
  const judge = (event_type: Verdict) => {
    if (!pinned || isBusy) return
    const { slot, placed } = pinned
    const text = note.trim()
    if (!takes[event_type].has(fate.kind)) {
      setProblem(words.settled)
      return
    }
    if (!isSeen) {
      setProblem(words.notSeen)
      return
    }
    if (event_type === 'DISPUTED' && text === '') {
      setProblem(words.noteMissing)
      field.current?.focus()
      return
    }
    setBusy(true)
    setProblem('')
    const body = {
      event_type,
      slot_id: slot.id,
      asset_barcode: slot.assetBarcode,
      // The gateway records nothing when the slot shows another placement by then.
      placement_event_id: placed?.id,
      ...(text && { verification_notes: text }),
    }
    ask<{ slot: SlotState }>('/api/whms/events', { method: 'POST', body, onceKey: once.of(body) })
      .then(
        (answer) => {
          once.done(body)
          setOutcome(words[event_type === 'VERIFIED' ? 'verified' : 'disputed'](slot.assetBarcode ?? '', slot.slot_id))
          notes.set(pinned, '')
          if (slot.id === first) setFirst(undefined)
          learn(answer.slot)
          goOnFrom(pinned)
          title.current?.focus({ preventScroll: true })
        },
        (error: Error) => {
          if (error instanceof Refused && error.isSignedOut) return onLeft(texts.signedOut)
          const isOther = isOutdated(error)
          setProblem(isOther ? words.otherNow : words.failed(error.message))
          if (isOther) reload()
        },
      )
      .finally(() => setBusy(false))
  }
  useKeys({ j: () => go(after), k: () => go(before), v: () => judge('VERIFIED'), d: () => judge('DISPUTED') })

  return (
    <main class="verify">
      <div class="verify-head">
        <h1 tabindex={-1} ref={title}>
          {words.title}
        </h1>
        <p role="status">
          {outcome} {floor ? words.left(waiting.length) : words.loading}
        </p>
        <p class="muted keys">{words.keys}</p>
      </div>
      <p class="problem" role="alert">
        {/* The stream may tell this person's own verdict before its answer is here. */}
        {isBusy ? '' : fateWords(fate)} <Said words={problem || trouble} />
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
            onSeen={() => {
              setSeen(pinned.n)
              setProblem((before) => (before === words.notSeen ? '' : before))
            }}
          />
          <div class="verify-acts">
            <label for="note">{words.note}</label>
            <textarea
              id="note"
              ref={field}
              rows={2}
              maxlength={4000}
              placeholder={words.noteHint}
              value={note}
              onInput={(event: Event) => notes.set(pinned, (event.target as HTMLTextAreaElement).value)}
              onKeyDown={(event: KeyboardEvent) => event.key === 'Escape' && field.current?.blur()}
            />
            <div class="verify-buttons">
              <button type="button" aria-disabled={before ? 'false' : 'true'} onClick={() => go(before)}>
                {words.previous}
              </button>
              <button
                type="button"
                class="dispute"
                aria-disabled={isSeen && takes.DISPUTED.has(fate.kind) ? 'false' : 'true'}
                onClick={() => judge('DISPUTED')}
              >
                <Icon name="disputed" /> {words.dispute}
              </button>
              <button
                type="button"
                class="strong"
                aria-disabled={isSeen && takes.VERIFIED.has(fate.kind) ? 'false' : 'true'}
                onClick={() => judge('VERIFIED')}
              >
                <Icon name="verified" /> {words.verify}
              </button>
              <button type="button" aria-disabled={after ? 'false' : 'true'} onClick={() => go(after)}>
                {words.next}
              </button>
            </div>
          </div>
        </>
      ) : null}
    </main>
  )
}

async function readFloor(): Promise<{ readonly floor: FloorNow; readonly timeZone: string | undefined }> {
  const [slots, events, warehouses] = await Promise.all([
    get('/api/whms/slots', {}),
    get('/api/whms/events', { event_type: 'PLACED', limit: 500 }),
    get('/api/whms/warehouses', {}),
  ])
  return { floor: { slots: slots.data, events: events.data }, timeZone: warehouses.data[0]?.timezone }
}

/** Reads the floor once, and keeps it up to date by the stream; without the stream it is read again. */
function useFloor(onLeft: (why: string) => void) {
  const [floor, setFloor] = useState<FloorNow | undefined>(undefined)
  const [timeZone, setTimeZone] = useState<string | undefined>(undefined)
  const [trouble, setTrouble] = useState('')
  const again = useRef<() => void>(() => {})
  useEffect(() => {
    let timer = 0
    let isOver = false
    let reading: { heard: Heard[] } | undefined
    const relaid = new Calm(() => (reading ? relaid.soon() : void read()), layoutPace)
    const read = async () => {
      clearTimeout(timer)
      const mine: { heard: Heard[] } = { heard: [] }
      reading = mine
      try {
        const next = await readFloor()
        if (isOver || reading !== mine) return
        setTrouble('')
        // Messages that came meanwhile may be newer than the answers.
        setFloor(mine.heard.reduce(afterHearing, next.floor))
        setTimeZone(next.timeZone)
      } catch (error) {
        if (isOver || reading !== mine) return
        if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
        else setTrouble(texts.notAsked(errorMessage(error)))
        timer = window.setTimeout(read, aloneMs)
      } finally {
        if (reading === mine) reading = undefined
      }
    }
    const unlisten = listen((heard) => {
      if (heard.kind === 'hello' && !heard.data.resumed) void read()
      else if (heard.kind === 'floor' && heard.data.layoutChanged) relaid.soon()
      else if (heard.kind === 'lost') {
        clearTimeout(timer)
        timer = window.setTimeout(read, aloneMs)
      } else {
        reading?.heard.push(heard)
        setFloor((before) => before && afterHearing(before, heard))
      }
    })
    const unwatch = onSignedInAgain(() => void read())
    timer = window.setTimeout(read, firstMs)
    again.current = () => void read()
    return () => {
      isOver = true
      clearTimeout(timer)
      relaid.stop()
      unwatch()
      unlisten()
    }
  }, [])
  return {
    ...{ floor, timeZone, trouble },
    reload: () => again.current?.(),
    /** Takes the state of a slot from an answer, which is here before the stream tells it. */
    learn: (state: SlotState) =>
      setFloor((before) => before && { ...before, slots: withStates(before.slots, [state]) }),
  }
}

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

type EvidenceProps = {
  waiting: Waiting
  timeZone: string | undefined
  /** Called with the placement when the page did not know it. */
  onFound: (placed: PlacementEvent) => void
  /** Called when the photo is on the screen, or the page says that there is none (any more). */
  onSeen: () => void
}

const againMs = 5000

/** Looks up the placement if the list does not have it, its film and its pallet, as long as it is on the screen. */
function useFacts(
  { slot, placed: known }: Waiting,
  root: { current: HTMLElement | null },
  onFound: (placed: PlacementEvent) => void,
) {
  const [placed, setPlaced] = useState<PlacementEvent | undefined>(known)
  const [lookup, setLookup] = useState<'looking' | 'failed' | 'done'>(known ? 'done' : 'looking')
  const [footage, setFootage] = useState<EventFootage | undefined>(undefined)
  const [asset, setAsset] = useState<Asset | undefined>(undefined)
  const code = slot.assetBarcode ?? ''
  useEffect(() => {
    // Effects also run for an element that was replaced before the next frame. Its answers would draw it again, beside its
    // successor.
    if (!root.current?.isConnected) return
    let isWanted = true
    let timer = 0
    // It may have been replaced without the function below being called.
    const isHere = () => isWanted && root.current?.isConnected === true
    const nothing = () => {}
    const film = (event: PlacementEvent) =>
      get('/api/whms/events/{id}/footage', { id: event.id }).then((found) => isHere() && setFootage(found), nothing)
    const find = () => {
      placementIn(slot).then(
        (event) => {
          if (!isHere()) return
          // Another pallet was placed there since the list was read; the stream says so.
          if (event?.asset_barcode !== code) return lookLater()
          setPlaced(event)
          setLookup('done')
          onFound(event)
          void film(event)
        },
        () => isHere() && lookLater(),
      )
    }
    const lookLater = () => {
      setLookup('failed')
      timer = window.setTimeout(find, againMs)
    }
    if (known) void film(known)
    else find()
    get('/api/whms/assets/{barcode}', { barcode: code }).then((one) => isHere() && setAsset(one), nothing)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [])
  return { placed, lookup, footage, asset }
}

/** The photo, as large as the screen allows, beside the film of the moment and the booked facts. */
const Evidence = ({ waiting, timeZone, onFound, onSeen }: EvidenceProps) => {
  const { slot } = waiting
  const code = slot.assetBarcode ?? ''
  const root = useRef<HTMLElement>(null)
  const { placed, lookup, footage, asset } = useFacts(waiting, root, onFound)
  const full = useRef<HTMLDialogElement>(null)
  const photo = `/api/whms/evidence/photos/${placed?.photo_sha256}`
  const shown = usePhoto(photo, timeZone)
  const isHeld = placed?.photoEvidence === 'held' && placed.photo_sha256 !== null
  // If the element was replaced before its photo came, that photo must not count in place of its successor's.
  const seenHere = () => {
    if (root.current?.isConnected) onSeen()
  }
  // A wait for a photo that is gone for good would never end, so the notice about it counts as seen.
  const isThereNone = lookup === 'done' && (!isHeld || shown.state === 'gone')
  useEffect(() => {
    if (isThereNone) seenHere()
  }, [isThereNone])
  return (
    <section class="evidence-pair" ref={root} aria-label={`${texts.slot(slot.slot_id)}, ${texts.pallet(code)}`}>
      <h2 class="verify-what">
        <a class="code" href={pageOfCode(code)} onClick={follow}>
          {code}
        </a>
        <span aria-hidden="true">→</span>
        <a href={`/?slot=${slot.id}`} onClick={follow}>
          {slot.slot_id}
        </a>
      </h2>
      <figure class="verify-photo">
        {isHeld && shown.state === 'gone' ? (
          <div class="no-photo">
            <p>
              <Said words={shown.why} />
            </p>
            <p>{words.decideWithout}</p>
          </div>
        ) : isHeld && shown.state === 'failed' ? (
          <div class="no-photo">
            <p>{words.photoFailed}</p>
            <button type="button" onClick={shown.again}>
              {words.photoAgain}
            </button>
          </div>
        ) : isHeld ? (
          <>
            <button type="button" aria-label={words.fullScreen} onClick={() => full.current?.showModal()}>
              <img
                key={shown.tries}
                src={photo}
                alt={words.photo(code, slot.slot_id)}
                onLoad={seenHere}
                onError={shown.onError}
              />
            </button>
            <dialog ref={full} class="photo-full" aria-label={words.photo(code, slot.slot_id)}>
              <img src={photo} alt="" />
              <button type="button" onClick={() => full.current?.close()}>
                <Icon name="close" /> {words.close}
              </button>
            </dialog>
          </>
        ) : (
          <p class="no-photo">
            {lookup === 'done' ? words.noPhoto : lookup === 'failed' ? words.notFound : texts.loading}
          </p>
        )}
      </figure>
      <div class="verify-side">
        <dl class="facts">
          <Fact name={words.weight} value={weightWords(placed, asset)} />
          <Fact name={words.placed} value={placed ? exactTime(placed.timestamp, timeZone) : words.unknown} />
          <Fact name={words.by} value={placed ? (placed.operator ?? texts.nameRemoved) : '–'} />
        </dl>
        <Warnings of={placed?.warnings ?? []} />
        <Film {...{ footage, placed, slot, timeZone }} />
      </div>
    </section>
  )
}

async function placementIn(slot: Slot): Promise<PlacementEvent | undefined> {
  const path = `/api/whms/events?slot_id=${slot.id}&event_type=PLACED&limit=1`
  return (await ask<List<PlacementEvent>>(path)).data[0]
}

function weightWords(placed: PlacementEvent | undefined, asset: Asset | undefined): string {
  const weighed = placed?.scale_weight_kg
  const scale = weighed === null || weighed === undefined ? words.noWeight : kilograms(weighed)
  const registered = asset?.weight_kg
  return registered === null || registered === undefined
    ? scale
    : `${scale} · ${words.registered} ${kilograms(registered)}`
}

type FilmProps = {
  footage: EventFootage | undefined
  placed: PlacementEvent | undefined
  slot: Slot
  timeZone: string | undefined
}

const Film = ({ footage, placed, slot, timeZone }: FilmProps) => {
  if (!placed) return null
  if (!footage) return <p class="muted">{words.filmPending}</p>
  const [film] = footage.clips
  const why = whyNoFilm(footage, slot.slot_id, timeZone)
  return film ? (
    <video
      controls
      muted
      playsinline
      preload="metadata"
      aria-label={words.film(film.cctvId)}
      poster={`/api/iot/detection-events/${film.detectionId}/snapshot`}
      src={`${ownPath(film.url) ?? ''}#t=${Math.max(0, (Date.parse(placed.timestamp) - Date.parse(film.from)) / 1000 - 2)}`}
    />
  ) : (
    <p class="no-film">
      <Icon name="camera" /> <Said words={why ?? ''} />
    </p>
  )
}
