import { get } from '../data/api.ts'
import { ask, Refused } from '../data/ask.ts'
import type { Heard } from '../data/heard.ts'
import type { ScanAnswer, Story, StoryStep } from '../data/shapes.ts'
import { findTexts as words } from '../i18n/find-texts.ts'

const pageSize = 200
const mostSteps = 1000

export type Found = {
  readonly code: string
  readonly answer: ScanAnswer | undefined
  readonly steps: readonly StoryStep[] | undefined
  /** Says which moves are not shown; empty when all are. */
  readonly leftOut: string
}

export async function findCode(code: string, at: string | undefined): Promise<Found> {
  const answer = await get('/api/whms/scan/{code}', { code })
  const isAsset = answer.matches.some(({ kind }) => kind === 'asset')
  const story = isAsset ? await storyOf(code, at === undefined ? '' : `&at=${encodeURIComponent(at)}`) : undefined
  return { code, answer, steps: story?.steps, leftOut: story?.leftOut ?? '' }
}

export async function findBySignature(code: string, signed: string): Promise<Found> {
  const { data, pagination } = await ask<Story>(`${storyPath(code)}&signed=${signed}`)
  return { code, answer: undefined, steps: data, leftOut: pagination.hasMore ? words.newerLeftOut : '' }
}

export const storyPath = (code: string) => `/api/whms/assets/${encodeURIComponent(code)}/story?limit=${pageSize}`

/** Returns the newest moves, oldest first, and says which are left out; undefined for a code that is no asset. */
async function storyOf(
  code: string,
  query: string,
): Promise<(Pick<Found, 'leftOut'> & { steps: StoryStep[] }) | undefined> {
  const path = `${storyPath(code)}${query}`
  try {
    let page = await ask<Story>(path)
    const { total } = page.pagination
    const older = Math.max(0, (total ?? 0) - mostSteps)
    if (older > 0) page = await ask<Story>(`${path}&offset=${older}`)
    const steps = [...page.data]
    // Events recorded meanwhile are read as well; only a story too long to count is read from its beginning.
    while (page.pagination.nextCursor !== null && (total !== null || steps.length < mostSteps)) {
      page = await ask<Story>(`${path}&cursor=${encodeURIComponent(page.pagination.nextCursor)}`)
      steps.push(...page.data)
    }
    const isCut = page.pagination.nextCursor !== null
    return { steps, leftOut: isCut ? words.newerLeftOut : older > 0 ? words.olderLeftOut(older) : '' }
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

/** An expiring link opens the story alone, whose steps have the time zone. */
export const zoneIn = ({ steps }: Found): string | undefined => steps?.at(-1)?.timezone

/** Whether a message of the gateway changes the result: a move of this pallet, or one in its slot. */
export function concerns(heard: Heard, found: Found | undefined): boolean {
  if (heard.kind === 'floor') return heard.data.layoutChanged
  if (heard.kind === 'unit')
    return (
      !found || found.answer?.matches.some(({ kind, id }) => kind === 'transport_unit' && id === heard.data.id) === true
    )
  if (heard.kind !== 'event') return false
  const { asset_barcode, asset_key, slot_id } = heard.data
  const asset = found?.answer?.matches.find(({ kind }) => kind === 'asset')?.asset
  const slot = found?.answer?.matches.find(({ kind }) => kind === 'slot')?.slot
  // Each event may be the first of an unknown code.
  if (!found || (!asset && !slot)) return true
  const names = new Set([
    ...[found.code, asset?.asset_id],
    ...(found.steps ?? []).flatMap(({ event }) => [event.asset_barcode, event.asset_key]),
  ])
  const isInSlot = slot_id === (slot?.id ?? found.steps?.at(-1)?.slot.id)
  return isInSlot || names.has(asset_barcode) || names.has(asset_key)
}
