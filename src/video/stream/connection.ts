import { backoffMs } from '../../flow/index.ts'
import type { Problem } from '../problems.ts'
import { longestMs, newSilence, noted, type Silence } from '../timing/longest-silence.ts'

/**
 * Decides when a stream's ffmpeg is started, ended and started again. Pure: time and chance are arguments, commands are
 * returned. At most one process for each stream: only `offline` and `backing-off` have none, and only they start one.
 */
export type Phase =
  /** Not wanted; no process. */
  | { readonly kind: 'offline' }
  /** A process runs and has not given a picture yet. `awakeMs`: this thread was held up until then, and listens since. */
  | { readonly kind: 'connecting'; readonly sinceMs: number; readonly awakeMs?: number }
  | { readonly kind: 'live'; readonly sinceMs: number; readonly lastPictureMs: number; readonly awakeMs?: number }
  /** Pictures have stopped; the process got SIGTERM and is killed at `killAtMs`. */
  | { readonly kind: 'stalled'; readonly problem: Problem; readonly killAtMs: number }
  /** Not wanted; the process got SIGTERM. `again`: start again when it has ended. */
  | { readonly kind: 'stopping'; readonly again: boolean; readonly killAtMs: number }
  /**
   * No process until `untilMs`. From `knockAtMs` on (null: never), a knock each second asks whether its address answers. The first
   * knock comes at once where pictures were lost. Otherwise a camera that starts again within a second would look like one that
   * closes each connection. If `away` is true, nothing answers; the first answer ends the wait.
   */
  | {
      readonly kind: 'backing-off'
      readonly problem: Problem
      readonly untilMs: number
      readonly knockAtMs: number | null
      readonly away: boolean
    }

export type Connection = {
  readonly phase: Phase
  /** Failed attempts in a row. */
  readonly failures: number
  /** Refused credentials since the last picture, or since the last start through the API. */
  readonly refusals: number
  /** Whether this configuration of the stream has ever given a picture. */
  readonly worked: boolean
  /** Whether the present attempt began because a knock was answered. */
  readonly knocked: boolean
  /** Whether the next attempt, or the present one, allows for a camera that sends a picture only every few seconds. */
  readonly isPatient: boolean
  /** Between the pictures of the present attempt. */
  readonly silence: Silence
}

export type ConnectionEvent =
  /** The stream is wanted; also ends a long wait. */
  | { readonly kind: 'start' }
  /** The stream is not wanted any more. */
  | { readonly kind: 'stop' }
  /** Address, credentials or outputs changed: counters start again, a process is replaced. */
  | { readonly kind: 'reconfigured' }
  /** The password changed: a wait ends, refusals are forgotten. A running process goes on. */
  | { readonly kind: 'credentials' }
  /** A picture was read, which arrived so long ago. */
  | { readonly kind: 'picture'; readonly agoMs: number }
  /** The output is unusable: the process must be replaced. */
  | { readonly kind: 'broken'; readonly problem: Problem }
  /** The process has ended, or could not be started. */
  | { readonly kind: 'ended'; readonly problem: Problem }
  /** Result of a knock. */
  | { readonly kind: 'knocked'; readonly answered: boolean }
  /** This thread was held up: that no picture came meanwhile says nothing of the camera. */
  | { readonly kind: 'overslept' }
  /** Time has passed. */
  | { readonly kind: 'tick' }

/** `knock`: a plain TCP connection without credentials, closed at once; `knocked` follows. */
export type Command = 'spawn' | 'terminate' | 'kill' | 'knock'
export type Step = { readonly connection: Connection; readonly commands: readonly Command[] }

