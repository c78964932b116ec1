import type { Alert, Gap, ListedCamera } from '../data/shapes.ts'
import { cameraTexts as texts } from './camera-texts.ts'
import { gatewayWords } from './language.ts'
import { problemWords } from './problem-words.ts'
import { causeWords, spanWords } from './story-words.ts'
import { exactTime, timeOfDay } from './words.ts'

export type Standing = {
  readonly tone: 'ok' | 'warn' | 'danger' | 'off'
  readonly state: string
  /** Since when and why it does not watch, or what it shows; empty when all is well. */
  readonly why: string
}

/** Alerts that say that a trouble has ended. */
const over = new Set(['camera.online', 'camera.seeing', 'camera.pre-roll.recovered', 'cameras.unwatched'])
const scenes = ['covered', 'turned', 'still'] as const
const impairments = ['few_pictures', 'too_busy', 'no_events'] as const

/**
 * Says how a camera is, in plain words. Pure.
 * @param gap the gap that lasts; undefined while it is not known
 */
export function standingOf(
  camera: ListedCamera,
  gap: Gap | undefined,
  nowMs: number,
  timeZone: string | undefined,
): Standing {
  const { states } = texts
  const lasts = gap?.to === null ? gap : undefined
  const from = lasts && sinceWords(lasts.from, nowMs, timeZone)
  if (camera.online) return standingOfPicture(camera)
  if (lasts?.cause === 'outside_hours') {
    return { tone: 'off', state: states.hours, why: from ? texts.since(from, causeWords(lasts)) : '' }
  }
  if (camera.state === 'off') {
    const why = camera.problem === null ? texts.off : gatewayWords(camera.problem)
    return { tone: 'off', state: states.off, why: from ? `${texts.sinceOnly(from)} ${why}` : why }
  }
  const because = camera.problem === null ? (lasts ? '' : texts.noPicture) : problemWords(camera)
  const why = lasts && from ? `${texts.since(from, causeWords(lasts))} ${because}`.trim() : because
  return camera.state === 'connecting' && camera.problem === null
    ? { tone: 'warn', state: states.connecting, why }
    : { tone: 'danger', state: states.away, why }
}

function standingOfPicture(camera: ListedCamera): Standing {
  const { scene, impairment, motion } = camera
  const { states } = texts
  const ofScene = scenes.find((state) => state === scene?.state)
  if (ofScene && scene) return impaired(states[ofScene], `camera.${ofScene}`, scene.forSeconds)
  const ofImpairment = impairments.find((why) => why === impairment?.why)
  if (ofImpairment && impairment)
    return impaired(states[ofImpairment], `camera.${ofImpairment.replace('_', '-')}`, impairment.forSeconds)
  const problem = problemWords(camera)
  if (problem !== '') return { tone: 'warn', state: motion.running ? states.watching : states.live, why: problem }
  if (scene?.state === 'light') return { tone: 'ok', state: states.light, why: '' }
  return { tone: 'ok', state: motion.running ? states.watching : states.live, why: '' }
}

function impaired(state: string, kind: string, forSeconds: number): Standing {
  const [means, todo] = texts.means_[kind] ?? texts.other
  return { tone: 'warn', state, why: `${texts.for(spanWords(forSeconds * 1000))} ${means} ${todo}` }
}

const dayMs = 86_400_000

const sinceWords = (iso: string, nowMs: number, timeZone: string | undefined): string => {
  const ms = Date.parse(iso)
  return nowMs - ms < dayMs / 2 ? timeOfDay(ms, timeZone) : exactTime(iso, timeZone).replace(/:\d\d$/, '')
}

/** Returns the open alerts of a camera. Pure. */
export const alertsOf = (alerts: readonly Alert[], { id }: { readonly id: number }): readonly Alert[] =>
  alerts.filter(
    ({ kind, subject }) => kind.startsWith('camera') && (subject === String(id) || subject === `pre-roll ${id}`),
  )

/** Says what an alert means and what to do about it. Pure. */
export function meaningOf({ kind }: Pick<Alert, 'kind'>): { readonly means: string; readonly todo: string } {
  const [means, todo] = texts.means_[kind] ?? (over.has(kind) ? texts.over : texts.other)
  return { means, todo }
}
