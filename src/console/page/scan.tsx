import { render, useEffect, useMemo, useRef, useState } from 'hono/jsx/dom'
import { CameraButton, useCamera } from './camera-button.tsx'
import { language, locale } from './language.ts'
import { LanguageChoice } from './language-choice.tsx'
import { Said } from './said.tsx'
import { type Act, actsOf, type Code } from './scan-codes.ts'
import { type Credential, call, hasPhoto, sendItem, sendPhoto, sendRun } from './scan-gateway.ts'
import { Handheld } from './scan-handheld.ts'
import { type Item, type ItemStore, MemoryStore, type Photo } from './scan-items.ts'
import { listenForScans } from './scan-keys.ts'
import { type QueueNeeds, type QueueState, ScanQueue } from './scan-queue.ts'
import { signal } from './scan-signals.ts'
import { SlotLabels } from './scan-slots.ts'
import { openStore } from './scan-store.ts'
import { Scanned, Task } from './scan-task.tsx'
import { type Count, type Done, ScanTasks } from './scan-tasks.ts'
import { scanTexts as texts } from './scan-texts.ts'
import { TrainingFloor } from './scan-training.ts'
import { type Watched, watchLog } from './scan-witness.ts'

const watchEveryMs = 5 * 60_000
const isTraining = location.pathname === '/training'
type Remark = { readonly kind: 'good' | 'warn' | 'bad'; readonly words: string }
type Opened = { readonly store: ItemStore; readonly handheld: Handheld; readonly slots: SlotLabels }

const Page = () => {
  const [opened, setOpened] = useState<Opened | undefined>(undefined)
  const [problem, setProblem] = useState(isSecureContext ? '' : texts.needsTls)
  useEffect(() => {
    if (!isSecureContext) return
    const open = async () => {
      const store = isTraining ? new MemoryStore() : await openStore()
      const slots = new SlotLabels(store)
      await slots.recall()
      setOpened({ store, slots, handheld: await Handheld.open(store) })
      // Asked once: without it a browser that runs short of room may clear this page's store.
      if (!isTraining) await navigator.storage?.persist?.()
    }
    open().catch((error: Error) => setProblem(texts.noStore(error.message || error.name)))
  }, [])
  if (opened) return <Desk {...opened} />
  return (
    <main class="scan-page">
      <h1>{texts.title}</h1>
      <p class={problem ? 'scan-say bad' : ''} role="alert">
        {problem || texts.loading}
      </p>
    </main>
  )
}

const empty: QueueState = { items: [], acknowledged: 0, rests: '', signInNeeded: [], remarks: [], aside: new Map() }
const trainee: Credential = { username: 'trainee', instance: '', secret: '', role: 'supervisor' }

