import { useRef, useState } from 'preact/hooks'
import { ask, gatewayNow } from '../data/ask.ts'
import type { Asset, ScanMatch, SignedIn, StoryStep } from '../data/shapes.ts'
import { kilograms } from '../i18n/counting.ts'
import { findTexts as words } from '../i18n/find-texts.ts'
import { Said } from '../i18n/said.tsx'
import { placeWords, slotNow } from '../i18n/story-words.ts'
import { assetTypeWords, exactTime } from '../i18n/words.ts'
import { follow, pageOfCode } from '../kit/address.ts'
import { Icon } from '../kit/icons.tsx'
import { Fact, Move } from '../proof/move.tsx'
import { aroundTexts } from './around-texts.ts'
import { CountsHere, SameGoods, SmallPlan } from './find-around.tsx'
import { IncidentsOf } from './find-incidents.tsx'
import { storyPath } from './look-up.ts'

const linkSeconds = 3600

/** An incident about a pallet refers to so many of its newest moves. */
const mostReferred = 20

/** Returns the references of an incident about the pallet, one on a line: photos and films belong to a move, not to a pallet. */
const aboutOf = (code: string, steps: readonly StoryStep[]): string =>
  [`asset:${code}`, ...steps.slice(-mostReferred).map(({ event }) => `event:${event.id}`)].join('\n')

type StoryProps = {
  code: string
  steps: readonly StoryStep[]
  leftOut: string
  match: ScanMatch | undefined
  at: string | undefined
  timeZone: string | undefined
  caller: SignedIn | undefined
  onLeft: (why: string) => void
}

export const StoryOf = ({ code, steps, leftOut, match, at, timeZone, caller, onLeft }: StoryProps) => {
  const isSignedIn = caller !== undefined
  const [isPrinting, setPrinting] = useState(false)
  const asking = useRef(new Set<Promise<unknown>>())
  const onAsking = (asked: Promise<unknown>) => {
    asking.current?.add(asked)
    void asked.finally(() => asking.current?.delete(asked))
  }
  const print = async () => {
    setPrinting(true)
    // The moves send requests in the effects of the next drawing, and their answers are drawn before the page is printed.
    await nextFrame()
    await Promise.allSettled([...(asking.current ?? [])])
    await nextFrame()
    window.print()
    setPrinting(false)
  }
  const nowMs = at === undefined ? gatewayNow() : Date.parse(at)
  const stands = isSignedIn ? slotNow(steps, at === undefined ? match?.location : undefined) : undefined
  return (
    <>
      <div class="find-top">
        <section class="card find-head" aria-label={words.where}>
          {at === undefined ? null : (
            <p class="past">
              {words.past(exactTime(at, timeZone))}{' '}
              <a class="button plain" href={pageOfCode(code)} onClick={follow}>
                {words.toNow}
              </a>
            </p>
          )}
          <p class="where">{placeWords(steps, at === undefined ? match?.location : undefined, timeZone)}</p>
          {match?.asset ? <AssetFacts asset={match.asset} /> : null}
          <div class="find-acts">
            <button type="button" onClick={print}>
              <Icon name="print" /> {words.print}
            </button>
            {isSignedIn ? (
              <a
                class="button"
                href={`/api/whms/assets/${encodeURIComponent(code)}/label?format=svg`}
                target="_blank"
                rel="noopener"
              >
                <Icon name="print" /> {words.label}
              </a>
            ) : null}
            {caller?.permissions.includes('incidents:create') && at === undefined ? (
              <a class="button" href={`/incidents?about=${encodeURIComponent(aboutOf(code, steps))}`} onClick={follow}>
                <Icon name="warning" /> {aroundTexts.report}
              </a>
            ) : null}
            {isSignedIn && at === undefined ? <Share code={code} timeZone={timeZone} /> : null}
          </div>
        </section>
        {stands ? <SmallPlan slotId={stands.id} /> : null}
      </div>
      {stands && at === undefined ? <CountsHere slotId={stands.id} label={stands.slot_id} changes={steps} /> : null}
      {caller?.permissions.includes('incidents:read') && at === undefined ? (
        <IncidentsOf key={code} {...{ code, caller, timeZone, onLeft }} />
      ) : null}
      {isSignedIn && at === undefined && match?.asset?.gtin ? (
        <SameGoods key={`${match.asset.gtin} ${match.asset.lot}`} asset={match.asset} timeZone={timeZone} />
      ) : null}
      <section aria-labelledby="moves-title">
        <h2 id="moves-title">{words.moves(steps.length)}</h2>
        {leftOut === '' ? null : <p>{leftOut}</p>}
        <ol class="moves" reversed>
          {steps.toReversed().map((step) => (
            <Move key={step.event.id} {...{ step, code, timeZone, isSignedIn, nowMs, onAsking, isPrinting }} />
          ))}
        </ol>
      </section>
    </>
  )
}

const nextFrame = () => new Promise((resolve) => setTimeout(resolve, 50))

const AssetFacts = ({ asset }: { asset: Asset }) => {
  const facts = {
    [words.type]: asset.type === null ? null : assetTypeWords(asset.type),
    SSCC: asset.sscc,
    GTIN: asset.gtin,
    [words.lot]: asset.lot,
    [words.bestBefore]: asset.bestBefore,
    [words.serial]: asset.serial,
    [words.weight]: asset.weight_kg === null ? null : kilograms(asset.weight_kg),
  }
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, value]) =>
        value === null ? null : <Fact key={name} name={name} value={value} />,
      )}
    </dl>
  )
}

/** Makes a link to this story that works without a sign-in, for an hour. */
const Share = ({ code, timeZone }: { code: string; timeZone: string | undefined }) => {
  const [link, setLink] = useState<{ url: string; expiresAt: string } | undefined>(undefined)
  const [said, setSaid] = useState('')
  const share = () => {
    const body = { path: storyPath(code), seconds: linkSeconds }
    ask<{ url: string; expiresAt: string }>('/api/signed-urls', { method: 'POST', body }).then(
      ({ url, expiresAt }) => {
        const signed = url.slice(url.indexOf('signed='))
        setLink({ url: `${location.origin}${pageOfCode(code)}?${signed}`, expiresAt })
      },
      (error: Error) => setSaid(words.linkFailed(error.message)),
    )
  }
  const copy = () =>
    navigator.clipboard?.writeText(link?.url ?? '').then(
      () => setSaid(words.copied),
      () => setSaid(words.copyByHand),
    )
  return (
    <div class="share">
      <button type="button" onClick={share}>
        <Icon name="link" /> {words.link}
      </button>
      {link ? (
        <p>
          <label for="share-link">{words.opensUntil(exactTime(link.expiresAt, timeZone))}</label>
          <input id="share-link" type="text" readonly value={link.url} />
          <button type="button" onClick={copy}>
            {words.copy}
          </button>
        </p>
      ) : null}
      <p role="status">
        <Said words={said} />
      </p>
    </div>
  )
}
