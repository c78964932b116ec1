import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { CameraButton, useCamera } from '../codes/camera-button.tsx'
import { ScanCheck } from '../codes/code-check.ts'
import { listenForScans, type ScannedCode } from '../codes/scan-keys.ts'
import { notTakenWords, partsOf } from '../codes/scan-place.ts'
import { LanguageChoice } from '../i18n/language-choice.tsx'
import { Said } from '../i18n/said.tsx'
import { type Act, actsOf, type Code, type IsSlot } from './codes.ts'
import { useCounts } from './counts.ts'
import type { Credential } from './gateway.ts'
import { QueueChips, QueueList, QueueRemarks } from './kept.tsx'
import { AlertMessages, Entry, Tiles } from './menu.tsx'
import type { QueueState, ScanQueue } from './queue.ts'
import { type Remarks, useRemarks } from './remarks.ts'
import { Arrival, type Taker } from './sign-in.tsx'
import { Scanned, Task } from './task.tsx'
import { type Count, ScanTasks } from './tasks.ts'
import { scanTexts as texts } from './texts.ts'
import { TrainingFloor } from './training.ts'
import { isTraining, keep, type Opened, useQueue } from './use-queue.ts'
import { useWatch } from './watch.ts'

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
  const isSlot = (by: string) => (isTraining ? floor.isSlot : slots.of(by))
  const tasks = useTasks(queue, remarks, isSlot, draw)
  const whoScans = () => (isTraining ? trainee : handheld.person)
  const camera = useCamera(remarks.problemOrNone)
  const takeScan = useTaking(whoScans, tasks, remarks, (code) => {
    camera.close()
    taker.current?.(code)
  })
  const person = whoScans()
  const watched = useWatch(isTraining ? undefined : person, store, slots)
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
      <Head person={isTraining ? undefined : person} isSaving={tasks.isSaving} onLeave={leave} />
      <QueueChips queued={queued} onOpen={() => setListOpen(!isListOpen)} isOpen={isListOpen} />
      <Messages alarm={watched && 'alarm' in watched ? watched.alarm : undefined} said={remarks.said} queued={queued} />
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
      {person ? (
        <Work {...{ person, tasks, counts, typed, remarks }} onTyped={takeScan} onBegin={begin} />
      ) : (
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
      {tasks.isIdle && handheld.device && !isTraining ? (
        <AlertMessages device={handheld.device} remarks={remarks} />
      ) : null}
      {watched && 'size' in watched ? <p class="muted">{texts.witness(watched.size)}</p> : null}
    </main>
  )
}

/** The tasks of this device. Those that are done come into the queue. */
const useTasks = (queue: ScanQueue, remarks: Remarks, isSlot: (by: string) => IsSlot, draw: () => void): ScanTasks =>
  useMemo(
    () =>
      new ScanTasks({
        draw,
        keep: (by, done, photo) => keep(queue, remarks, { id: crypto.randomUUID(), by }, done, photo),
        say: remarks.problemOrNone,
        isSlot,
      }),
    [],
  )

type MessagesProps = { alarm: string | undefined; said: Remarks['said']; queued: QueueState }

/** The alarm of a log that was rewritten, the message about the newest scan, and those of the queue. */
const Messages = ({ alarm, said, queued }: MessagesProps) => (
  <>
    <p class="scan-say bad" role="alert">
      <Said words={alarm === undefined ? '' : `${texts.alarm}: ${alarm}`} />
    </p>
    <p class={`scan-say ${said?.kind ?? ''}`} role="status">
      <Said words={said?.words ?? ''} />
    </p>
    <QueueRemarks queued={queued} />
  </>
)

type Whole = Pick<ScannedCode, 'code' | 'parts'>

/** Gives whole scans to the task of the person, or to `onSignedOut` while no one is signed in. */
function useTaking(
  whoScans: () => Credential | undefined,
  tasks: ScanTasks,
  remarks: Remarks,
  onSignedOut: (code: Code) => void,
) {
  const checks = useMemo(() => new ScanCheck(), [])
  /** A scan counts when it is whole: until then nothing of it is in a task. */
  const takeScan = ({ code, parts }: Whole, isScanned = true) => {
    const who = whoScans()
    // A badge and a code to enrol say nothing of themselves.
    if (!who) return onSignedOut({ text: code, isScanned })
    const scan = checks.check(code, parts, performance.now())
    tasks.drop(who.username, partsOf(scan, parts))
    if (scan.kind !== 'code') remarks.problem(notTakenWords(scan))
    else if (actsOf(who.role).length === 0) remarks.problem(texts.mayOnlyLook)
    else tasks.take(who.username, { text: scan.code, isScanned })
  }
  useEffect(() => listenForScans((scan) => takeScan(scan)), [])
  return takeScan
}

type HeadProps = {
  /** Undefined: there is no one to sign out. */
  person: Credential | undefined
  isSaving: boolean
  onLeave: (person: Credential) => void
}

const Head = ({ person, isSaving, onLeave }: HeadProps) => (
  <header class="scan-head">
    <h1>{texts.title}</h1>
    {person ? <strong>{person.username}</strong> : null}
    {person ? (
      <button type="button" disabled={isSaving} onClick={() => onLeave(person)}>
        {texts.signOut}
      </button>
    ) : null}
  </header>
)

type WorkProps = {
  person: Credential
  tasks: ScanTasks
  counts: readonly Count[]
  typed: { current: string | null }
  remarks: Remarks
  onTyped: (code: Whole, isScanned: boolean) => void
  onBegin: (person: Credential, act: Act) => void
}

/** The task of a person, or the choice of one. */
const Work = ({ person, tasks, counts, typed, remarks, onTyped, onBegin }: WorkProps) => {
  const by = person.username
  const { act } = tasks.of(by)
  return (
    <>
      {/* A new one for each view, so that it takes the focus from the button that opened the view. */}
      <Entry key={act ?? 'menu'} typed={typed} onCode={(code) => onTyped({ code, parts: [] }, false)} />
      {act ? (
        <Task
          key={act}
          {...{ act, tasks, counts, by }}
          onBack={() => {
            tasks.leave(by)
            remarks.clear()
          }}
        />
      ) : (
        <>
          <Scanned by={by} tasks={tasks} />
          <Tiles role={person.role} onAct={(next) => onBegin(person, next)} />
        </>
      )}
    </>
  )
}

const Training = () => (
  <aside aria-label={texts.training.banner}>
    <p>{texts.training.hint}</p>
    <a href="/scan">{texts.training.end}</a>
  </aside>
)
