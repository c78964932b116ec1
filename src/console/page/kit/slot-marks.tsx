import type { SlotStatus } from '../i18n/words.ts'
import { type IconName, iconPath } from './icons.tsx'

/** Each status has a separate mark besides its fill, so that colors are not needed. An empty slot has none. */
export const markOf: Record<SlotStatus, IconName | undefined> = {
  empty: undefined,
  occupied: 'occupied',
  verified: 'verified',
  disputed: 'disputed',
  retired: 'retired',
}

/** Shows the mark of a status in a line of text. */
export const StatusMark = ({ status }: { status: SlotStatus }) => {
  const mark = markOf[status]
  return (
    <svg class={`status-mark ${status}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect class="status-ground" x="1" y="1" width="22" height="22" rx="5" />
      {mark ? <path d={iconPath(mark)} transform="translate(4.8 4.8) scale(.6)" /> : null}
    </svg>
  )
}

/** Shows the corner that marks a contradiction, in a line of text. */
export const OddMark = () => (
  <svg class="status-mark odd" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <rect class="status-ground" x="1" y="1" width="22" height="22" rx="5" />
    <path class="odd-corner" d="M23 1v16L7 1z" />
  </svg>
)

export const fallbackColor = '#7a858e'
export const safeColor = (color: string | undefined) => (color && /^#[0-9a-f]{6}$/i.test(color) ? color : fallbackColor)