/** Milliseconds; `backoffMs` is the delay after the first failure in a row, the second …, the last one for ever. */
export const times = {
  /** First pictures took 2 to 3.6 s; with a key frame every 10 s they take longer. */
  graceMs: 20_000,
  frozenMs: 5000,
  /** For a slow camera: ffmpeg passes nothing on before it has seen nine pictures. */
  patientGraceMs: 100_000,
  patientFrozenMs: 25_000,
  /** A timer that is later than this was held up, with all that waits to be read. */
  heldUpMs: 1000,
  killMs: 5000,
  backoffMs: [1000, 2000, 5000, 10_000, 30_000],
  /** A stream that was live for less has not recovered: the next delay is the longer one. */
  steadyMs: 10_000,
  jitterShare: 0.2,
  /** Cameras lock accounts, so credentials that never worked are tried this often, then rarely. */
  refusedTries: 3,
  refusedMs: 30 * 60_000,
  /** Credentials that worked can be refused because there are too many connections. */
  refusedAgain: { firstMs: 5000, longestMs: 5 * 60_000 },
  /** With the second or two until the first picture of an attempt, a camera that is back is seen within 3 s. */
  knockMs: 1000,
} as const

/** After these, nothing answers at the camera's address. */
const awayProblems: readonly Problem[] = ['unreachable', 'name-unknown']
/** After these the camera may have gone: a knock that is not answered shows it. */
const lossProblems: readonly Problem[] = ['closed', 'frozen', 'no-picture']

/** The connection before its first start. */
export const newConnection: Connection = {
  phase: { kind: 'offline' },
  failures: 0,
  refusals: 0,
  worked: false,
  knocked: false,
  isPatient: false,
  silence: newSilence(0, 0),
}

/** After these, ffmpeg may have given up a silent camera before the watchdog did, which this thread could not serve. */
const silentProblems: readonly Problem[] = ['closed', 'unreachable']

const afterSilence = (problem: Problem, silentMs: number): Problem =>
  silentMs >= times.frozenMs && silentProblems.includes(problem) ? 'frozen' : problem

/** Returns the connection after an event, and what to do. `chance`, from 0 up to 1, spreads the delays. */
export function step(connection: Connection, event: ConnectionEvent, nowMs: number, chance: number): Step {
  switch (event.kind) {
    case 'start':
      return start(connection, nowMs)
    case 'stop':
      return stop(connection, nowMs)
    case 'reconfigured':
      return reconfigured(connection, nowMs)
    case 'credentials':
      return credentials(connection, nowMs)
    case 'picture':
      return picture(connection, nowMs, event.agoMs)
    case 'broken':
      return broken(connection, event.problem)
    case 'ended':
      return ended(connection, event.problem, nowMs, chance)
    case 'knocked':
      return knocked(connection, event.answered, nowMs)
    case 'overslept':
      return overslept(connection, nowMs)
    case 'tick':
      return tick(connection, nowMs)
  }
}

/** Returns when the next tick is due, in monotonic milliseconds; undefined when time alone changes nothing. */
export function dueMs(connection: Connection): number | undefined {
  const { phase, isPatient } = connection
  switch (phase.kind) {
    case 'offline':
      return undefined
    case 'connecting':
      return Math.max(phase.sinceMs + (isPatient ? times.patientGraceMs : times.graceMs), listenedUntilMs(phase))
    case 'live':
      return Math.max(phase.lastPictureMs + frozenAfterMs(connection), listenedUntilMs(phase))
    case 'stalled':
    case 'stopping':
      return Number.isFinite(phase.killAtMs) ? phase.killAtMs : undefined
    case 'backing-off':
      return Math.min(phase.untilMs, phase.knockAtMs ?? Infinity)
  }
}

/** A slow camera is frozen when it has been silent for three times as long as it usually is. */
function frozenAfterMs({ isPatient, silence }: Connection): number {
  if (!isPatient) return times.frozenMs
  return Math.min(Math.max(3 * longestMs(silence), times.frozenMs), times.patientFrozenMs)
}

/** Until then no one has listened for long enough. */
const listenedUntilMs = ({ awakeMs = -Infinity }: { readonly awakeMs?: number }) => awakeMs + times.frozenMs

/** Says whether a process of this connection runs. */
export function hasProcess({ phase }: Connection): boolean {
  return phase.kind !== 'offline' && phase.kind !== 'backing-off'
}

