import type { Box } from '../hall/geometry.ts'
import { Icon } from '../kit/icons.tsx'
import { planMakeTexts } from './make/make-texts.ts'
import { planTexts as words } from './texts.ts'

const handlePx = 24
const zoomStep = 1.6

type FrameProps = {
  readonly name: string
  readonly shown: Box
  readonly onPress: (event: KeyboardEvent, kind: 'move' | 'size') => void
}

/** The frame around what is chosen, and the corner that resizes it. */
export const Frame = ({ name, shown, onPress }: FrameProps) => (
  <>
    {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
    <rect
      class="frame"
      role="button"
      tabindex={0}
      aria-label={words.frame(name)}
      data-kind="move"
      x={shown.x}
      y={shown.y}
      width={Math.max(shown.width, 1)}
      height={Math.max(shown.height, 1)}
      onKeyDown={(event: KeyboardEvent) => onPress(event, 'move')}
    />
    {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons of HTML. */}
    <rect
      class="corner"
      role="button"
      tabindex={0}
      aria-label={words.corner(name)}
      data-kind="size"
      x={shown.x + shown.width}
      y={shown.y + shown.height}
      width={handlePx}
      height={handlePx}
      rx={5}
      onKeyDown={(event: KeyboardEvent) => onPress(event, 'size')}
    />
  </>
)

type ZoomProps = {
  readonly isWhole: boolean
  readonly onZoom: (factor: number) => void
  readonly onWhole: () => void
}

export const ZoomButtons = ({ isWhole: isAll, onZoom, onWhole }: ZoomProps) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="zoom" role="group" aria-label={planMakeTexts.zoom}>
    <button
      type="button"
      class="square"
      aria-label={planMakeTexts.zoomOut}
      aria-disabled={isAll ? 'true' : 'false'}
      onClick={() => onZoom(1 / zoomStep)}
    >
      <Icon name="farther" />
    </button>
    <button type="button" aria-disabled={isAll ? 'true' : 'false'} onClick={onWhole}>
      <Icon name="whole" /> {planMakeTexts.whole}
    </button>
    <button type="button" class="square" aria-label={planMakeTexts.zoomIn} onClick={() => onZoom(zoomStep)}>
      <Icon name="closer" />
    </button>
  </div>
)
