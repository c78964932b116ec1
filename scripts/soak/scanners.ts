/**
 * The scanners of a floor, in a separate process. Each sends its events one after the other until each is
 * answered, whatever happens to the gateway. An unanswered event is sent again, byte for byte.
 */
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Acknowledged } from './acknowledged.ts'
import { habitOf, type Plan, plannedEvent } from './plan.ts'

export type ScannersStart = {
  readonly plan: Plan
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Where the answers are written at the end. */
  readonly answersFile: string
}

export type Progress = {
  readonly acknowledged: number
  /** Attempts that got no answer, or one that says to come again. */
  readonly retries: number
  /** Events that were sent although they had been answered. */
  readonly repeats: number
  /** Answers that no scanner may get, the first few as sentences. */
  readonly wrong: readonly string[]
  readonly done: boolean
}

const answerWithinMs = 10_000
const silentMs = 150
const burst = 8
const tellEveryMs = 50
const fewWords = 20

process.once('disconnect', () => process.exit())
process.once('message', (start: ScannersStart) => void work(start))

async function work({ plan, url, headers, answersFile }: ScannersStart): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: plan.scanners * burst })
  const answers = Acknowledged.none(plan.events)
  const counts = { acknowledged: 0, retries: 0, repeats: 0 }
  const wrong: string[] = []
  const tell = (done: boolean) =>
    process.send?.({ ...counts, wrong: wrong.slice(0, fewWords), done } satisfies Progress)
  const timer = setInterval(() => tell(false), tellEveryMs)

  const send = async (n: number) => {
    const body = JSON.stringify(plannedEvent(plan, n))
    for (let attempt = 1; ; attempt += 1) {
      const answer = await post(agent, `${url}/api/whms/events`, headers, body)
      if (answer && answer.status !== 503) return take(n, answer)
      counts.retries += 1
      await pause(Math.min(20 * attempt, 200))
    }
  }

  const take = (n: number, { status, text }: Answer) => {
    const isFirst = answers.of(n) === undefined
    const event =
      status === 200 || status === 201 ? (JSON.parse(text) as { id: number; evidence_hash: string }) : undefined
    if (!event) wrong.push(`event ${n} was answered with ${status}: ${text.slice(0, 200)}`)
    else if (!answers.note(n, event.id, event.evidence_hash)) wrong.push(`event ${n} was answered in two ways`)
    if (isFirst) counts.acknowledged += 1
    else counts.repeats += 1
  }

  const scan = async (scanner: number) => {
    const kept: number[] = []
    let keeps = 1
    for (let n = scanner; n < plan.events; n += plan.scanners) {
      const habit = habitOf(plan, n)
      kept.push(n)
      // Out of reach for a while: later it sends all these scans at once.
      if (habit === 'falls-silent') keeps = burst
      if (kept.length < keeps) continue
      if (keeps > 1) await pause(silentMs)
      await Promise.all(kept.splice(0).map(send))
      keeps = 1
      if (habit === 'double') await Promise.all([send(n), send(n)])
      if (habit === 'again-later') await send(Math.max(scanner, n - plan.scanners * burst))
    }
    await Promise.all(kept.map(send))
  }

  await Promise.all(Array.from({ length: plan.scanners }, (_, scanner) => scan(scanner)))
  clearInterval(timer)
  answers.save(answersFile)
  agent.destroy()
  tell(true)
}

type Answer = { readonly status: number; readonly text: string }

/** Undefined when nothing came back: the gateway is not there, or died before it answered. */
function post(
  agent: Agent,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const nothing = () => resolve(undefined)
    const length = { 'Content-Length': String(Buffer.byteLength(body)) }
    const sent = request(url, { agent, method: 'POST', headers: { ...headers, ...length } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('end', () => resolve(response.complete ? { status: response.statusCode ?? 0, text } : undefined))
      response.once('error', nothing)
    })
    sent.setTimeout(answerWithinMs, () => sent.destroy())
    sent.once('error', nothing)
    sent.once('close', nothing)
    sent.end(body)
  })
}
