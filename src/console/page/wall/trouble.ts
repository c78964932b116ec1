import type { Slot } from '../data/shapes.ts'
import { gatewayWords } from '../i18n/language.ts'
import { wallTexts as words } from './texts.ts'

export type WallKnown = {
  readonly checks: Readonly<Record<string, { readonly status: string; readonly reason?: string }>>
  readonly cameras: readonly WallCamera[]
}
export type WallCamera = {
  readonly id: number
  readonly name: string
  readonly enabled: boolean
  readonly online: boolean
  readonly state: string
  readonly problem: string | null
  readonly scene: { readonly state: string } | null
  readonly impairment: { readonly why: string } | null
}
/** `id`: the same as long as it is the same trouble. */
export type WallTrouble = {
  readonly id: string
  readonly what: string
  readonly means: string
  readonly isWorst: boolean
}

const known: Readonly<Record<string, string>> = words.health
const scenes: Readonly<Record<string, string>> = words.scenes

/**
 * Returns what a whole hall should know, the worst first: what is wrong and what it means. Cameras are named one by one. Pure.
 */
export function wallTroubles({ checks, cameras }: WallKnown): readonly WallTrouble[] {
  const ofCameras = cameras.flatMap((camera): WallTrouble[] => {
    const [what, means] = wrongWith(camera)
    return what === undefined ? [] : [{ id: `camera ${camera.id}`, what, means, isWorst: false }]
  })
  const ofBox = Object.entries(checks).flatMap(([part, { status, reason }]): WallTrouble[] => {
    if (status === 'healthy' || (part === 'cameras' && ofCameras.length > 0)) return []
    // A part that this page does not know yet is in trouble as well.
    const what = Object.hasOwn(known, part) ? (known[part] ?? '') : words.other(part)
    const means = `${reason === undefined ? '' : gatewayWords(reason)} ${words.callAdmin}`.trim()
    return [{ id: part, what, means, isWorst: status === 'unhealthy' }]
  })
  return [...ofBox, ...ofCameras].toSorted((a, b) => Number(b.isWorst) - Number(a.isWorst))
}

/** Says what is wrong with a camera; nothing with one that is switched off, outside its hours or just connecting. */
function wrongWith(camera: WallCamera): [string | undefined, string] {
  const { name, enabled, online, state, problem, scene, impairment } = camera
  if (!enabled || state === 'off') return [undefined, '']
  if (!online) {
    const isStarting = state === 'connecting' && problem === null
    return [isStarting ? undefined : words.away(name), words.awayMeans]
  }
  const wrong = [scene?.state, impairment?.why].find((one) => one !== undefined && Object.hasOwn(scenes, one))
  return [wrong === undefined ? undefined : `${name}: ${scenes[wrong]}`, words.sceneMeans]
}

/** Returns what people of the floor still have to settle. Pure. @param odd contradictions by slot; undefined while they are not known */
export function openTasks(
  slots: readonly Slot[],
  odd: ReadonlyMap<number, string> | undefined,
): readonly WallTrouble[] {
  const disputed = slots.filter(({ isDisputed }) => isDisputed).length
  const tasks = [
    ['disputed', disputed, words.disputed],
    ['odd', odd?.size ?? 0, words.odd],
  ] as const
  return tasks.flatMap(([id, count, what]): WallTrouble[] =>
    count === 0 ? [] : [{ id, what: what(count), means: words.toSettle, isWorst: false }],
  )
}
