import type { ComponentChildren } from 'preact'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { type Acts, useActs, useAsked } from './acts.tsx'
import { Bar } from './bar.tsx'
import { boxTexts } from './box-texts.ts'
import { TroubleStrip } from './trouble-strip.tsx'
import { useTyped } from './typed.ts'
import type { ViewName, ViewProps } from './views.ts'

/** The acts of a view about the box. Problems are shown in the gateway's words. */
export const useBoxActs = (onLeft: (why: string) => void, reload: () => void): Acts =>
  useActs(onLeft, reload, (error) => `${error.message}.`)

type FrameProps = Pick<ViewProps, 'siteId' | 'caller' | 'onLeft'> & {
  here: ViewName
  heading: string
  /** Content of the list, in a sentence; undefined while it is loading. */
  said: string | undefined
  /** Why the last answer is not up to date; '' when it is. */
  stale: string
  acts: Acts
  children?: ComponentChildren
}

/** The frame of the views about the box itself: bar, problems, heading, last result. It keeps typed text until it is sent. */
export const BoxFrame = ({ siteId, caller, onLeft, here, heading, said, stale, acts, children }: FrameProps) => {
  useTyped()
  return (
    <>
      <Bar here={here} siteId={siteId} caller={caller} onLeft={onLeft} />
      <TroubleStrip unasked={stale} problem={acts.problem} />
      <main class="box-page">
        <h1 tabindex={-1} ref={acts.title}>
          {heading}
        </h1>
        <p class="muted" role="status">
          {acts.said} <Said words={said ?? texts.loading} />
        </p>
        {children}
      </main>
    </>
  )
}

type FieldProps = {
  name: string
  label: string
  help?: string | undefined
  problem?: string | undefined
  children: (described: {
    id: string
    name: string
    'aria-describedby': string
    'aria-invalid': 'true' | 'false'
  }) => ComponentChildren
}

/** A field with its label, a hint, and its problem beside it. */
export const Field = ({ name, label, help, problem, children }: FieldProps) => {
  const id = `field-${name}`
  return (
    <div class="box-field">
      <label for={id}>{label}</label>
      {help === undefined ? null : (
        <p class="muted" id={`${id}-help`}>
          {help}
        </p>
      )}
      {children({
        ...{
          id,
          name,
          'aria-describedby': `${id}-help ${id}-problem`,
          'aria-invalid': problem === undefined ? 'false' : 'true',
        },
      })}
      <p class="problem" id={`${id}-problem`} role="alert">
        <Said words={problem ?? ''} />
      </p>
    </div>
  )
}

type SureProps = {
  words: string
  /** Its subject, for people who hear only the button. */
  of?: string
  sure: string
  /** Subject of the act, where the label does not say all: when it changes under the person, the button asks again. */
  about?: string
  isBusy: boolean
  onSure: () => void
}

/** A button for an act without undo: the first press asks, the second does it. */
export const SureButton = ({ words, of, sure, about, isBusy, onSure }: SureProps) => {
  const [isAsked, setAsked] = useAsked([of, sure, about])
  return isAsked ? (
    <>
      <button
        type="button"
        class="dispute"
        aria-disabled={isBusy ? 'true' : 'false'}
        onClick={() => {
          if (isBusy) return
          setAsked(false)
          onSure()
        }}
      >
        {sure}
      </button>
      <button type="button" class="plain" onClick={() => setAsked(false)}>
        {boxTexts.cancel}
      </button>
    </>
  ) : (
    <button type="button" aria-label={of === undefined ? undefined : `${words}: ${of}`} onClick={() => setAsked(true)}>
      {words}
    </button>
  )
}
