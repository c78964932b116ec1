import { useState } from 'preact/hooks'
import { get, post } from '../data/api.ts'
import { ask, gatewayNow, Refused } from '../data/ask.ts'
import type { Heard } from '../data/heard.ts'
import type {
  Alert,
  Camera,
  Discrepancy,
  List,
  Permission,
  SignedIn,
  TransportUnit,
  Warehouse,
} from '../data/shapes.ts'
import {
  type Known,
  type Remedy,
  type Resolving,
  type Task,
  tasksOf,
  type Urgency,
  withNews,
} from '../data/todo-list.ts'
import { type Since, useLive } from '../data/use-live.ts'
import { useOnceKey } from '../data/use-once-key.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { todoTexts } from '../i18n/todo-texts.ts'
import { sinceWords } from '../i18n/words.ts'
import { type Act, Field, Twice, useActs } from '../kit/acts.tsx'
import { follow } from '../kit/address.ts'
import { Bar } from '../kit/bar.tsx'
import { Icon } from '../kit/icons.tsx'
import { RegisterForm } from '../kit/register-form.tsx'
import { registerTexts } from '../kit/register-texts.ts'
import { TroubleStrip } from '../kit/trouble-strip.tsx'
import { useTyped } from '../kit/typed.ts'
import type { ViewProps } from '../kit/views.ts'
import { type Settling, settle } from './todo-settle.ts'

const urgencies: readonly Urgency[] = ['now', 'today', 'later']

/** The open tasks by urgency, each with its acts. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const { answer, ...asking } = useLive(
    (since) => load(caller, since),
    ['floor', 'camera', 'alert', 'unit'],
    () => onLeft(texts.signedOut),
    // The stream does not tell all of it: a pallet that is registered, a count that is closed, a slot that is retired.
    { isHeavy: true, apply },
  )
  const { act, isBusy, said, problem, title } = useActs(onLeft, asking.reload, (error) => `${error.message}.`)
  const tasks = answer ? tasksOf(answer.known, caller, gatewayNow()) : undefined
  return (
    <>
      <Bar here="todo" siteId={siteId} caller={caller} onLeft={onLeft} />
      <TroubleStrip unasked={asking.problem} problem={problem} />
      <main class="find-page todo">
        <h1 tabindex={-1} ref={title}>
          {todoTexts.title}
        </h1>
        <p class="muted" role="status">
          {said} {tasks ? todoTexts.count(tasks.length) : texts.loading}
        </p>
        {tasks?.length === 0 ? <Nothing /> : null}
        {urgencies.map((urgency) => (
          <Group
            key={urgency}
            urgency={urgency}
            tasks={(tasks ?? []).filter((task) => task.urgency === urgency)}
            timeZone={answer?.timeZone}
            isBusy={isBusy}
            onAct={act}
          />
        ))}
      </main>
    </>
  )
}

type Answer = { readonly known: Known; readonly timeZone: string | undefined }

/** Asks for all; for the floor alone, where only the floor changed. */
async function load(caller: SignedIn, since?: Since<Answer>): Promise<Answer> {
  let answer = since?.answer
  // Messages that came while an answer was on its way.
  for (const heard of since?.heard ?? []) if (answer && heard.kind !== 'floor') answer = apply(heard, answer)
  return answer ? { ...answer, known: { ...answer.known, ...(await floorNow()) } } : loadAll(caller)
}

/** Applies messages of the stream about known alerts, cameras and units. */
function apply(heard: Heard, answer: Answer): Answer | undefined {
  const known = withNews(answer.known, heard, gatewayNow())
  return known && { ...answer, known }
}

async function floorNow(): Promise<Pick<Known, 'discrepancies' | 'pending'>> {
  const [discrepancies, { pendingVerifications }] = await Promise.all([
    listOf<Discrepancy>('/api/whms/discrepancies'),
    get('/api/whms/dashboard/utilization', {}),
  ])
  // The gateway counts disputed ones as well; here they are a separate task.
  const pending = pendingVerifications - discrepancies.filter(({ kind }) => kind === 'disputed').length
  return { discrepancies, pending }
}

async function loadAll({ permissions }: SignedIn): Promise<Answer> {
  const may = (permission: Permission) => permissions.includes(permission)
  const [floor, active, held, cameras, alerts, warehouses] = await Promise.all([
    floorNow(),
    listOf<TransportUnit>('/api/whms/transport-units?status=active'),
    listOf<TransportUnit>('/api/whms/transport-units?status=on_hold'),
    may('cameras:read') ? listOf<Camera>('/api/iot/cctv') : [],
    may('alerts:read') ? listOf<Alert>('/api/alerts?acknowledged=false&limit=100') : [],
    listOf<Warehouse>('/api/whms/warehouses'),
  ])
  const known = { ...floor, units: [...active, ...held], cameras, alerts }
  return { known, timeZone: warehouses[0]?.timezone }
}

/** A part that the gateway does not have, or not for this caller, has no rows. */
async function listOf<T>(path: string): Promise<readonly T[]> {
  try {
    return (await ask<List<T>>(path)).data
  } catch (error) {
    if (error instanceof Refused && (error.status === 403 || error.status === 404)) return []
    throw error
  }
}

const Nothing = () => (
  <section class="card all-well">
    <Icon name="verified" />
    <p>
      <strong>{todoTexts.empty}</strong>
    </p>
    <p>{todoTexts.emptyNext}</p>
    <p>
      <a class="button" href="/" onClick={follow}>
        {texts.views.floor}
      </a>
    </p>
  </section>
)

