import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { get, post } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { Warehouse } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { texts } from '../i18n/texts.ts'
import { deviceKindWords, timeOfDay, whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { keepsUnsaved } from '../kit/address.ts'
import { BoxFrame, Field, SureButton, useBoxActs } from '../kit/box-frame.tsx'
import { Icon } from '../kit/icons.tsx'
import { Qr } from '../kit/qr-code.tsx'
import type { ViewProps } from '../kit/views.ts'
import { badgeCode, barsOf } from './badge-bars.ts'
import { devicesTexts as words } from './devices-texts.ts'
import { WarehouseBoxes } from './warehouse-boxes.tsx'

type Role = keyof typeof words.roles
type Device = {
  readonly id: number
  readonly name: string
  readonly kind: 'handheld' | 'kiosk'
  readonly role: Role
  readonly status: 'waiting' | 'enrolled' | 'revoked'
  readonly seenAt: string | null
  readonly seenAddress: string | null
}
type Enrolment = Device & {
  readonly enrolment: {
    readonly code: string
    readonly expiresAt: string
    readonly text: string
    readonly qr: string
  }
}
type Operator = {
  readonly id: number
  readonly username: string
  readonly role: Role
  readonly revokedAt: string | null
}
type Fields = ReadonlyMap<string, string>

const noFields: Fields = new Map()
const roles = Object.keys(words.roles) as Role[]

/** Devices and badges at `/devices`: enrol, print, renew, revoke. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const [enrolling, setEnrolling] = useState<Enrolment | undefined>(undefined)
  const { answer, ...asking } = useLive(load, [], () => onLeft(texts.signedOut))
  const acts = useBoxActs(onLeft, asking.reload)
  const inUse = answer?.devices.filter(({ status }) => status !== 'revoked') ?? []
  const badges = answer?.operators.filter(({ revokedAt }) => revokedAt === null) ?? []
  const timeZone = answer?.warehouses[0]?.timezone
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="devices"
      heading={words.title}
      said={answer && words.count(inUse.length, badges.length)}
      stale={asking.problem}
    >
      {enrolling ? <EnrolCard made={enrolling} timeZone={timeZone} onDone={() => setEnrolling(undefined)} /> : null}
      {answer ? (
        <>
          <section class="card" aria-labelledby="devices-list">
            <h2 id="devices-list">{words.devices}</h2>
            {inUse.length === 0 ? <p class="blank">{words.noDevices}</p> : null}
            <ul class="box-list">
              {inUse.map((device) => (
                <DeviceRow
                  key={device.id}
                  device={device}
                  timeZone={timeZone}
                  isBusy={acts.isBusy}
                  onAct={acts.act}
                  onEnrol={setEnrolling}
                />
              ))}
            </ul>
            {inUse.length === answer.devices.length ? null : (
              <p class="muted">{words.past(answer.devices.length - inUse.length)}</p>
            )}
          </section>
          <NewDevice warehouses={answer.warehouses} isBusy={acts.isBusy} onAct={acts.act} onEnrol={setEnrolling} />
          <section class="card" aria-labelledby="badges-list">
            <h2 id="badges-list">{words.badges}</h2>
            {badges.length === 0 ? <p class="blank">{words.noBadges}</p> : null}
            <ul class="box-list">
              {badges.map((operator) => (
                <BadgeRow key={operator.id} operator={operator} isBusy={acts.isBusy} onAct={acts.act} />
              ))}
            </ul>
          </section>
          <NewBadge isBusy={acts.isBusy} onAct={acts.act} />
        </>
      ) : null}
    </BoxFrame>
  )
}

async function load() {
  const [devices, operators, warehouses] = await Promise.all([
    get('/api/devices', {}),
    get('/api/operators', {}),
    get('/api/whms/warehouses', {}),
  ])
  return { devices: devices.data, operators: operators.data, warehouses: warehouses.data }
}

/** Sends a form. Problems of a field are shown beside it, and typed text stays. */
async function sent<T>(path: string, body: object, onFields: (fields: Fields) => void): Promise<T> {
  try {
    const answer = await ask<T>(path, { method: 'POST', body })
    onFields(noFields)
    return answer
  } catch (error) {
    onFields(error instanceof Refused ? error.fields : noFields)
    throw error
  }
}

type EnrolProps = { made: Enrolment; timeZone: string | undefined; onDone: () => void }

/** The code that a device scans. It is shown once, so it stays until somebody hides it. */
const EnrolCard = ({ made, timeZone, onDone }: EnrolProps) => {
  const { code, expiresAt, text, qr } = made.enrolment
  const { url, caFingerprint } = JSON.parse(text) as { url: string; caFingerprint?: string }
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    title.current?.focus()
    title.current?.scrollIntoView({ block: 'nearest' })
  }, [made.enrolment.code])
  return (
    <section class="card enrol-card" aria-labelledby="enrol-title">
      <h2 id="enrol-title" tabindex={-1} ref={title}>
        {words.enrol(made.name)}
      </h2>
      <p>{made.kind === 'kiosk' ? words.enrolKiosk(url) : words.enrolHandheld(url)}</p>
      <Qr svg={qr} label={words.qr(made.name)} />
      <p>
        <strong>{words.until(timeOfDay(Date.parse(expiresAt), timeZone))}</strong>
      </p>
      <dl class="box-facts">
        <dt>{words.code}</dt>
        <dd class="code">{code}</dd>
        <dt>{words.ca}</dt>
        <dd class="code">{caFingerprint ?? words.caNone}</dd>
      </dl>
      <p class="box-acts">
        <button type="button" class="strong" onClick={onDone}>
          {words.hide}
        </button>
      </p>
    </section>
  )
}

