import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { post } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { Act } from '../kit/acts.tsx'
import { keepsUnsaved } from '../kit/address.ts'
import { Field, SureButton } from '../kit/box-frame.tsx'
import { Icon } from '../kit/icons.tsx'
import { badgeCode, barsOf } from './badge-bars.ts'
import { noFields, type Role, RoleChoice, sent } from './device-forms.tsx'
import { devicesTexts as words } from './devices-texts.ts'

type Operator = {
  readonly id: number
  readonly username: string
  readonly role: Role
  readonly revokedAt: string | null
}

export const BadgeRow = ({ operator, isBusy, onAct }: { operator: Operator; isBusy: boolean; onAct: Act }) => {
  const { id, username, role } = operator
  const [isChanging, setChanging] = useState(false)
  const [fields, setFields] = useState(noFields)
  const pin = useRef<HTMLInputElement>(null)
  const change = async (event: Event) => {
    event.preventDefault()
    const body = { pin: pin.current?.value ?? '' }
    const put = async () => {
      try {
        await ask(`/api/operators/${id}/pin`, { method: 'PUT', body })
      } catch (error) {
        setFields(error instanceof Refused ? error.fields : noFields)
        throw error
      }
    }
    if (await onAct(put, words.pinSet(username))) setChanging(false)
  }
  const revoke = () => post('/api/operators/{id}/revoke', { id })
  return (
    <li class="ok">
      <p class="box-what">
        {username} <span class="muted">{words.roles[role]}</span>
      </p>
      {isChanging ? (
        <form onSubmit={change}>
          <Field name={`pin-${id}`} label={words.newPinOf(username)} help={words.pinHelp} problem={fields.get('pin')}>
            {(field) => <input {...field} ref={pin} type="password" inputmode="numeric" autocomplete="new-password" />}
          </Field>
          <p class="box-acts">
            <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
              {words.setPin}
            </button>
          </p>
        </form>
      ) : null}
      <p class="box-acts">
        <button
          type="button"
          aria-label={words.newPinOf(username)}
          aria-expanded={isChanging ? 'true' : 'false'}
          onClick={() => setChanging(!isChanging)}
        >
          {words.newPin}
        </button>
        <SureButton
          words={words.disable}
          of={username}
          sure={words.disableSure(username)}
          isBusy={isBusy}
          onSure={() => onAct(revoke, words.disabled(username))}
        />
      </p>
    </li>
  )
}

type Card = { readonly username: string; readonly badge: string }

export const NewBadge = ({ isBusy, onAct }: { isBusy: boolean; onAct: Act }) => {
  const [fields, setFields] = useState(noFields)
  const [cards, setCards] = useState<readonly Card[]>([])
  const form = useRef<HTMLFormElement>(null)
  const badge = useRef<HTMLInputElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const typed = new FormData(form.current)
    const text = (name: string) => String(typed.get(name) ?? '')
    const made = { username: text('username').trim(), badge: text('badge').trim() }
    const body = { ...made, pin: text('pin'), role: text('badge-role') }
    if (!(await onAct(() => sent('/api/operators', body, setFields), words.registered(made.username)))) return
    form.current?.reset()
    setCards((before) => [...before, made])
  }
  const hasCards = cards.length > 0
  useLayoutEffect(() => (hasCards ? keepsUnsaved(() => confirm(words.leaveCard)) : undefined), [hasCards])
  const makeCode = () => {
    if (badge.current) badge.current.value = badgeCode(crypto.getRandomValues(new Uint8Array(12)))
  }
  return (
    <>
      {cards.map((card) => (
        <BadgeCard
          key={card.badge}
          card={card}
          onDone={() => setCards((before) => before.filter((one) => one !== card))}
        />
      ))}
      <form class="card" ref={form} aria-labelledby="badge-new" onSubmit={submit}>
        <h2 id="badge-new">{words.addBadge}</h2>
        <Field name="username" label={words.user} problem={fields.get('username')}>
          {(field) => <input {...field} type="text" autocomplete="off" spellcheck={false} />}
        </Field>
        <Field name="badge" label={words.badge} help={words.badgeHelp} problem={fields.get('badge')}>
          {(field) => (
            <input
              {...field}
              ref={badge}
              type="text"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              data-scan="code"
            />
          )}
        </Field>
        <p class="box-acts">
          <button type="button" onClick={makeCode}>
            {words.makeBadge}
          </button>
        </p>
        <Field name="pin" label={words.pin} help={words.pinHelp} problem={fields.get('pin')}>
          {(field) => <input {...field} type="password" inputmode="numeric" autocomplete="new-password" />}
        </Field>
        <Field name="badge-role" label={words.badgeRole} problem={fields.get('role')}>
          {(field) => <RoleChoice {...field} />}
        </Field>
        <p class="box-acts">
          <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
            {words.register}
          </button>
        </p>
      </form>
    </>
  )
}

/** The card of a badge, in the size of a bank card. The gateway keeps only a mark of its code: it can be printed now. */
const BadgeCard = ({ card, onDone }: { card: Card; onDone: () => void }) => {
  const widths = barsOf(card.badge)
  return (
    <section class="card" aria-label={words.card(card.username)}>
      <h2>{words.card(card.username)}</h2>
      <div class="badge-card">
        <p class="badge-name">{card.username}</p>
        {widths ? <Bars widths={widths} label={words.bars(card.badge)} /> : <p>{words.cardPlain}</p>}
        <p class="code">{card.badge}</p>
      </div>
      <p class="box-acts">
        <button type="button" class="strong" onClick={() => print()}>
          <Icon name="print" /> {words.print}
        </button>
        <button type="button" class="plain" onClick={onDone}>
          {words.cardDone}
        </button>
      </p>
    </section>
  )
}

/** Ten narrow widths of white on both sides, as readers need them. */
const quiet = 10

const Bars = ({ widths, label }: { widths: readonly number[]; label: string }) => {
  let x = quiet
  const bars = widths.map((width, i) => {
    const at = x
    x += width
    return i % 2 === 0 ? `M${at} 0h${width}v30h-${width}z` : ''
  })
  return (
    <svg class="bars" viewBox={`0 0 ${x + quiet} 30`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={bars.join('')} />
    </svg>
  )
}