const Desk = ({ store, handheld, slots }: Opened) => {
  const [queued, setQueued] = useState<QueueState>(empty)
  const [said, setSaid] = useState<Remark | undefined>(undefined)
  const [isListOpen, setListOpen] = useState(false)
  const [counts, setCounts] = useState<readonly Count[]>([])
  const [watched, setWatched] = useState<Watched>(undefined)
  const [, again] = useState(0)
  const draw = () => again((n: number) => n + 1)
  /** Takes the codes while no one is signed in. */
  const taker = useRef<((code: Code) => void) | undefined>(undefined)
  const floor = useMemo(() => new TrainingFloor(), [])
  const whoScans = () => (isTraining ? trainee : handheld.person)
  const problem = (words: string) => {
    signal(false)
    setSaid({ kind: 'bad', words })
  }
  /** Without words it takes an older problem away. */
  const problemOrNone = (words: string) =>
    words === '' ? setSaid((last) => (last?.kind === 'bad' ? undefined : last)) : problem(words)
  const queue = useMemo(
    () =>
      new ScanQueue({
        store,
        ...(isTraining ? floor.gateway : gatewayOf(handheld, () => problem(texts.signInEnded))),
        tell: (state) => {
          setQueued(state)
          void handheld.endShifts(state.items)
        },
        onRefused: () => {
          signal(false)
          setSaid({ kind: 'bad', words: texts.refusedNow })
        },
        nowMs: () => performance.now(),
        alone: (work) => navigator.locks.request(isTraining ? 'gatehouse training' : 'gatehouse scan', work),
      }),
    [],
  )
  const keep = async (by: string, { title, path, body }: Done, photo: Photo | undefined): Promise<boolean> => {
    const id = crypto.randomUUID()
    const key = path.endsWith('/scans') ? { client_scan_id: id } : { client_event_id: id }
    try {
      await queue.take({ id, by, title, path, body: { ...body, ...key }, at: new Date().toISOString() }, photo)
    } catch (error) {
      problem(texts.notStored((error as Error).message || (error as Error).name))
      return false
    }
    signal(true)
    setSaid({ kind: 'good', words: texts.taken(title) })
    return true
  }
  const tasks = useMemo(
    () =>
      new ScanTasks({
        ...{ draw, keep, say: problemOrNone },
        isSlot: (by) => (isTraining ? floor.isSlot : slots.of(by)),
      }),
    [],
  )
  const take = (code: Code) => {
    const who = whoScans()
    if (!who) taker.current?.(code)
    else if (actsOf(who.role).length === 0) problem(texts.mayOnlyLook)
    else tasks.take(who.username, code)
  }
  const person = whoScans()
  const act = person && tasks.of(person.username).act
  useEffect(() => {
    void queue.start()
    const wake = () => queue.wake()
    addEventListener('online', wake)
    const stop = listenForScans((text) => take({ text, isScanned: true }))
    return () => {
      removeEventListener('online', wake)
      stop()
    }
  }, [])
  useEffect(() => {
    if (isTraining || !person) return
    let isKnown = false
    const look = async () => {
      if (!isKnown) isKnown = await slots.refresh(person)
      const found = await watchLog(person)
      if (found) await store.setFact('alarm', 'alarm' in found ? found.alarm : undefined)
      if (found && 'alarm' in found) signal(false)
      if (found) setWatched(found)
    }
    const recall = async () => {
      const alarm = await store.fact<string>('alarm')
      if (alarm) setWatched({ alarm })
    }
    void recall().then(look)
    const timer = setInterval(look, watchEveryMs)
    return () => clearInterval(timer)
  }, [person?.secret])

  const camera = useCamera(problemOrNone)
  const begin = async (by: Credential, next: Act) => {
    setSaid(undefined)
    tasks.begin(by.username, next)
    if (next !== 'count') return
    const offer = (open: readonly Count[]) => {
      setCounts(open)
      tasks.offer(by.username, open)
    }
    if (isTraining) return offer(floor.counts)
    // Those that were known last at once: without a network the answer takes its time.
    const known = (await store.fact<Count[]>('counts')) ?? []
    setCounts(known)
    tasks.remember(by.username, known)
    const open = await openCounts(store, by)
    if (open) offer(open)
  }
  const leave = async (by: Credential) => {
    await handheld.signOut()
    tasks.leave(by.username)
    queue.wake()
    draw()
  }
  return (
    <main class="scan-page">
      {isTraining ? <p class="scan-training">{texts.training.banner}</p> : null}
      <header class="scan-head">
        <h1>{texts.title}</h1>
        {person && !isTraining ? <strong>{person.username}</strong> : null}
        {person && !isTraining ? (
          <button type="button" disabled={tasks.isSaving} onClick={() => leave(person)}>
            {texts.signOut}
          </button>
        ) : null}
      </header>
      <Chips queued={queued} onOpen={() => setListOpen(!isListOpen)} isOpen={isListOpen} />
      <p class="scan-say bad" role="alert">
        <Said words={watched && 'alarm' in watched ? `${texts.alarm}: ${watched.alarm}` : ''} />
      </p>
      <p class={`scan-say ${said?.kind ?? ''}`} role="status">
        <Said words={said?.words ?? ''} />
      </p>
      <p class="scan-say warn" role="status">
        {[...queued.remarks, queued.aside.size > 0 ? texts.aside(queued.aside.size) : '', ...restWords(queued)]
          .filter((words) => words !== '')
          .map((words) => (
            <span class="scan-line">
              <Said words={words} />
            </span>
          ))}
      </p>
      {isListOpen ? <List queue={queue} queued={queued} /> : null}
      <CameraButton camera={camera} words />
      {camera.View ? (
        <camera.View
          onCode={(text) => take({ text, isScanned: true })}
          onEnd={(words) => {
            camera.close()
            if (words !== '') problem(words)
          }}
        />
      ) : null}
      {/* A new one for each view, so that it takes the focus from the button that opened the view. */}
      {person ? <Entry key={act ?? 'menu'} onCode={(text) => take({ text, isScanned: false })} /> : null}
      {act && person ? (
        <Task
          key={act}
          {...{ act, tasks, counts }}
          by={person.username}
          onBack={() => {
            tasks.leave(person.username)
            setSaid(undefined)
          }}
        />
      ) : null}
      {!act && person ? (
        <>
          <Scanned by={person.username} tasks={tasks} />
          <Tiles role={person.role} onAct={(next) => begin(person, next)} />
        </>
      ) : null}
      {person || handheld.device ? null : <Enrol handheld={handheld} taker={taker} onDone={draw} />}
      {!person && handheld.device ? (
        <SignIn
          handheld={handheld}
          taker={taker}
          onDone={() => {
            setSaid(undefined)
            queue.wake()
            draw()
          }}
        />
      ) : null}
      {isTraining ? <Training /> : null}
      {/* Choosing loads the page again, and a task that is begun would be lost. */}
      {tasks.isIdle ? <LanguageChoice /> : null}
      {watched && 'size' in watched ? <p class="muted">{texts.witness(watched.size)}</p> : null}
    </main>
  )
}

