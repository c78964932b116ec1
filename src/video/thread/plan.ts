/**
 * Derives the parts of a camera from its settings: how much is stored, which streams run, and which of them a change replaces. No
 * state, no clock.
 */

import type { CameraSettings, MotionOptions } from '../messages.ts'
import type { DetectorSettings } from '../motion/detector.ts'
import type { StreamPlan } from '../stream/stream.ts'

/** The ring keeps this much more than the pre-roll: the time from the start of motion to its clip, with that of a sleeping decoder. */
const ringSlackMs = 4500
/** The same for the film of an event: a scanner sends it some seconds late. */
const filmSlackMs = 5000

/** Returns how much of the past the ring of the recorded stream keeps, in milliseconds. */
export function ringKeepMs({ motion, filmSeconds }: CameraSettings): number {
  const filmMs = filmSeconds === 0 ? 0 : filmSeconds * 1000 + filmSlackMs
  return Math.max(motion.preRecordSeconds * 1000 + ringSlackMs, filmMs)
}

/** Returns the stream whose video is kept continuously; undefined: none is. */
export function keptStream({ history, detectUrl }: CameraSettings): 'main' | 'sub' | undefined {
  if (!history.isOn) return undefined
  return history.stream === 'sub' && detectUrl !== null ? 'sub' : 'main'
}

/** Says whether motion is found in the pictures, so that they are decoded. */
export function isJudging({ detecting, events }: Pick<CameraSettings, 'detecting' | 'events'>): boolean {
  return detecting && events?.source !== 'camera'
}

/** Returns which streams run. */
export function wantedStreams(settings: CameraSettings): { readonly main: boolean; readonly detect: boolean } {
  const { detecting, streaming, detectUrl } = settings
  const kept = keptStream(settings)
  return {
    main: detecting || streaming || kept === 'main',
    detect: (isJudging(settings) && detectUrl !== null) || kept === 'sub',
  }
}

/** Returns the source of the recorded stream, and whether it is judged. `readSecret` is called before each attempt. */
export function mainPlan(settings: CameraSettings, readSecret: (path: string) => string): StreamPlan {
  const { url, detectUrl } = settings
  return planOf(settings, readSecret, url, isJudging(settings) && detectUrl === null)
}

/** Returns those of the stream for detection. */
export function detectPlan(settings: CameraSettings, readSecret: (path: string) => string): StreamPlan {
  return planOf(settings, readSecret, settings.detectUrl ?? settings.url, isJudging(settings))
}

function planOf(
  { username, passwordFile }: CameraSettings,
  readSecret: (path: string) => string,
  url: string,
  isJudged: boolean,
): StreamPlan {
  const password = () => (passwordFile === null ? null : readSecret(passwordFile))
  return { source: () => ({ url, username, password: password() }), isJudged }
}

/** Returns the settings of the detector, in milliseconds. */
export function detectorSettings(
  motion: Pick<MotionOptions, 'sensitivity' | 'cooldownSeconds' | 'preRecordSeconds' | 'postRecordSeconds'>,
): DetectorSettings {
  return {
    sensitivity: motion.sensitivity,
    cooldownMs: motion.cooldownSeconds * 1000,
    preRecordMs: motion.preRecordSeconds * 1000,
    postRecordMs: motion.postRecordSeconds * 1000,
  }
}

/** Says which parts a change of settings affects: the judged part of the picture, and the process of either stream. */
export function changed(
  before: CameraSettings,
  now: CameraSettings,
): { readonly area: boolean; readonly main: boolean; readonly detect: boolean } {
  const differs = (part: (settings: CameraSettings) => unknown) =>
    JSON.stringify(part(before)) !== JSON.stringify(part(now))
  return { area: differs(areaOf), main: differs(mainPart), detect: differs(detectPart) }
}

function areaOf({ motion }: CameraSettings): unknown {
  return [motion.masks, motion.zones]
}

function mainPart(settings: CameraSettings): unknown {
  const { url, username, passwordFile, detectUrl } = settings
  return [url, username, passwordFile, isJudging(settings) && detectUrl === null]
}

function detectPart(settings: CameraSettings): unknown {
  const { detectUrl, username, passwordFile } = settings
  const isKept = keptStream(settings) === 'sub'
  return [detectUrl, username, passwordFile, isKept, isKept && isJudging(settings)]
}
