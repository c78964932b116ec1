import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../../data/api.ts'
import { ask } from '../../data/ask.ts'
import type { Asset, EventFootage, List, PlacementEvent, Slot } from '../../data/shapes.ts'
import type { Waiting } from '../../data/verify-queue.ts'
import { kilograms } from '../../i18n/counting.ts'
import { Said } from '../../i18n/said.tsx'
import { whyNoFilm } from '../../i18n/story-words.ts'
import { texts } from '../../i18n/texts.ts'
import { exactTime } from '../../i18n/words.ts'
import { follow, pageOfCode } from '../../kit/address.ts'
import { Icon } from '../../kit/icons.tsx'
import { ownPath } from '../../kit/own-path.ts'
import { Warnings } from '../../kit/warnings.tsx'
import { usePhoto } from '../../pictures/use-photo.ts'
import { Fact } from '../../proof/move.tsx'
import { verifyTexts as words } from './verify-texts.ts'

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
export const Evidence = ({ waiting, timeZone, onFound, onSeen }: EvidenceProps) => {
  const { slot } = waiting
  const code = slot.assetBarcode ?? ''
  const root = useRef<HTMLElement>(null)
  const { placed, lookup, footage, asset } = useFacts(waiting, root, onFound)
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
        {isHeld ? (
          <Photo src={photo} name={words.photo(code, slot.slot_id)} shown={shown} onSeen={seenHere} />
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

type PhotoProps = { src: string; name: string; shown: ReturnType<typeof usePhoto>; onSeen: () => void }

/** A held photo, small and on the full screen; or the notice that it is gone or did not load. */
const Photo = ({ src, name, shown, onSeen }: PhotoProps) => {
  const full = useRef<HTMLDialogElement>(null)
  if (shown.state === 'gone')
    return (
      <div class="no-photo">
        <p>
          <Said words={shown.why} />
        </p>
        <p>{words.decideWithout}</p>
      </div>
    )
  if (shown.state === 'failed')
    return (
      <div class="no-photo">
        <p>{words.photoFailed}</p>
        <button type="button" onClick={shown.again}>
          {words.photoAgain}
        </button>
      </div>
    )
  return (
    <>
      <button type="button" aria-label={words.fullScreen} onClick={() => full.current?.showModal()}>
        <img key={shown.tries} src={src} alt={name} onLoad={onSeen} onError={shown.onError} />
      </button>
      <dialog ref={full} class="photo-full" aria-label={name}>
        <img src={src} alt="" />
        <button type="button" onClick={() => full.current?.close()}>
          <Icon name="close" /> {words.close}
        </button>
      </dialog>
    </>
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