/** Sends each item as the person who did it; a sign-in that has ended is forgotten. `onEnded`: it was that of who scans. */
function gatewayOf(
  handheld: Handheld,
  onEnded: () => void,
): Pick<QueueNeeds, 'send' | 'sendRun' | 'sendPhoto' | 'hasPhoto'> {
  const noting = async <T extends { readonly kind: string }>(
    by: string,
    ask: (shift: Credential | undefined) => Promise<T>,
  ): Promise<T> => {
    const shift = handheld.shiftOf(by)
    const outcome = await ask(shift)
    // The person may have signed in again meanwhile: that sign-in has not ended.
    if (outcome.kind !== 'sign-in' || !shift || handheld.shiftOf(by)?.secret !== shift.secret) return outcome
    const isScanning = handheld.isScanning(by)
    await handheld.ended(by)
    if (isScanning) onEnded()
    return outcome
  }
  return {
    send: (item) => noting(item.by, (shift) => sendItem(item, shift)),
    sendRun: (run) => noting(run[0]?.by ?? '', (shift) => sendRun(run, shift)),
    hasPhoto: (photo, by) => hasPhoto(photo, handheld.shiftOf(by)),
    sendPhoto: (photo, by) => noting(by, (shift) => sendPhoto(photo, shift)),
  }
}

/** Asks for the counts that are open, and keeps them for times without a network; undefined: no answer came. */
async function openCounts(store: ItemStore, by: Credential): Promise<readonly Count[] | undefined> {
  const outcome = await call('/api/whms/counts', by)
  if (outcome.kind !== 'acknowledged') return undefined
  const all = outcome.answer['data'] as { id: number; reference: string | null; state: string }[]
  const counts = all.filter(({ state }) => state === 'open' || state === 'counting')
  await store.setFact('counts', counts)
  return counts
}

const waitingIn = ({ items }: QueueState) => items.filter(({ refusal }) => refusal === undefined)

function restWords(queued: QueueState): string[] {
  const waiting = waitingIn(queued)
  const asked = queued.signInNeeded.map((who) => texts.signInNeeded(who, waiting.filter(({ by }) => by === who).length))
  return [waiting.length > 0 && queued.rests ? texts.rests(queued.rests) : '', ...asked]
}

const Chips = ({ queued, isOpen, onOpen }: { queued: QueueState; isOpen: boolean; onOpen: () => void }) => {
  const waiting = waitingIn(queued).length
  const refused = queued.items.length - waiting
  return (
    <div class="chips">
      <button
        type="button"
        class={waiting > 0 ? 'warn' : ''}
        aria-expanded={isOpen ? 'true' : 'false'}
        onClick={onOpen}
      >
        {texts.waiting(waiting)}
      </button>
      <button type="button" class={refused > 0 ? 'bad' : ''} aria-expanded={isOpen ? 'true' : 'false'} onClick={onOpen}>
        {texts.refused(refused)}
      </button>
      <p class="muted">{texts.acknowledged(queued.acknowledged)}</p>
    </div>
  )
}

