import type { FloorUse } from '../data/floor-use.ts'
import { wholePercent } from '../data/floor-use.ts'
import type { Zone } from '../data/shapes.ts'
import { numberWords } from '../i18n/counting.ts'
import { Scroller } from '../kit/scroller.tsx'
import { floorTexts } from './floor-texts.ts'

const words = floorTexts.numbers

type Props = { utilization: FloorUse | undefined; disputed: number | undefined; zones: readonly Zone[] }

/** Shows how full the warehouse is, in numbers. */
export const Numbers = ({ utilization, disputed, zones }: Props) => (
  <section class="numbers" aria-label={words.title}>
    <Tile
      label={words.inUse}
      value={utilization && numberWords(utilization.occupiedSlots)}
      of={utilization && words.of(numberWords(utilization.totalSlots))}
    />
    <Tile label={words.utilization} value={utilization && `${wholePercent(utilization.utilizationPercent)}`} of="%" />
    <Tile
      label={words.unverified}
      value={utilization && numberWords(utilization.pendingVerifications)}
      tone={utilization && utilization.pendingVerifications > 0 ? 'warn' : undefined}
    />
    <Tile
      label={words.disputed}
      value={disputed === undefined ? undefined : numberWords(disputed)}
      tone={disputed ? 'danger' : undefined}
    />
    <div class="tile by-zone">
      <h2>{words.byZone}</h2>
      <Scroller name={words.inUseByZone}>
        <ul>
          {(utilization?.byZone ?? []).map(({ zone, occupied, total }) => (
            <li key={zone}>
              <span class="name">{zone}</span>
              <svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect class="meter-all" width="100" height="10" />
                <rect width={total === 0 ? 0 : (occupied / total) * 100} height="10" fill={colorOf(zone, zones)} />
              </svg>
              <span class="count">
                {occupied}
                <span class="muted"> / {total}</span>
              </span>
            </li>
          ))}
        </ul>
      </Scroller>
    </div>
  </section>
)

type Words = string | undefined

const Tile = ({ label, value, of, tone }: { label: string; value: Words; of?: Words; tone?: Words }) => (
  <div class={tone ? `tile ${tone}` : 'tile'}>
    <h2>{label}</h2>
    <p>
      <span class="value">{value ?? '–'}</span> {value === undefined ? null : <span class="muted">{of}</span>}
    </p>
  </div>
)

const colorOf = (name: string, zones: readonly Zone[]) => zones.find((zone) => zone.name === name)?.color ?? '#808a93'
