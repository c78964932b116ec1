import type { Chance } from './chance.ts'
import type { Hall } from './hall.ts'
import type { Painter } from './movers.ts'

/** A disturbance of a camera that is no event. */
export type Disturbance = {
  /** Paints things in the hall, below people. */
  readonly under?: Painter
  /** Paints things between the hall and the camera, and light. */
  readonly over?: Painter
  /** Returns by how many points the camera has turned. */
  readonly shift?: (atMs: number) => readonly [number, number]
  /** Deviation of the sensor's noise, 0 to 255, instead of a usual one. */
  readonly grain?: number
  /** How strongly the noise of one frame stays in the next, 0 to 1. */
  readonly smear?: number
  /** Strength of the encoder's blocks, 0 to 255. */
  readonly blocks?: number
  /** Light of the hall, as a share, instead of full light. */
  readonly light?: number
}

export type MakeDisturbance = (chance: Chance, hall: Hall, durationMs: number) => Disturbance

/** Times from `firstMs` on, with a pause drawn for each. */
export function timesOf(durationMs: number, firstMs: number, pauseMs: () => number): number[] {
  const times: number[] = []
  for (let atMs = firstMs; atMs < durationMs; atMs += pauseMs()) times.push(atMs)
  return times
}

/** Returns a wind from 0 to 1 that comes in gusts. */
export function wind(chance: Chance, durationMs: number): (atMs: number) => number {
  const stepMs = 4000
  const levels = Array.from({ length: Math.ceil(durationMs / stepMs) + 2 }, () => chance.next() ** 1.5)
  return (atMs) => {
    const at = atMs / stepMs
    const before = levels[Math.floor(at)] ?? 0
    const after = levels[Math.floor(at) + 1] ?? 0
    return before + (after - before) * (at - Math.floor(at))
  }
}
