import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ScanUse } from '../codes/field.ts'
import { Refused } from '../data/ask.ts'
import { isOutdated } from '../data/asking.ts'
import { texts } from '../i18n/texts.ts'
import { actTexts as words } from './act-texts.ts'
import { follow } from './address.ts'
import { Bar } from './bar.tsx'
import { textOf } from './field.ts'
import { focusFirst } from './first-focus.ts'
import { TroubleStrip } from './trouble-strip.tsx'
import { useTyped } from './typed.ts'
import type { ViewName, ViewProps } from './views.ts'

/** Does something at the gateway and says `said` when it is done. Answers whether it was done: else the form stays as it is. */
export type Act = <T>(work: () => Promise<T>, said: string | ((done: T) => string)) => Promise<boolean>

export type Acts = {
  readonly act: Act
  readonly said: string
  readonly problem: string
  readonly isBusy: boolean
  readonly title: { current: HTMLHeadingElement | null }
}

/** The acts of a view, one at a time, with the last result or problem. The focus goes to the title of the view. */
export function useActs(onLeft: (why: string) => void, reload: () => void, inWords = failedWords): Acts {
  const [said, setSaid] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const busy = useRef(false)
  const title = useRef<HTMLHeadingElement>(null)
  const act: Act = async (work, done) => {
    if (busy.current) return false
    busy.current = true
    setBusy(true)
    setProblem('')
    setSaid('')
    try {
      const result = await work()
      setSaid(typeof done === 'string' ? done : done(result))
      // The pressed button may disappear.
      title.current?.focus({ preventScroll: true })
      reload()
      return true
    } catch (error) {
      if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
      else setProblem(inWords(error as Error))
      // The page showed something else than there is.
      if (isOutdated(error)) reload()
      return false
    } finally {
      busy.current = false
      setBusy(false)
    }
  }
  return { act, said, problem, isBusy, title }
}

const failedWords = (error: Error): string =>
  words.failed(error instanceof Refused && error.details !== '' ? `${error.message}: ${error.details}` : error.message)

type FrameProps = Pick<ViewProps, 'siteId' | 'caller' | 'onLeft'> & {
  readonly here: ViewName
  readonly name: string
  /** Where the list of these things is, on the page of one of them. */
  readonly back?: { readonly to: string; readonly words: string }
  readonly status: string
  /** Why the list cannot be refreshed; empty while it can. */
  readonly trouble: string
  readonly acts: Acts
  readonly children?: JSX.Element | (JSX.Element | null)[] | null
}

/** A view with its bar, its title, the last result and the problems. It keeps typed text until it is sent. */
export const Frame = ({ here, siteId, caller, onLeft, name, back, status, trouble, acts, children }: FrameProps) => {
  useTyped()
  useEffect(() => {
    // A person who opens something by keyboard reads on at its title.
    if (back) focusFirst(acts.title.current)
  }, [])
  return (
    <>
      <Bar here={here} siteId={siteId} caller={caller} onLeft={onLeft} />
      <TroubleStrip unasked={trouble} problem={acts.problem} />
      <main class="goods">
        <div class="goods-head">
          {back ? (
            <a class="button" href={back.to} onClick={follow}>
              {back.words}
            </a>
          ) : null}
          <h1 tabindex={-1} ref={acts.title}>
            {name}
          </h1>
          <p class="muted" role="status">
            {acts.said} {status}
          </p>
        </div>
        {children}
      </main>
    </>
  )
}

/** Whether the person was asked this question. Another question, such as about one thing more, was not asked yet. */
export function useAsked(question: readonly unknown[]): readonly [boolean, (isAsked: boolean) => void] {
  const words = JSON.stringify(question)
  const [asked, setAsked] = useState<string | undefined>(undefined)
  return [asked === words, (isAsked) => setAsked(isAsked ? words : undefined)]
}

type TwiceProps = {
  readonly words: string
  /** Label of the second press. */
  readonly sure: string
  readonly strong?: boolean
  readonly isBusy: boolean
  /** More of the name for a screen reader, where several such buttons are on a page. */
  readonly of?: string
  /** Subject of the act, where the label does not say all: when it changes under the person, the button asks again. */
  readonly about?: string | number
  readonly onSure: () => void
}

/** A button that asks once more, because records stay for ever and a slip of the thumb must not make one. */
export const Twice = ({ words: first, sure, strong, isBusy, of, about, onSure }: TwiceProps) => {
  const [isAsked, setAsked] = useAsked([sure, of, about])
  const whose = of === undefined ? null : <span class="unseen"> {of}</span>
  if (!isAsked)
    return (
      <button type="button" class={strong ? 'strong' : ''} onClick={() => setAsked(true)}>
        <span>
          {first}
          {whose}
        </span>
      </button>
    )
  return (
    <span class="twice">
      <button
        type="button"
        class="strong"
        aria-disabled={isBusy ? 'true' : 'false'}
        ref={focusAtOnce}
        onClick={() => {
          if (isBusy) return
          setAsked(false)
          onSure()
        }}
      >
        <span>
          {sure}
          {whose}
        </span>
      </button>
      <button type="button" class="plain" onClick={() => setAsked(false)}>
        {words.cancel}
      </button>
    </span>
  )
}

/** The first button is gone when the second appears; its focus would be lost. */
const focusAtOnce = (button: HTMLButtonElement | null) => {
  if (button && document.activeElement === document.body) button.focus()
}

type FieldProps = {
  readonly id: string
  readonly words: string
  readonly value: string
  readonly onText: (text: string) => void
  readonly hint?: string
  readonly type?: 'text' | 'date' | 'search' | 'number'
  readonly rows?: number
  readonly required?: boolean
  readonly most?: number
  readonly list?: string
  /** Its use of a scan, if it takes codes. */
  readonly scan?: ScanUse
}

/** A field with its label. */
export const Field = ({
  id,
  words: name,
  value,
  onText,
  hint,
  type = 'text',
  rows,
  required,
  most,
  list,
  scan,
}: FieldProps) => {
  const common = {
    id,
    value,
    required,
    maxlength: most,
    'data-scan': scan,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
    onInput: (event: Event) => onText(textOf(event)),
  }
  return (
    <div class="goods-field">
      <label for={id}>{name}</label>
      {rows === undefined ? (
        <input {...common} type={type} list={list} autocomplete="off" />
      ) : (
        <textarea {...common} rows={rows} />
      )}
      {hint === undefined ? null : (
        <p class="muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

type ChoiceProps = {
  readonly id: string
  readonly words: string
  readonly value: string
  readonly of: Readonly<Record<string, string>>
  readonly onChoice: (value: string) => void
}

/** A list to choose one of, with its label. */
export const Choice = ({ id, words: name, value, of, onChoice }: ChoiceProps) => (
  <div class="goods-field">
    <label for={id}>{name}</label>
    <select id={id} onInput={(event: Event) => onChoice(textOf(event))}>
      {Object.entries(of).map(([key, text]) => (
        <option key={key} value={key} selected={key === value}>
          {text}
        </option>
      ))}
    </select>
  </div>
)

type MoreProps = {
  /** Number of rows of the list to request. */
  readonly wanted: { current: number | null }
  readonly reload: () => void
  readonly words: string
}

/** How many rows a list has at first, and how many more with each press. */
export const pageSize = 50

/** A button for the next rows of a list. */
export const More = ({ wanted, reload, words: name }: MoreProps) => (
  <button
    type="button"
    onClick={() => {
      wanted.current = (wanted.current ?? pageSize) + pageSize
      reload()
    }}
  >
    {name}
  </button>
)