function start(connection: Connection, nowMs: number): Step {
  const { phase } = connection
  switch (phase.kind) {
    case 'offline':
    case 'backing-off':
      return spawn({ ...connection, failures: 0, refusals: 0 }, nowMs)
    case 'stopping':
      return stay({ ...connection, phase: { ...phase, again: true } })
    case 'connecting':
    case 'live':
    case 'stalled':
      return stay(connection)
  }
}

function stop(connection: Connection, nowMs: number): Step {
  const { phase } = connection
  switch (phase.kind) {
    case 'offline':
      return stay(connection)
    case 'backing-off':
      return stay({ ...connection, phase: { kind: 'offline' } })
    case 'stopping':
      return stay({ ...connection, phase: { ...phase, again: false } })
    case 'stalled':
      return stay({ ...connection, phase: { kind: 'stopping', again: false, killAtMs: phase.killAtMs } })
    case 'connecting':
    case 'live':
      return terminate(connection, { kind: 'stopping', again: false, killAtMs: nowMs + times.killMs })
  }
}

function reconfigured(connection: Connection, nowMs: number): Step {
  const { phase } = connection
  const fresh = { ...newConnection, phase }
  switch (phase.kind) {
    case 'offline':
    case 'stopping':
      return stay(fresh)
    case 'backing-off':
      return spawn(fresh, nowMs)
    case 'stalled':
      return stay({ ...fresh, phase: { kind: 'stopping', again: true, killAtMs: phase.killAtMs } })
    case 'connecting':
    case 'live':
      return terminate(fresh, { kind: 'stopping', again: true, killAtMs: nowMs + times.killMs })
  }
}

function credentials({ phase, isPatient, silence }: Connection, nowMs: number): Step {
  const fresh = { ...newConnection, phase, isPatient, silence }
  return phase.kind === 'backing-off' ? spawn(fresh, nowMs) : stay(fresh)
}

function picture(connection: Connection, nowMs: number, agoMs: number): Step {
  const { phase } = connection
  const cameMs = nowMs - agoMs
  if (phase.kind === 'connecting') {
    const live: Phase = { kind: 'live', sinceMs: nowMs, lastPictureMs: cameMs }
    // Until it has shown how often its pictures come.
    const silence = newSilence(nowMs, times.patientFrozenMs / 3)
    return stay({ ...connection, phase: live, silence, refusals: 0, worked: true })
  }
  if (phase.kind !== 'live') return stay(connection)
  const steady = nowMs - phase.sinceMs >= times.steadyMs
  return stay({
    ...connection,
    phase: { ...phase, lastPictureMs: Math.max(phase.lastPictureMs, cameMs) },
    silence: noted(connection.silence, cameMs - phase.lastPictureMs, nowMs),
    failures: steady ? 0 : connection.failures,
  })
}

/** Kills the process at once: after SIGTERM it could stay busy for minutes. */
function broken(connection: Connection, problem: Problem): Step {
  const { kind } = connection.phase
  if (kind !== 'connecting' && kind !== 'live') return stay(connection)
  return { connection: { ...connection, phase: { kind: 'stalled', problem, killAtMs: Infinity } }, commands: ['kill'] }
}

function ended(connection: Connection, problem: Problem, nowMs: number, chance: number): Step {
  const { phase } = connection
  switch (phase.kind) {
    case 'offline':
    case 'backing-off':
      return stay(connection)
    case 'stopping':
      return phase.again ? spawn(connection, nowMs) : stay({ ...connection, phase: { kind: 'offline' } })
    case 'stalled':
      return backOff(connection, phase.problem, nowMs, chance)
    case 'connecting':
      return backOff(connection, problem, nowMs, chance)
    case 'live':
      return backOff(connection, afterSilence(problem, nowMs - phase.lastPictureMs), nowMs, chance)
  }
}

