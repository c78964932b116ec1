import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { errorMessage } from '../../../platform/faults.ts'
import { CameraButton, useCamera } from '../codes/camera-button.tsx'
import { ScanCheck } from '../codes/code-check.ts'
import { listenForScans, type ScannedCode } from '../codes/scan-keys.ts'
import { notTakenWords, partsOf } from '../codes/scan-place.ts'
import { LanguageChoice } from '../i18n/language-choice.tsx'
import { Said } from '../i18n/said.tsx'
import { type Act, actsOf, type Code } from './codes.ts'
import { useCounts } from './counts.ts'
import type { Credential } from './gateway.ts'
import type { Handheld } from './handheld.ts'
import type { ItemStore, Photo } from './items.ts'
import { QueueChips, QueueList, QueueRemarks } from './kept.tsx'
import { Entry, Tiles } from './menu.tsx'
import { type QueueState, ScanQueue } from './queue.ts'
import { sendersOf } from './senders.ts'
import { Arrival, type Taker } from './sign-in.tsx'
import { signal } from './signals.ts'
import type { SlotLabels } from './slots.ts'
import { Scanned, Task } from './task.tsx'
import { type Done, ScanTasks } from './tasks.ts'
import { scanTexts as texts } from './texts.ts'
import { TrainingFloor } from './training.ts'
import { useWatch } from './watch.ts'

export const isTraining = location.pathname === '/training'

/** Data stored on this device. */
export type Opened = { readonly store: ItemStore; readonly handheld: Handheld; readonly slots: SlotLabels }

const trainee: Credential = { username: 'trainee', instance: '', secret: '', role: 'supervisor' }

/** The page of an open device: the signed-in person, the waiting items, and the task under way. */
export const Desk = (opened: Opened) => {
  const { store, handheld, slots } = opened
  const [isListOpen, setListOpen] = useState(false)
  const [, again] = useState(0)
  const draw = () => again((n: number) => n + 1)
  const typed = useRef('')
  const taker: Taker = useRef<((code: Code) => void) | undefined>(undefined)
  const floor = useMemo(() => new TrainingFloor(), [])
  const remarks = useRemarks()
  const { queue, queued } = useQueue(opened, floor, remarks)
  const tasks = useMemo(
    () =>
      new ScanTasks({
        ...{ draw, keep: (by, done, photo) => keep(queue, remarks, by, done, photo), say: remarks.problemOrNone },
        isSlot: (by) => (isTraining ? floor.isSlot : slots.of(by)),
      }),
    [],
  )
  const whoScans = () => (isTraining ? trainee : handheld.person)
  const take = (code: Code) => {
    const who = whoScans()
    if (!who) {
      camera.close()
      taker.current?.(code)
    } else if (actsOf(who.role).length === 0) remarks.problem(texts.mayOnlyLook)
    else tasks.take(who.username, code)
  }
  const checks = useMemo(() => new ScanCheck(), [])
  /** A scan counts when it is whole: until then nothing of it is in a task. */
  const takeScan = ({ code, parts }: Pick<ScannedCode, 'code' | 'parts'>, isScanned = true) => {
    const who = whoScans()
    // A badge and a code to enrol say nothing of themselves.
    if (!who) return take({ text: code, isScanned })
    const scan = checks.check(code, parts, performance.now())
    tasks.drop(who.username, partsOf(scan, parts))
    if (scan.kind === 'code') return take({ text: scan.code, isScanned })
    remarks.problem(notTakenWords(scan))
  }
  useEffect(() => listenForScans((scan) => takeScan(scan)), [])
  const person = whoScans()
  const act = person && tasks.of(person.username).act
  const watched = useWatch(isTraining ? undefined : person, store, slots)
  const camera = useCamera(remarks.problemOrNone)
  const { counts, offer } = useCounts(store, tasks, isTraining ? floor.counts : undefined)
  const begin = (by: Credential, next: Act) => {
    remarks.clear()
    tasks.begin(by.username, next)
    if (next === 'count') void offer(by)
  }
  const leave = async (by: Credential) => {
    await handheld.signOut()
    tasks.leave(by.username)
    typed.current = ''
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
      <QueueChips queued={queued} onOpen={() => setListOpen(!isListOpen)} isOpen={isListOpen} />
      <p class="scan-say bad" role="alert">
        <Said words={watched && 'alarm' in watched ? `${texts.alarm}: ${watched.alarm}` : ''} />
      </p>
      <p class={`scan-say ${remarks.said?.kind ?? ''}`} role="status">
        <Said words={remarks.said?.words ?? ''} />
      </p>
      <QueueRemarks queued={queued} />
      {isListOpen ? <QueueList queue={queue} queued={queued} /> : null}
      <CameraButton camera={camera} words />
      {camera.View ? (
        <camera.View
          onCode={(code) => takeScan({ code, parts: [] })}
          onEnd={(words) => {
            camera.close()
            if (words !== '') remarks.problem(words)
          }}
        />
      ) : null}
      {/* A new one for each view, so that it takes the focus from the button that opened the view. */}
      {person ? (
        <Entry key={act ?? 'menu'} typed={typed} onCode={(code) => takeScan({ code, parts: [] }, false)} />
      ) : null}
      {act && person ? (
        <Task
          key={act}
          {...{ act, tasks, counts }}
          by={person.username}
          onBack={() => {
            tasks.leave(person.username)
            remarks.clear()
          }}
        />
      ) : null}
      {!act && person ? (
        <>
          <Scanned by={person.username} tasks={tasks} />
          <Tiles role={person.role} onAct={(next) => begin(person, next)} />
        </>
      ) : null}
      {person ? null : (
        <Arrival
          handheld={handheld}
          taker={taker}
          onEnrolled={() => {
            remarks.good(texts.enrol.done)
            draw()
          }}
          onSignedIn={() => {
            remarks.clear()
            queue.wake()
            draw()
          }}
        />
      )}
      {isTraining ? <Training /> : null}
      {/* Choosing loads the page again, and a task that is begun would be lost. */}
      {tasks.isIdle ? <LanguageChoice /> : null}
      {watched && 'size' in watched ? <p class="muted">{texts.witness(watched.size)}</p> : null}
    </main>
  )
}

