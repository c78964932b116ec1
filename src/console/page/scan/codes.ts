import { printable } from '../codes/scan-place.ts'
import { scanTexts as texts } from './texts.ts'

/** The acts; `VERIFIED` also disputes. */
export type Act = 'PLACED' | 'REMOVED' | 'move' | 'count' | 'VERIFIED'
/** A code, and whether a scanner read it: typed codes are no scan proof. */
export type Code = { readonly text: string; readonly isScanned: boolean }
/** The codes of a task. `found`: the pallets that a count found in the slot. */
export type Filled = {
  readonly pallet?: Code | undefined
  readonly slot?: Code | undefined
  readonly found: readonly Code[]
}
/** Says whether a code is the label of a slot; undefined where this device does not know the slots. */
export type IsSlot = ((text: string) => boolean) | undefined
/** A task with one more code. `problem`: why the code was not taken, or needs a check; '' for neither. */
export type Taken = { readonly filled: Filled; readonly problem: string }

export const nothing: Filled = { found: [] }

export const isEmpty = ({ pallet, slot, found }: Filled): boolean => !pallet && !slot && found.length === 0

/** Returns the acts that a role may record here. */
export function actsOf(role: string): readonly Act[] {
  if (role === 'viewer') return []
  return ['PLACED', 'REMOVED', 'move', 'count', ...(role === 'supervisor' ? (['VERIFIED'] as const) : [])]
}

/**
 * Puts a code where it belongs: the label of a slot to the slot, everything else to the pallet. Where the slots are not known the
 * pallet comes first. No code ever takes the place of another one. `act` undefined: it is not chosen yet. Pure.
 */
export function withCode(act: Act | undefined, filled: Filled, code: Code, isSlot: IsSlot): Taken {
  const { pallet, slot, found } = filled
  const name = printable(code.text)
  if ([pallet, slot, ...found].some((one) => one?.text === code.text)) return { filled, problem: '' }
  const isLabel = isSlot?.(code.text)
  if (act === 'count' && slot) {
    if (isLabel) return { filled, problem: texts.otherSlot(name, printable(slot.text)) }
    return { filled: { ...filled, found: [...found, code] }, problem: '' }
  }
  if (act === 'count' && isLabel === false && found.length > 0) {
    return { filled: { ...filled, found: [...found, code] }, problem: '' }
  }
  const isForSlot = isLabel ?? (act === 'count' || pallet !== undefined)
  const isFree = isForSlot ? !slot : !pallet
  if (isFree && !(act === 'count' && !isForSlot)) {
    return { filled: isForSlot ? { ...filled, slot: code } : { ...filled, pallet: code }, problem: '' }
  }
  // A slot may be newer than the labels on this device. The gateway decides, but the person is warned now.
  if (act && !slot && !isForSlot) return { filled: { ...filled, slot: code }, problem: texts.unknownSlot(name) }
  return { filled, problem: act ? texts.full(name) : texts.chooseFirst(name) }
}

/** Returns a task without this code of it. Pure. */
export function withoutCode({ pallet, slot, found }: Filled, { text }: Code): Filled {
  const kept = (code: Code | undefined) => (code?.text === text ? undefined : code)
  return { pallet: kept(pallet), slot: kept(slot), found: found.filter((one) => one.text !== text) }
}

/** Returns the codes scanned before the act was chosen, as that act needs them. Pure. */
export function beginning(act: Act, { pallet, slot, found }: Filled): Filled {
  return act === 'count' ? { slot, found: pallet ? [pallet] : found } : { pallet, slot, found: [] }
}