function tick(connection: Connection, nowMs: number): Step {
  const due = dueMs(connection)
  if (due === undefined || nowMs < due) return stay(connection)
  const { phase } = connection
  const listens = phase.kind === 'connecting' || phase.kind === 'live'
  if (listens && nowMs - due > times.heldUpMs) return overslept(connection, nowMs)
  switch (phase.kind) {
    case 'offline':
      return stay(connection)
    case 'connecting':
      return terminate(connection, { kind: 'stalled', problem: 'no-picture', killAtMs: nowMs + times.killMs })
    case 'live':
      return terminate(connection, { kind: 'stalled', problem: 'frozen', killAtMs: nowMs + times.killMs })
    case 'stalled':
    case 'stopping':
      return { connection: { ...connection, phase: { ...phase, killAtMs: Infinity } }, commands: ['kill'] }
    case 'backing-off':
      if (nowMs >= phase.untilMs) return spawn(connection, nowMs)
      return {
        connection: { ...connection, phase: { ...phase, knockAtMs: nowMs + times.knockMs } },
        commands: ['knock'],
      }
  }
}

/** Listens anew for as long as a silence may last: ffmpeg or this thread has yet to read the pictures that came meanwhile. */
function overslept(connection: Connection, nowMs: number): Step {
  const { phase } = connection
  if (phase.kind !== 'connecting' && phase.kind !== 'live') return stay(connection)
  return stay({ ...connection, phase: { ...phase, awakeMs: nowMs } })
}

/** Ends the wait when a camera that was away answers. One that answers all the time has another problem, and waits. */
function knocked(connection: Connection, answered: boolean, nowMs: number): Step {
  const { phase } = connection
  if (phase.kind !== 'backing-off') return stay(connection)
  if (!answered) return stay({ ...connection, phase: { ...phase, away: true } })
  if (!phase.away) return stay(connection)
  return spawn({ ...connection, failures: 0 }, nowMs, true)
}

function backOff(connection: Connection, problem: Problem, nowMs: number, chance: number): Step {
  const refused = problem === 'refused'
  const counted = {
    ...connection,
    isPatient: isPatientNext(connection, problem),
    failures: connection.failures + 1,
    refusals: refused ? connection.refusals + 1 : connection.refusals,
  }
  const delayMs = refused ? refusedDelayMs(counted) : atMost(times.backoffMs, counted.failures - 1)
  const spread = 1 + times.jitterShare * (2 * chance - 1)
  // An address that answers a knock and then is unreachable (a firewall that answers for it) starts no second attempt.
  const away = awayProblems.includes(problem) && !connection.knocked
  const knocks = awayProblems.includes(problem) || lossProblems.includes(problem)
  const gavePictures = connection.phase.kind === 'live' || problem === 'frozen'
  const knockAtMs = knocks ? nowMs + (gavePictures ? 0 : times.knockMs) : null
  return stay({
    ...counted,
    phase: { kind: 'backing-off', problem, untilMs: nowMs + delayMs * spread, knockAtMs, away },
  })
}

/**
 * Says whether the next attempt allows for a slow camera. It does after an attempt without a picture in which something answered,
 * and not after the next such attempt. A camera that was slow is expected to be slow again.
 */
function isPatientNext({ phase, isPatient, knocked, silence }: Connection, problem: Problem): boolean {
  const gaveNone = phase.kind === 'connecting' || problem === 'no-picture'
  if (!gaveNone) return isPatient && 3 * longestMs(silence) > times.frozenMs
  return !isPatient && (problem === 'no-picture' || (problem === 'unreachable' && knocked))
}

function refusedDelayMs({ worked, refusals, failures }: Connection): number {
  if (worked) return backoffMs(times.refusedAgain, refusals)
  return refusals < times.refusedTries ? atMost(times.backoffMs, failures - 1) : times.refusedMs
}

function atMost(delays: readonly number[], index: number): number {
  return delays[Math.min(index, delays.length - 1)] ?? 0
}

function spawn(connection: Connection, nowMs: number, knocked = false): Step {
  return { connection: { ...connection, phase: { kind: 'connecting', sinceMs: nowMs }, knocked }, commands: ['spawn'] }
}

function terminate(connection: Connection, phase: Phase): Step {
  return { connection: { ...connection, phase }, commands: ['terminate'] }
}

function stay(connection: Connection): Step {
  return { connection, commands: [] }
}
