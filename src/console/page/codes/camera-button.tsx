import { useState } from 'preact/hooks'
import { Icon } from '../kit/icons.tsx'
import { cameraButtonTexts as texts } from './camera-button-texts.ts'

type CameraScan = typeof import('./camera-scan.tsx')['CameraScan']

export type Camera = {
  /** Opens the camera, or closes it. */
  readonly toggle: () => void
  /** The reader while the camera is open. */
  readonly View: CameraScan | undefined
  readonly close: () => void
}

/** Loads what reads codes by the camera when it is asked for the first time. `say` is called with what is wrong, or ''. */
export function useCamera(say: (words: string) => void): Camera {
  const [loaded, setLoaded] = useState<{ readonly View: CameraScan } | undefined>(undefined)
  const close = () => setLoaded(undefined)
  const toggle = () => {
    if (loaded) return close()
    say('')
    if (!isSecureContext || !navigator.mediaDevices) return say(texts.needsHttps)
    import('./camera-scan.tsx').then(
      ({ CameraScan }) => setLoaded({ View: CameraScan }),
      () => say(texts.notLoaded),
    )
    return undefined
  }
  return { toggle, close, View: loaded?.View }
}

/** The button that opens the camera. */
export const CameraButton = ({ camera, words }: { camera: Camera; words?: boolean }) => (
  <button
    type="button"
    class={words ? '' : 'square'}
    aria-label={words ? undefined : texts.open}
    aria-expanded={camera.View === undefined ? 'false' : 'true'}
    onClick={camera.toggle}
  >
    <Icon name="camera" /> {words ? texts.open : null}
  </button>
)
