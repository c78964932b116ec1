import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import type { EventFootage, Evidence, StoryStep, Watched } from '../data/shapes.ts'
import { analyticsTexts } from '../i18n/analytics-texts.ts'
import { kilograms } from '../i18n/counting.ts'
import { findTexts as words } from '../i18n/find-texts.ts'
import { Said } from '../i18n/said.tsx'
import { storyTexts } from '../i18n/story-texts.ts'
import { evidenceWords, spanWords, watchedWords, whyNoFilm } from '../i18n/story-words.ts'
import { eventWords, exactTime, formatted } from '../i18n/words.ts'
import { follow, pageOfCode } from '../kit/address.ts'
import { Icon, type IconName } from '../kit/icons.tsx'
import { ownPath } from '../kit/own-path.ts'
import { Warnings } from '../kit/warnings.tsx'
import { usePhoto } from '../pictures/use-photo.ts'
import { Prove } from './prove.tsx'

const iconOf: Record<string, IconName> = {
  PLACED: 'placed',
  REMOVED: 'removed',
  VERIFIED: 'verified',
  DISPUTED: 'disputed',
}

type Details = {
  readonly footage: EventFootage
  readonly evidence: Evidence | undefined
  readonly watched: readonly string[]
}

type Props = {
  readonly step: StoryStep
  readonly code: string
  readonly timeZone: string | undefined
  /** Whether the reader has signed in: photos, films and proofs need it. */
  readonly isSignedIn: boolean
  readonly nowMs: number
  /** Called with a promise for each question that the move asks, so that printing can wait for it. */
  readonly onAsking: (asked: Promise<unknown>) => void
  readonly isPrinting: boolean
}

/** One move: time, person, photo, weight, warnings, evidence, its film, and the cameras until the next move. */
export const Move = ({ step, code, timeZone, isSignedIn, nowMs, onAsking, isPrinting }: Props) => {
  const { event, slot, judgements } = step
  const place = useRef<HTMLLIElement>(null)
  const [details, setDetails] = useState<Details | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const isAsked = useRef(false)
  const look = () => {
    if (!isSignedIn || isAsked.current) return
    isAsked.current = true
    onAsking(detailsOf(step, nowMs).then(setDetails, (error: Error) => setProblem(error.message)))
  }
  // Data far down the page is requested when somebody scrolls near it.
  useEffect(() => {
    if (!place.current) return
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && look(), {
      rootMargin: '300px',
    })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (isPrinting) look()
  }, [isPrinting])
  const time = exactTime(event.timestamp, timeZone)
  const name = `${eventWords[event.event_type]} ${slot.slot_id}, ${time}`
  return (
    <li ref={place} class={`move ${event.event_type.toLowerCase()}`} id={`event-${event.id}`}>
      <article class="card" aria-label={name}>
        <div class="move-head">
          <span class="event-icon">
            <Icon name={iconOf[event.event_type] ?? 'placed'} />
          </span>
          <h3>
            {event.event_type === 'REMOVED' ? words.removedFrom : words.placedIn}{' '}
            <a href={`/?slot=${slot.id}`} onClick={follow}>
              {slot.slot_id}
            </a>
          </h3>
          <time datetime={event.timestamp}>{time}</time>
        </div>
        <div class="move-body">
          <Photo {...{ step, isSignedIn, timeZone }} />
          <MoveFacts {...{ step, timeZone, isSignedIn }} evidence={details?.evidence} />
        </div>
        <Warnings of={event.warnings} />
        {judgements.map((one) => (
          <p key={one.id} class={`judgement ${one.event_type.toLowerCase()}`}>
            <Icon name={iconOf[one.event_type] ?? 'verified'} />
            <span>
              <strong>{eventWords[one.event_type]}</strong> {words.judgedBy} {one.operator ?? words.nobody},{' '}
              {exactTime(one.timestamp, timeZone)}
              {one.verification_notes ? <q class="quote">{one.verification_notes}</q> : null}
            </span>
          </p>
        ))}
        {problem === '' ? null : (
          <p class="problem">
            <Said words={words.noMore(problem)} />
          </p>
        )}
        {details ? <Films {...{ step, timeZone }} footage={details.footage} /> : null}
        <div class="move-acts">
          {isSignedIn ? <Prove eventId={event.id} name={name} /> : null}
          {isSignedIn ? (
            <a class="button plain" href={pageOfCode(code, event.timestamp)} onClick={follow}>
              {words.asOfThen}
              <span class="unseen">: {name}</span>
            </a>
          ) : null}
        </div>
      </article>
      <Between step={step} watched={details?.watched ?? []} nowMs={nowMs} />
    </li>
  )
}

async function detailsOf({ event, footage, slot, until }: StoryStep, nowMs: number): Promise<Details> {
  // A new move may be later than the page's estimate of the gateway's time.
  const to = until ?? new Date(Math.max(nowMs, Date.parse(event.timestamp) + 1)).toISOString()
  const isStay = event.event_type === 'PLACED' && Date.parse(to) > Date.parse(event.timestamp)
  const span = `from=${encodeURIComponent(event.timestamp)}&to=${encodeURIComponent(to)}`
  const [film, one, ...watched] = await Promise.all([
    ask<EventFootage>(`/api/whms/events/${event.id}/footage`),
    ask<{ evidence?: Evidence }>(`/api/whms/events/${event.id}`),
    ...(isStay ? footage.cameras : []).map(async ({ cctvId, name }) =>
      watchedWords(await ask<Watched>(`/api/iot/cctv/${cctvId}/watched?${span}`), name),
    ),
  ])
  const none =
    film.reason === 'camera_not_visible' ? storyTexts.notVisible(slot.slot_id) : storyTexts.noneSetUp(slot.slot_id)
  return {
    footage: film,
    evidence: one.evidence,
    watched: isStay && footage.cameras.length === 0 ? [none] : watched,
  }
}