type GroupProps = {
  urgency: Urgency
  tasks: readonly Task[]
  timeZone: string | undefined
  isBusy: boolean
  onAct: Act
}

const Group = ({ urgency, tasks, timeZone, isBusy, onAct }: GroupProps) =>
  tasks.length === 0 ? null : (
    <section class={`card tasks ${urgency}`} aria-labelledby={`todo-${urgency}`}>
      <h2 id={`todo-${urgency}`}>
        <Icon name={urgency === 'now' ? 'warning' : urgency === 'today' ? 'bell' : 'occupied'} />
        {todoTexts[urgency]} <span class="muted">{tasks.length}</span>
      </h2>
      <ul>
        {tasks.map((task) => (
          <li key={task.key}>
            <Waiting {...{ task, timeZone, isBusy, onAct }} />
          </li>
        ))}
      </ul>
    </section>
  )

type WaitingProps = Pick<GroupProps, 'timeZone' | 'isBusy' | 'onAct'> & { task: Task }

const Waiting = ({ task, timeZone, isBusy, onAct }: WaitingProps) => {
  const [isRegistering, setRegistering] = useState(false)
  const [isResolving, setResolving] = useState(false)
  return (
    <>
      <p class="task-what">
        <Said words={task.what} />
        {task.since === null ? null : <span class="muted"> {sinceWords(task.since, timeZone)}</span>}
      </p>
      {task.note === undefined ? null : <p class="task-note">{todoTexts.wrote(task.note)}</p>}
      <p class="muted">
        <Said words={task.todo} />
      </p>
      {task.remedies.length === 0 ? null : (
        <div class="task-acts">
          {task.remedies.map((remedy) =>
            remedy.act === 'register' ? (
              <button
                key="register"
                type="button"
                aria-expanded={isRegistering ? 'true' : 'false'}
                // Pressed again it loses nothing that was typed.
                onClick={() => setRegistering(true)}
              >
                {registerTexts.open}
              </button>
            ) : remedy.act === 'resolve' ? (
              <button
                key="resolve"
                type="button"
                aria-expanded={isResolving ? 'true' : 'false'}
                onClick={() => setResolving(true)}
              >
                {todoTexts.resolve}
              </button>
            ) : (
              <RemedyButton key={JSON.stringify(remedy)} remedy={remedy} isBusy={isBusy} onAct={onAct} />
            ),
          )}
        </div>
      )}
      {task.remedies.map((remedy) =>
        isRegistering && remedy.act === 'register' ? (
          <RegisterForm
            key="form"
            code={remedy.barcode}
            act={onAct}
            isBusy={isBusy}
            onDone={() => setRegistering(false)}
            onCancel={() => setRegistering(false)}
          />
        ) : isResolving && remedy.act === 'resolve' ? (
          <ResolveForm key="note" {...{ remedy, isBusy, onAct }} onCancel={() => setResolving(false)} />
        ) : null,
      )}
    </>
  )
}

/** Returns the texts of a remedy that needs a second press. */
function askedTwice(remedy: Settling): { readonly words: string; readonly sure: string } {
  const { label } = remedy.slot
  if (remedy.act === 'keep') return { words: todoTexts.isIn(label), sure: todoTexts.confirmIn(remedy.other.label) }
  const sure = remedy.act === 'takeBack' ? todoTexts.confirmBack(label) : todoTexts.confirm(label)
  return { words: todoTexts.notIn(label), sure }
}

type RemedyProps = { remedy: Exclude<Remedy, { act: 'register' | 'resolve' }>; isBusy: boolean; onAct: Act }

const RemedyButton = ({ remedy, isBusy, onAct }: RemedyProps) => {
  const once = useOnceKey()
  if (remedy.act === 'open')
    return (
      <a class="button" href={remedy.to} onClick={follow}>
        {remedy.words}
      </a>
    )
  if (remedy.act === 'acknowledge') {
    const acknowledge = () => post('/api/alerts/{id}/acknowledge', { id: remedy.alertId })
    return (
      <button
        type="button"
        aria-disabled={isBusy ? 'true' : 'false'}
        onClick={() => onAct(acknowledge, todoTexts.acknowledged)}
      >
        {todoTexts.acknowledge}
      </button>
    )
  }
  const { words, sure } = askedTwice(remedy)
  return (
    <Twice
      words={words}
      sure={sure}
      isBusy={isBusy}
      onSure={() =>
        void onAct(
          () => settle(remedy, once),
          (said) => said,
        )
      }
    />
  )
}

type ResolveProps = { remedy: Resolving; isBusy: boolean; onAct: Act; onCancel: () => void }

/** Ends a dispute with a note. The note stays in its field until the gateway has it. */
const ResolveForm = ({ remedy: { id, slot }, isBusy, onAct, onCancel }: ResolveProps) => {
  useTyped()
  const [note, setNote] = useState('')
  const once = useOnceKey()
  const submit = (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    const path = `/api/whms/discrepancies/${encodeURIComponent(id)}/resolve`
    const body = { note }
    void onAct(() => ask(path, { method: 'POST', body, onceKey: once.of(body) }), todoTexts.resolved(slot.label))
  }
  return (
    <form class="register-form" aria-label={todoTexts.resolveTitle(slot.label)} onSubmit={submit}>
      <Field id={`note-${id}`} words={todoTexts.note} value={note} onText={setNote} rows={3} most={4000} required />
      <div class="task-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {todoTexts.resolveSure}
        </button>
        <button type="button" class="plain" onClick={onCancel}>
          {todoTexts.cancel}
        </button>
      </div>
    </form>
  )
}
