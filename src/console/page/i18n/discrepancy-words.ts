import type { Discrepancy } from '../data/shapes.ts'
import { discrepancyTexts } from './discrepancy-texts.ts'
import { gatewayWords } from './language.ts'

type Facts = Pick<
  Discrepancy,
  'kind' | 'what' | 'todo' | 'otherSlot' | 'otherAssetBarcode' | 'countId' | 'lastPlacedHere'
>

/** Returns the problem and the next step. For an unknown kind, these are the words of the gateway. Pure. */
export function discrepancyWords({ kind, what, todo, otherSlot, otherAssetBarcode, countId, lastPlacedHere }: Facts): {
  readonly what: string
  readonly todo: string
} {
  const words = Object.hasOwn(discrepancyTexts, kind) ? discrepancyTexts[kind] : undefined
  if (!words) return { what: gatewayWords(what), todo: gatewayWords(todo) }
  const named = {
    slot: otherSlot?.slot_id,
    pallet: otherAssetBarcode ?? undefined,
    count: countId ?? undefined,
  }
  return { what: words.what(named), todo: (lastPlacedHere === false ? words.todoMoved : undefined) ?? words.todo }
}
