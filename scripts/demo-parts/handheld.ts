import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Client } from './client.ts'
import { line, scanLine } from './lines.ts'
import { palletPhoto } from './photo.ts'
import { judgement, placement, type Scan, send, uploadPhoto } from './scans.ts'
import type { Task, Yard } from './yard.ts'

/** From one job to the next; three people make about one event a second. */
const paceMs = { least: 1500, most: 4500 }
const retryMs = 1000
/** How long ago a late report happened. */
const latenessMs = { least: 60_000, most: 240_000 }

export type Handheld = {
  readonly client: Client
  readonly yard: Yard
  readonly next: (yard: Yard) => Task | undefined
  readonly print: (line: string) => void
  readonly signal: AbortSignal
}

/** Does one job after the other until the signal fires. */
export async function work(handheld: Handheld): Promise<void> {
  const { yard, next, signal } = handheld
  while (await rest(between(paceMs), signal)) {
    const task = next(yard)
    if (!task) continue
    const answer = await carryOut(handheld, task)
    yard.done(task, answer?.status === 201 ? answer.body.slot : undefined)
  }
}

/** @returns the answer; undefined when the day ended before there was one */
async function carryOut(handheld: Handheld, task: Task): Promise<Answer | undefined> {
  const { client, print } = handheld
  const scan = await keepTrying(handheld, task, () => scanOf(client, task))
  const headers = { 'X-Device-Time': new Date().toISOString() }
  const answer = scan && (await keepTrying(handheld, task, () => send(client, scan, headers)))
  if (!answer) return undefined
  print(scanLine(client.username, task, answer))
  if (task.twist === 'again') await sendAgain(handheld, task, scan, headers)
  return answer
}

async function sendAgain(handheld: Handheld, task: Task, scan: Scan, headers: Record<string, string>): Promise<void> {
  const { client, print } = handheld
  const again = await keepTrying(handheld, task, () => send(client, scan, headers))
  if (!again) return
  const known = again.headers.get('idempotency-replayed') === 'true'
  print(
    line(
      client.username,
      task.type,
      task.pallet,
      task.slot.label,
      known ? 'sent again: same answer, recorded once' : 'sent again',
    ),
  )
}

/** The request for a task; for a placement the photo is taken and uploaded first. */
async function scanOf(client: Client, { type, slot, pallet, twist }: Task): Promise<Scan> {
  const key = randomUUID()
  const timestamp = twist === 'late' && { timestamp: new Date(Date.now() - between(latenessMs)).toISOString() }
  const scan =
    type === 'PLACED'
      ? placement({
          slot,
          pallet,
          key,
          photoUrl: (await uploadPhoto(client, palletPhoto(Math.random() * 2 ** 32))).url,
        })
      : judgement(type, slot, pallet, key)
  return { key, body: { ...scan.body, ...timestamp } }
}

/** As a handheld does without a network: the job stays on its screen and is sent until it is answered. */
async function keepTrying<T>(
  { client, print, signal }: Handheld,
  task: Task,
  job: () => Promise<T>,
): Promise<T | undefined> {
  for (;;) {
    try {
      return await job()
    } catch (error) {
      if (signal.aborted) return undefined
      print(
        line(
          client.username,
          task.type,
          task.pallet,
          task.slot.label,
          `no answer (${(error as Error).message}), sends it again`,
        ),
      )
      if (!(await rest(retryMs, signal))) return undefined
    }
  }
}

/** @returns false when the signal fired meanwhile */
async function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  return pause(ms, true, { signal }).catch(() => false)
}

function between({ least, most }: { least: number; most: number }): number {
  return Math.floor(least + Math.random() * (most - least))
}