const MoveFacts = ({
  step: { event, weightKg, operator, corrects, correctedBy },
  timeZone,
  evidence,
  isSignedIn,
}: {
  step: StoryStep
  timeZone: string | undefined
  evidence: Evidence | undefined
  isSignedIn: boolean
}) => (
  <dl class="facts">
    <Fact name={words.by} value={operator ?? words.nobody} />
    {weightKg === null ? null : <Fact name={words.weight} value={kilograms(weightKg)} />}
    {event.verification_notes ? <Fact name={words.note} value={event.verification_notes} /> : null}
    {event.count ? <CountFact id={event.count.id} isSignedIn={isSignedIn} /> : null}
    {corrects === null ? null : <Fact name={words.corrects} value={words.event(corrects)} />}
    {correctedBy.length === 0 ? null : <Fact name={words.corrected} value={words.byEvent(correctedBy.join(', '))} />}
    {event.time_quality === 'unsynced' ? <Fact name={words.clock} value={words.unsynced} /> : null}
    {evidence ? <Fact name={words.evidence} value={evidenceWords(evidence, timeZone)} /> : null}
    <Fact name={words.eventName} value={words.number(event.id)} />
  </dl>
)

const CountFact = ({ id, isSignedIn }: { id: number; isSignedIn: boolean }) => (
  <div>
    <dt>{words.count}</dt>
    <dd>
      {isSignedIn ? (
        <a href={`/counts/${id}`} onClick={follow}>
          {words.byCount(id)}
        </a>
      ) : (
        words.byCount(id)
      )}
    </dd>
  </div>
)

export const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

type PhotoProps = { step: StoryStep; isSignedIn: boolean; timeZone: string | undefined }

const Photo = ({ step: { event, photo, slot }, isSignedIn, timeZone }: PhotoProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const src = `/api/whms/evidence/photos/${photo.sha256}`
  const shown = usePhoto(src, timeZone)
  if (photo.evidence !== 'held' || photo.sha256 === null)
    return <p class="no-photo muted">{words.photos[photo.evidence ?? ''] ?? words.noPhoto}</p>
  if (!isSignedIn) return <p class="no-photo muted">{words.signInForPhoto}</p>
  if (shown.state === 'gone')
    return (
      <p class="no-photo muted">
        <Said words={shown.why} />
      </p>
    )
  const alt = words.photoOf(event.asset_barcode, eventWords[event.event_type].toLowerCase(), slot.slot_id)
  return (
    <>
      <button
        type="button"
        class="thumb"
        aria-label={words.fullScreen(alt)}
        onClick={() => dialog.current?.showModal()}
      >
        <img src={src} alt="" loading="lazy" width={160} height={120} onError={shown.onError} />
      </button>
      <dialog ref={dialog} class="photo-full" aria-label={words.photo}>
        <img src={src} alt={alt} loading="lazy" />
        <button type="button" onClick={() => dialog.current?.close()}>
          <Icon name="close" /> {words.closePhoto}
        </button>
      </dialog>
    </>
  )
}

type FilmsProps = { footage: EventFootage; step: StoryStep; timeZone: string | undefined }

const Films = ({ footage, step: { event, slot }, timeZone }: FilmsProps) => {
  const why = whyNoFilm(footage, slot.slot_id, timeZone)
  // A camera may have two films of a moment.
  const clock = (iso: string) =>
    formatted(Date.parse(iso), timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return (
    <>
      {footage.clips.map((film) => (
        <figure key={film.detectionId} class="clip">
          {/* biome-ignore lint/a11y/useMediaCaption: the cameras record no sound. */}
          <video
            controls
            playsinline
            preload="none"
            aria-label={words.film(film.cctvId, clock(film.from), clock(film.to))}
            poster={`/api/iot/detection-events/${film.detectionId}/snapshot`}
            src={`${ownPath(film.url) ?? ''}#t=${Math.max(0, (Date.parse(event.timestamp) - Date.parse(film.from)) / 1000 - 2)}`}
          />
          <figcaption class="muted">
            {words.filmOf(film.cctvId, clock(film.from), clock(film.to))}
            {film.kind === null ? '' : ` ${analyticsTexts.kinds[film.kind] ?? film.kind}`}
          </figcaption>
        </figure>
      ))}
      {why === undefined ? null : (
        <p class="no-film">
          <Icon name="camera" /> <Said words={why} />
        </p>
      )}
    </>
  )
}

/** Facts about the time until the next move. */
const Between = ({
  step: { event, until, slot },
  watched,
  nowMs,
}: {
  step: StoryStep
  watched: readonly string[]
  nowMs: number
}) => {
  const ms = (until === null ? nowMs : Date.parse(until)) - Date.parse(event.timestamp)
  const where = event.event_type === 'REMOVED' ? words.notInSlot : words.inSlot(slot.slot_id)
  return (
    <div class="between">
      <p>{words.span(spanWords(ms), where, until === null)}</p>
      {watched.map((sentence) => (
        <p key={sentence} class="muted">
          <Said words={sentence} />
        </p>
      ))}
    </div>
  )
}