type DeviceProps = {
  device: Device
  timeZone: string | undefined
  isBusy: boolean
  onAct: Act
  onEnrol: (made: Enrolment) => void
}

const DeviceRow = ({ device, timeZone, isBusy, onAct, onEnrol }: DeviceProps) => {
  const { id, name, kind, role, status, seenAt, seenAddress } = device
  const renew = async () => onEnrol(await post('/api/devices/{id}/enrolment', { id }))
  const revoke = () => post('/api/devices/{id}/revoke', { id })
  return (
    <li class={status === 'enrolled' ? 'ok' : 'warn'}>
      <p class="box-what">
        {name} <span class={`chip ${status === 'enrolled' ? 'ok' : 'warn'}`}>{words.states[status]}</span>
      </p>
      <p class="muted">
        {deviceKindWords(kind)} · {words.roles[role]} ·{' '}
        {seenAt === null ? words.neverSeen : words.seen(whenWords(seenAt, timeZone), seenAddress ?? '?')}
      </p>
      <p class="box-acts">
        <button type="button" aria-label={`${words.newCode}: ${name}`} onClick={() => onAct(renew, words.made(name))}>
          {words.newCode}
        </button>
        <SureButton
          words={words.revoke}
          of={name}
          sure={words.revokeSure(name)}
          isBusy={isBusy}
          onSure={() => onAct(revoke, words.revoked(name))}
        />
      </p>
    </li>
  )
}

type NewDeviceProps = {
  warehouses: readonly Warehouse[]
  isBusy: boolean
  onAct: Act
  onEnrol: (made: Enrolment) => void
}

const NewDevice = ({ warehouses, isBusy, onAct, onEnrol }: NewDeviceProps) => {
  const [kind, setKind] = useState<'handheld' | 'kiosk'>('handheld')
  const [fields, setFields] = useState(noFields)
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const typed = new FormData(form.current)
    const name = String(typed.get('name') ?? '').trim()
    const warehouseIds = typed.getAll('warehouse').map(Number)
    const body = {
      name,
      kind,
      ...(kind === 'handheld' && { role: typed.get('role') }),
      ...(warehouseIds.length > 0 && { warehouseIds }),
    }
    const make = async () => onEnrol(await sent<Enrolment>('/api/devices', body, setFields))
    if (await onAct(make, words.made(name))) form.current?.reset()
  }
  return (
    <form class="card" ref={form} aria-labelledby="device-new" onSubmit={submit}>
      <h2 id="device-new">{words.add}</h2>
      <Field name="name" label={words.name} help={words.nameHelp} problem={fields.get('name')}>
        {(field) => <input {...field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />}
      </Field>
      <fieldset class="box-choice">
        <legend>{words.kind}</legend>
        {(['handheld', 'kiosk'] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="kind" value={one} checked={kind === one} onInput={() => setKind(one)} />
            {words[one]}
          </label>
        ))}
      </fieldset>
      {kind === 'handheld' ? (
        <Field name="role" label={words.role} problem={fields.get('role')}>
          {(field) => <RoleChoice {...field} />}
        </Field>
      ) : null}
      <WarehouseBoxes warehouses={warehouses} legend={words.warehouses} help={words.warehousesHelp} />
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {words.make}
        </button>
      </p>
    </form>
  )
}

type Described = { id: string; name: string; 'aria-describedby': string; 'aria-invalid': 'true' | 'false' }

const RoleChoice = (field: Described) => (
  <select {...field}>
    {roles.map((role) => (
      <option key={role} value={role} selected={role === 'operator'}>
        {words.roles[role]}
      </option>
    ))}
  </select>
)

const BadgeRow = ({ operator, isBusy, onAct }: { operator: Operator; isBusy: boolean; onAct: Act }) => {
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

const NewBadge = ({ isBusy, onAct }: { isBusy: boolean; onAct: Act }) => {
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
