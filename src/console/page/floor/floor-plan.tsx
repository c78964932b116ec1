import { useMemo, useRef, useState } from 'preact/hooks'
import type { Warehouse } from '../data/shapes.ts'
import type { PlanControl } from '../hall/control.ts'
import { Legend } from '../hall/legend.tsx'
import { HelpLink } from '../help/help-link.tsx'
import { texts } from '../i18n/texts.ts'
import { follow } from '../kit/address.ts'
import { textOf } from '../kit/field.ts'
import { Icon } from '../kit/icons.tsx'
import { type Control, type Drawn, DrawnPlan, type ShownHall } from './drawn-plan.tsx'
import { floorTexts } from './floor-texts.ts'

type Props = ShownHall & {
  warehouses: readonly Warehouse[]
  onWarehouse: (id: number) => void
  isOddKnown: boolean
  isKnown: boolean
  isPast: boolean
  /** Whether the caller may make slots. */
  mayMake: boolean
}

/** Draws the hall from above: zones in their colors, slots with their status. */
export const FloorPlan = (props: Props) => {
  const { warehouses, warehouse, onWarehouse, slots, odd, isOddKnown, isKnown, isPast, mayMake, chosen } = props
  const [drawn, setDrawn] = useState<Drawn>({ isWhole: true, isNearest: false })
  const control = useRef<PlanControl | null>(null)
  const last = useRef<Drawn>(drawn)
  // Called in each frame while the plan is moved: the buttons are drawn again only when they change.
  const onDrawn = (now: Drawn) => {
    if (last.current?.isWhole === now.isWhole && last.current.isNearest === now.isNearest) return
    last.current = now
    setDrawn(now)
  }
  const shown = useMemo(
    () => slots.filter((slot) => slot.retiredAt === null || slot.isOccupied || slot.id === chosen),
    [slots, chosen],
  )
  return (
    <section class={isPast ? 'card floor past' : 'card floor'} id="floor" tabindex={-1} aria-labelledby="floor-title">
      <div class="card-head">
        <h2 id="floor-title">{warehouse?.name ?? floorTexts.title}</h2>
        {warehouses.length > 1 ? (
          <label class="choice">
            <span>{floorTexts.warehouse}</span>
            <select onInput={(event: Event) => onWarehouse(Number(textOf(event)))}>
              {warehouses.map((one) => (
                <option key={one.id} value={one.id} selected={one.id === warehouse?.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        {shown.length > 0 ? <ZoomButtons drawn={drawn} control={control} /> : null}
      </div>
      {shown.length > 0 ? (
        <DrawnPlan {...props} slots={shown} drawn={drawn} onDrawn={onDrawn} control={control} />
      ) : isKnown ? (
        <NoSlots mayMake={mayMake} isPast={isPast} />
      ) : (
        <p class="blank tall">{texts.loading}</p>
      )}
      <Legend slots={shown} odd={isOddKnown ? odd : undefined} />
    </section>
  )
}

/** Says what comes next; who may make slots gets the way there. On a floor of the past nothing comes next. */
const NoSlots = ({ mayMake, isPast }: { mayMake: boolean; isPast: boolean }) => (
  <div class="blank tall">
    <p>
      {isPast
        ? floorTexts.emptyThen
        : [floorTexts.empty, mayMake ? floorTexts.emptyNext : floorTexts.emptyWaits].join(' ')}
    </p>
    {mayMake && !isPast ? (
      <p>
        <a class="button" href="/plan" onClick={follow}>
          {floorTexts.toEditor}
        </a>{' '}
        <HelpLink to="slots" />
      </p>
    ) : null}
  </div>
)

/** Shows the zoom buttons, which keep the focus, also at the last step. */
const ZoomButtons = ({ drawn, control }: { drawn: Drawn; control: Control }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="zoom" role="group" aria-label={floorTexts.size}>
    <button
      type="button"
      class="square"
      aria-label={floorTexts.zoomOut}
      aria-disabled={drawn.isWhole ? 'true' : 'false'}
      onClick={() => control.current?.farther()}
    >
      <Icon name="farther" />
    </button>
    <button type="button" aria-disabled={drawn.isWhole ? 'true' : 'false'} onClick={() => control.current?.whole()}>
      <Icon name="whole" /> {floorTexts.whole}
    </button>
    <button
      type="button"
      class="square"
      aria-label={floorTexts.zoomIn}
      aria-disabled={drawn.isNearest ? 'true' : 'false'}
      onClick={() => control.current?.nearer()}
    >
      <Icon name="closer" />
    </button>
  </div>
)