type Remark = { readonly kind: 'good' | 'warn' | 'bad'; readonly words: string }
type Remarks = ReturnType<typeof useRemarks>

/** Message of the page about the newest scan. */
function useRemarks() {
  const [said, setSaid] = useState<Remark | undefined>(undefined)
  const problem = (words: string) => {
    signal(false)
    setSaid({ kind: 'bad', words })
  }
  return {
    said,
    problem,
    /** Without words it removes an older problem. */
    problemOrNone: (words: string) =>
      words === '' ? setSaid((last) => (last?.kind === 'bad' ? undefined : last)) : problem(words),
    good: (words: string) => {
      signal(true)
      setSaid({ kind: 'good', words })
    },
    clear: () => setSaid(undefined),
  }
}

const empty: QueueState = { items: [], acknowledged: 0, rests: '', signInNeeded: [], remarks: [], aside: new Map() }

/** The queue of items to be sent, and its state. It works as long as the page is open. */
function useQueue({ store, handheld }: Opened, floor: TrainingFloor, { problem }: Remarks) {
  const [queued, setQueued] = useState<QueueState>(empty)
  const queue = useMemo(
    () =>
      new ScanQueue({
        store,
        ...(isTraining ? floor.gateway : sendersOf(handheld, () => problem(texts.signInEnded))),
        tell: (state) => {
          setQueued(state)
          void handheld.endShifts(state.items)
        },
        onRefused: () => problem(texts.refusedNow),
        nowMs: () => performance.now(),
        alone: (work) => navigator.locks.request(isTraining ? 'gatehouse training' : 'gatehouse scan', work),
      }),
    [],
  )
  useEffect(() => {
    void queue.start()
    const wake = () => queue.wake()
    addEventListener('online', wake)
    return () => removeEventListener('online', wake)
  }, [])
  return { queue, queued }
}

/** Puts an act into the queue. Resolves to whether it is stored. */
async function keep(
  queue: ScanQueue,
  { problem, good }: Remarks,
  by: string,
  { title, path, body }: Done,
  photo: Photo | undefined,
): Promise<boolean> {
  const id = crypto.randomUUID()
  const key = path.endsWith('/scans') ? { client_scan_id: id } : { client_event_id: id }
  try {
    await queue.take({ id, by, title, path, body: { ...body, ...key }, at: new Date().toISOString() }, photo)
  } catch (error) {
    problem(texts.notStored(errorMessage(error) || (error as Error).name))
    return false
  }
  good(texts.taken(title))
  return true
}

const Training = () => (
  <aside aria-label={texts.training.banner}>
    <p>{texts.training.hint}</p>
    <a href="/scan">{texts.training.end}</a>
  </aside>
)
