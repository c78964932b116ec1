import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../data/ask.ts'
import type { ObjectDetection } from '../../data/shapes.ts'
import { gatewayWords } from '../../i18n/language.ts'
import { Said } from '../../i18n/said.tsx'
import type { Box } from './boxes.ts'
import { findObjects } from './finder.ts'
import { objectTexts as texts } from './texts.ts'

type Found = { readonly boxes: readonly Box[]; readonly width: number; readonly height: number }
export type Marking = { readonly isOn: boolean; readonly words: string; readonly found: Found | undefined }

export const noMarking: Marking = { isOn: false, words: '', found: undefined }

/** Loads what the gateway says of the object detection; undefined while it is switched off or unknown. */
export function useObjectDetection(isWanted: boolean): ObjectDetection | undefined {
  const [settings, setSettings] = useState<ObjectDetection | undefined>(undefined)
  useEffect(() => {
    if (!isWanted) return
    let isLeft = false
    ask<ObjectDetection>('/api/console/object-detection').then(
      (answer) => {
        if (!isLeft && answer.enabled) setSettings(answer)
      },
      // Live pictures are shown without it.
      () => undefined,
    )
    return () => {
      isLeft = true
    }
  }, [])
  return settings
}

type SwitchProps = {
  settings: ObjectDetection
  picture: () => HTMLVideoElement | HTMLCanvasElement | null
  marking: Marking
  onChange: (marking: Marking) => void
}

/** The switch of the marks, off at first; without a model, how to add one. */
export const ObjectSwitch = ({ settings, picture, marking, onChange }: SwitchProps) => {
  const { model, problem } = settings
  const { isOn, words } = marking
  useEffect(() => {
    if (!isOn || !model) return
    return findObjects({
      settings,
      model,
      picture,
      onReady: () => onChange({ isOn: true, words: texts.running(settings.fps), found: undefined }),
      onFound: (boxes, size) => onChange({ isOn: true, words: texts.running(settings.fps), found: { boxes, ...size } }),
      onFailed: (why) => onChange({ ...noMarking, words: texts.failed(gatewayWords(why)) }),
    })
  }, [isOn])
  if (!model) {
    return (
      <p class="muted">
        <Said words={problem === null ? texts.noModel : texts.badModel(gatewayWords(problem))} />
      </p>
    )
  }
  return (
    <div class="object-switch">
      <label>
        <input
          type="checkbox"
          checked={isOn}
          onInput={() => onChange(isOn ? noMarking : { isOn: true, words: texts.loading, found: undefined })}
        />
        {texts.mark}
      </label>
      <p class="muted" role="status">
        <Said words={words} />
      </p>
    </div>
  )
}

/** The boxes over a picture that fills its frame as far as it fits. Their names are read as one text. */
export const ObjectMarks = ({ found }: { found: Found | undefined }) => {
  if (!found) return null
  const { boxes, width, height } = found
  const letter = height / 22
  return (
    <svg
      class="object-marks"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      role="img"
      aria-label={texts.found(boxes.map(nameOf))}
    >
      {boxes.map((box, n) => {
        const [x, y] = [box.x * width, box.y * height]
        return (
          <g key={n} class="object-mark">
            <rect
              x={x}
              y={y}
              width={box.width * width}
              height={box.height * height}
              vector-effect="non-scaling-stroke"
            />
            <text x={x} y={y > letter * 1.3 ? y - letter * 0.3 : y + letter} font-size={letter}>
              {nameOf(box)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

const nameOf = ({ label, share }: Box) => texts.named(label, Math.round(share * 100))
