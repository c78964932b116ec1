import { useEffect, useRef, useState } from 'preact/hooks'
import { get, post } from '../data/api.ts'
import { membersOf } from '../data/parsing.ts'
import type { Warehouse } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { texts } from '../i18n/texts.ts'
import { deviceKindWords, timeOfDay, whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { BoxFrame, Field, SureButton, useBoxActs } from '../kit/box-frame.tsx'
import { Qr } from '../kit/qr-code.tsx'
import type { ViewProps } from '../kit/views.ts'
import { BadgeRow, NewBadge } from './badges.tsx'
import { noFields, type Role, RoleChoice, sent } from './device-forms.tsx'
import { devicesTexts as words } from './devices-texts.ts'
import { WarehouseBoxes } from './warehouse-boxes.tsx'

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

type EnrolProps = { made: Enrolment; timeZone: string | undefined; onDone: () => void }

/** The code that a device scans. It is shown once, so it stays until somebody hides it. */
const EnrolCard = ({ made, timeZone, onDone }: EnrolProps) => {
  const { code, expiresAt, text, qr } = made.enrolment
  const { url, caFingerprint } = membersOf(JSON.parse(text))
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
      <p>{made.kind === 'kiosk' ? words.enrolKiosk(`${url}`) : words.enrolHandheld(`${url}`)}</p>
      <Qr svg={qr} label={words.qr(made.name)} />
      <p>
        <strong>{words.until(timeOfDay(Date.parse(expiresAt), timeZone))}</strong>
      </p>
      <dl class="box-facts">
        <dt>{words.code}</dt>
        <dd class="code">{code}</dd>
        <dt>{words.ca}</dt>
        <dd class="code">{String(caFingerprint ?? words.caNone)}</dd>
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
