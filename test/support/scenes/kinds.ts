import { Chance } from './chance.ts'
import type { Disturbance, MakeDisturbance } from './disturbance.ts'
import { drawHall, type Hall } from './hall.ts'
import { clouds, dawn, flicker, headlights, lightSwitch, zoneLight } from './light.ts'
import { conveyor, curtain, fan, film, foliage, screen } from './machines.ts'
import { forklift, lorry, type Mover, type PersonLook, person } from './movers.ts'
import { insects, rain, shake, spider } from './weather.ts'

/** A scene of known truth. */
export type Scene = {
  readonly kind: KindName
  readonly seed: number
  readonly durationMs: number
  readonly hall: Hall
  readonly disturbance: Disturbance
  readonly movers: readonly Mover[]
  /** Nothing is counted before this time, while constant motion is learned. */
  readonly countFromMs: number
  /** Source of the random parts of each picture. */
  readonly chance: Chance
}

export type Group = 'people' | 'low' | 'very low' | 'small' | 'vehicles' | 'inside' | 'nothing' | 'headlights' | 'other'

type MakeMover = (chance: Chance, hall: Hall, fromMs: number) => Mover

type Kind = {
  readonly group: Group
  /** Undefined: nothing happens. */
  readonly mover?: MakeMover
  readonly disturbance?: MakeDisturbance
  /** Pause between movers; 12 to 20 s by default. */
  readonly pauseMs?: readonly [number, number]
  /** It moves all the time, and is learned before anything is counted. */
  readonly learned?: boolean
}

const somebody =
  (contrast: readonly [number, number], percent: readonly [number, number], pace = 1): MakeMover =>
  (chance, hall, fromMs) => {
    const look: PersonLook = { percent: chance.between(...percent), contrast: chance.between(...contrast), pace }
    return person(chance, hall, fromMs, look)
  }

const normal = [30, 80] as const
const low = [10, 14] as const
const veryLow = [6, 8] as const
const usual = [1, 5] as const
const night: MakeDisturbance = () => ({ grain: 4, smear: 0.5, light: 0.6 })
const still: MakeDisturbance = (chance) => ({ grain: chance.between(0.5, 2.5) })
const noisy: MakeDisturbance = (chance) => ({ grain: chance.between(2, 7), smear: chance.between(0, 0.7) })
const blocky: MakeDisturbance = (chance) => ({ blocks: chance.between(1, 4), grain: chance.between(0.5, 2) })

/** The kinds of scenes. The report lists a kind under its `group`. */
export const kinds = {
  'person 1-5 %': { group: 'people', mover: somebody(normal, usual) },
  'person 1 %': { group: 'people', mover: somebody(normal, [1, 1.1]) },
  'person 0.5 %': { group: 'small', mover: somebody(normal, [0.5, 0.6]) },
  'person who runs': { group: 'people', mover: somebody(normal, usual, 2.5) },
  'person, low contrast': { group: 'low', mover: somebody(low, usual) },
  'person 1 %, low contrast': { group: 'low', mover: somebody(low, [1, 1.3]) },
  'person, low contrast, blocks': { group: 'low', mover: somebody(low, usual), disturbance: blocky },
  'person, very low contrast': { group: 'very low', mover: somebody(veryLow, usual) },
  'person at night': { group: 'people', mover: somebody([25, 50], usual), disturbance: night },
  forklift: { group: 'vehicles', mover: forklift },
  lorry: { group: 'vehicles', mover: lorry },
  'busy aisle': { group: 'people', mover: somebody([25, 80], usual), pauseMs: [3000, 9000] },
  'person in flicker': { group: 'inside', mover: somebody(normal, usual), disturbance: flicker },
  'person in rain': { group: 'inside', mover: somebody(normal, usual), disturbance: rain },
  'person at dawn': { group: 'inside', mover: somebody(normal, usual), disturbance: dawn },
  'person before a fan': { group: 'inside', mover: somebody(normal, usual), disturbance: fan },
  'person before foliage': { group: 'inside', mover: somebody(normal, usual), disturbance: foliage },
  'person at a conveyor': { group: 'inside', mover: somebody(normal, usual), disturbance: conveyor },
  'person, camera shakes': { group: 'inside', mover: somebody(normal, usual), disturbance: shake },
  'person among insects': { group: 'inside', mover: somebody(normal, usual), disturbance: insects },
  noise: { group: 'nothing', disturbance: noisy },
  blocks: { group: 'nothing', disturbance: blocky },
  dawn: { group: 'nothing', disturbance: dawn },
  switch: { group: 'nothing', disturbance: lightSwitch },
  flicker: { group: 'nothing', disturbance: flicker },
  rain: { group: 'nothing', disturbance: rain },
  insects: { group: 'nothing', disturbance: insects },
  film: { group: 'nothing', disturbance: film },
  shake: { group: 'nothing', disturbance: shake },
  fan: { group: 'nothing', disturbance: fan, learned: true },
  conveyor: { group: 'nothing', disturbance: conveyor, learned: true },
  screen: { group: 'nothing', disturbance: screen, learned: true },
  foliage: { group: 'nothing', disturbance: foliage, learned: true },
  headlights: { group: 'headlights', disturbance: headlights },
  'light of a zone': { group: 'other', disturbance: zoneLight },
  clouds: { group: 'other', disturbance: clouds },
  curtain: { group: 'other', disturbance: curtain },
  spider: { group: 'other', disturbance: spider },
  // A seed belongs to a place in this list, so new kinds come last.
  'person at a screen': { group: 'inside', mover: somebody(normal, usual), disturbance: screen },
  'person under clouds': { group: 'inside', mover: somebody(normal, usual), disturbance: clouds },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kinds
export const kindNames = Object.keys(kinds) as KindName[]

/** A scene with movers begins with this much of nothing but its disturbance. */
const firstMoverMs = 40_000
const learnedMs = 120_000

/** Makes a scene; the same kind and seed make the same scene. Odd seeds are for development, even ones for reports. */
export function makeScene(name: KindName, seed: number, durationMs: number): Scene {
  const kind: Kind = kinds[name]
  const chance = new Chance(seed * 64 + kindNames.indexOf(name))
  const hall = drawHall(chance)
  const disturbance = (kind.disturbance ?? still)(chance, hall, durationMs)
  const [shortest, longest] = kind.pauseMs ?? [12_000, 20_000]
  const movers: Mover[] = []
  for (let atMs = firstMoverMs; kind.mover && atMs < durationMs - 12_000; ) {
    const mover = kind.mover(chance, hall, atMs)
    movers.push(mover)
    atMs = Math.ceil((mover.toMs + chance.between(shortest, longest)) / 200) * 200
    if (name === 'lorry') break
  }
  const countFromMs = kind.learned ? learnedMs : 0
  return { kind: name, seed, durationMs, hall, disturbance, movers, countFromMs, chance }
}
