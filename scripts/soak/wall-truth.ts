/** Compares the acts on the wall of cameras with the gateway's detections. */

export type Act = { readonly cameraId: number; readonly fromMs: number; readonly toMs: number }
export type Found = { readonly cameraId: number; readonly atMs: number; readonly clipStatus: string }
export type Fault = { readonly cameraId: number; readonly fromMs: number; readonly toMs: number }
export type Age = { readonly cameraId: number; readonly ageMs: number; readonly atMs: number }

export type WallFindings = {
  readonly events: number
  readonly missed: readonly string[]
  readonly false: readonly string[]
  /** Found events without a recorded clip. */
  readonly withoutClip: number
}

/** A detection may be this much earlier or later than the motion that it belongs to. */
const slackMs = 1500
/** A camera reports its newest picture once a second, and pictures come every 200 ms. */
const reportMs = 1200
const lateMs = 1000

const touches = (one: Fault, { cameraId, fromMs, toMs }: Act) =>
  one.cameraId === cameraId && one.fromMs < toMs + slackMs && one.toMs > fromMs - slackMs

/** Returns acts without a detection, and detections without an act. Leaves out everything that a fault touches. */
export function missedAndFalse(run: {
  acts: readonly Act[]
  found: readonly Found[]
  within: { fromMs: number; toMs: number }
  faulty: readonly Fault[]
}): WallFindings {
  const { acts, found, within, faulty } = run
  const isOf = (act: Act, one: Found) =>
    act.cameraId === one.cameraId && one.atMs >= act.fromMs - slackMs && one.atMs <= act.toMs + slackMs
  const counted = acts
    .filter(({ fromMs, toMs }) => fromMs >= within.fromMs && toMs <= within.toMs)
    .filter((act) => !faulty.some((fault) => touches(fault, act)))
  const ofNoAct = found
    .filter(({ atMs }) => atMs >= within.fromMs && atMs <= within.toMs)
    .filter((one) => !acts.some((act) => isOf(act, one)))
    .filter(({ cameraId, atMs }) => !faulty.some((fault) => touches(fault, { cameraId, fromMs: atMs, toMs: atMs })))
  const say = (cameraId: number, ms: number) => `camera ${cameraId} at ${new Date(ms).toISOString()}`
  return {
    events: counted.length,
    missed: counted
      .filter((act) => !found.some((one) => isOf(act, one)))
      .map(({ cameraId, fromMs }) => say(cameraId, fromMs)),
    false: ofNoAct.map(({ cameraId, atMs }) => say(cameraId, atMs)),
    withoutClip: counted.filter(
      (act) =>
        found.some((one) => isOf(act, one)) && !found.some((one) => isOf(act, one) && one.clipStatus === 'recorded'),
    ).length,
  }
}

/** Returns the share of samples whose newest picture was over a second late, 0 to 1. */
export function ages(samples: readonly Age[], faulty: readonly Fault[]): number {
  const counted = samples.filter(
    ({ cameraId, atMs }) => !faulty.some((one) => one.cameraId === cameraId && atMs >= one.fromMs && atMs <= one.toMs),
  )
  return counted.filter(({ ageMs }) => !(ageMs <= reportMs + lateMs)).length / Math.max(1, counted.length)
}