const List = ({ queue, queued: { items, aside } }: { queue: ScanQueue; queued: QueueState }) => {
  const [sure, setSure] = useState<number | undefined>(undefined)
  const remove = (item: Item) => {
    if (sure !== item.n) return setSure(item.n)
    void queue.discard(item)
    return undefined
  }
  return (
    <section aria-labelledby="kept">
      <h2 id="kept">{texts.queue.title}</h2>
      {items.length === 0 ? <p class="blank">{texts.queue.none}</p> : null}
      <ol class="scan-list">
        {items.map((item) => (
          <li key={item.n} class="card">
            <strong>{item.title}</strong>
            <p class="muted">
              {item.by}, {new Date(item.at).toLocaleString(locale)}
            </p>
            {item.refusal === undefined && aside.has(item.n) ? (
              <p class="problem">
                <Said words={texts.queue.aside(aside.get(item.n) ?? '')} />
              </p>
            ) : null}
            {item.refusal === undefined ? null : (
              <p class="problem">
                <Said words={item.refusal} />
              </p>
            )}
            {item.refusal === undefined ? null : (
              <div class="acts">
                <button type="button" onClick={() => queue.sendAgain(item)}>
                  {texts.queue.again}
                </button>
                <button type="button" onClick={() => remove(item)}>
                  {sure === item.n ? texts.queue.sure : texts.queue.remove}
                </button>
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const Tiles = ({ role, onAct }: { role: string; onAct: (act: Act) => void }) => {
  const acts = actsOf(role)
  if (acts.length === 0) return <p class="blank">{texts.mayOnlyLook}</p>
  return (
    <nav class="scan-tiles" aria-label={texts.title}>
      {acts.map((act) => (
        <button key={act} type="button" onClick={() => onAct(act)}>
          {texts.acts[act]}
        </button>
      ))}
    </nav>
  )
}

/** The field for typed codes, and for handhelds that write by an input method. */
const Entry = ({ onCode }: { onCode: (text: string) => void }) => {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches || !field.current) return
    field.current.inputMode = 'none'
    field.current.focus({ preventScroll: true })
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    if (field.current) field.current.value = ''
    if (text !== '') onCode(text)
  }
  return (
    <form class="scan-entry" onSubmit={submit}>
      <input
        ref={field}
        type="text"
        aria-label={texts.type}
        placeholder={texts.code}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxlength={256}
        onPointerDown={() => {
          if (field.current) field.current.inputMode = 'text'
        }}
      />
      <button type="submit">{texts.use}</button>
    </form>
  )
}

const Enrol = ({ handheld, taker, onDone }: SignInProps) => {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  useTaker(taker, ({ text }) => {
    if (field.current) field.current.value = text
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    const words = await handheld.enrol(field.current?.value ?? '')
    setProblem(words)
    if (words === '') onDone()
  }
  return (
    <form onSubmit={submit}>
      <h2>{texts.enrol.title}</h2>
      <p>{texts.enrol.help}</p>
      <label>
        {texts.enrol.label}
        <input ref={field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
      </label>
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
      <button type="submit" class="strong">
        {texts.enrol.go}
      </button>
      <a href="/training">{texts.signIn.training}</a>
    </form>
  )
}

type Taker = { current: ((code: Code) => void) | null | undefined }
type SignInProps = { handheld: Handheld; taker: Taker; onDone: () => void }

/** Takes the codes as long as the view is shown. */
function useTaker(taker: Taker, take: (code: Code) => void): void {
  useEffect(() => {
    taker.current = take
    return () => {
      if (taker.current === take) taker.current = undefined
    }
  }, [])
}

const SignIn = ({ handheld, taker, onDone }: SignInProps) => {
  const [badge, pin] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)]
  const [problem, setProblem] = useState('')
  useTaker(taker, ({ text }) => {
    if (badge.current) badge.current.value = text
    pin.current?.focus()
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    const words = await handheld.signIn(badge.current?.value ?? '', pin.current?.value ?? '')
    setProblem(words)
    if (words === '') onDone()
    else signal(false)
  }
  return (
    <form onSubmit={submit}>
      <h2>{texts.signIn.title}</h2>
      <label>
        {texts.signIn.badge}
        <input ref={badge} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
      </label>
      <label>
        {texts.signIn.pin}
        <input ref={pin} type="password" inputmode="numeric" autocomplete="off" maxlength={8} />
      </label>
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
      <button type="submit" class="strong">
        {texts.signIn.go}
      </button>
      <a href="/training">{texts.signIn.training}</a>
    </form>
  )
}

const Training = () => (
  <aside aria-label={texts.training.banner}>
    <p>{texts.training.hint}</p>
    <a href="/scan">{texts.training.end}</a>
  </aside>
)

type Policies = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

/** Keeps the page's own files in this browser. The policy can name one address only. */
function keepFiles(): void {
  if (!('serviceWorker' in navigator)) return
  const { trustedTypes } = window as { readonly trustedTypes?: Policies }
  const rules = { createScriptURL: () => '/scan-worker.js' }
  const policy = trustedTypes?.createPolicy('scan-worker', rules) ?? rules
  navigator.serviceWorker
    .register(policy.createScriptURL('/scan-worker.js'), { scope: location.pathname })
    .catch(() => undefined)
}

const place = document.getElementById('app')
document.documentElement.lang = language
document.title = `${texts.title} · Gatehouse`
if (place) render(<Page />, place)
keepFiles()
