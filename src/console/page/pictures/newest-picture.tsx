import { useEffect, useRef, useState } from 'preact/hooks'
import { cameraTexts as texts } from '../i18n/camera-texts.ts'

type Props = {
  camera: { readonly id: number; readonly name: string }
  isWanted: boolean
  onTaken?: (ms: number) => void
}

/** A picture is as large as the camera makes it, so one camera is asked after the other. */
const everyMs = 10_000
/** Before the next camera is asked: shortly at first, then so that a wall stays well within the rate limit of its viewer. */
const firstPauseMs = 300
const pauseMs = 1500

let queue: Promise<unknown> = Promise.resolve()

/** Runs after everything before it has ended; the next work waits for `restMs` more. */
function inTurn<T>(work: () => Promise<T>, restMs: number): Promise<T> {
  const mine = queue.then(work)
  const pause = () => new Promise((resolve) => setTimeout(resolve, restMs))
  queue = mine.then(pause, pause)
  return mine
}

/** The newest picture of a camera, taken anew every 10 s or more while it is wanted, on screen, and the page visible. */
export const NewestPicture = ({ camera, isWanted, onTaken }: Props) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [hasPicture, setPicture] = useState(false)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const place = canvas.current
    if (!isWanted || !place) return
    let isOver = false
    let isSeen = false
    let timer = 0
    let isAsking = false
    let isFirst = true
    const soon = (ms: number) => {
      clearTimeout(timer)
      if (!isOver) timer = window.setTimeout(look, ms)
    }
    const look = () => {
      if (isAsking || isOver || !isSeen || document.hidden) return
      isAsking = true
      const restMs = isFirst ? firstPauseMs : pauseMs
      isFirst = false
      inTurn(async () => {
        if (isOver || !isSeen) return
        const { bitmap, takenMs } = await newestPicture(camera.id)
        if (isOver) return
        place.width = bitmap.width
        place.height = bitmap.height
        place.getContext('2d')?.drawImage(bitmap, 0, 0)
        bitmap.close()
        setPicture(true)
        setProblem('')
        onTaken?.(takenMs)
      }, restMs)
        .catch(() => !isOver && setProblem(texts.noPicture))
        .finally(() => {
          isAsking = false
          soon(everyMs)
        })
    }
    const observer = new IntersectionObserver((seen) => {
      isSeen = seen.at(-1)?.isIntersecting ?? false
      if (isSeen) look()
    })
    observer.observe(place)
    document.addEventListener('visibilitychange', look)
    return () => {
      isOver = true
      clearTimeout(timer)
      observer.disconnect()
      document.removeEventListener('visibilitychange', look)
    }
  }, [isWanted])
  return (
    <>
      <canvas
        ref={canvas}
        class={hasPicture ? '' : 'empty'}
        width={640}
        height={360}
        role="img"
        aria-label={hasPicture ? texts.newestOf(camera.name) : texts.noPicture}
      />
      {problem && isWanted ? <p class="over-picture">{problem}</p> : null}
      {isWanted || hasPicture ? null : (
        <p class="no-picture" aria-hidden="true">
          {texts.noPicture}
        </p>
      )}
    </>
  )
}

/** Asks for the newest picture of a camera. Rejects when there is none. */
export async function newestPicture(id: number): Promise<{ bitmap: ImageBitmap; takenMs: number }> {
  const answer = await fetch(`/api/iot/cctv/${id}/snapshot`, { credentials: 'same-origin', cache: 'no-store' })
  if (!answer.ok) throw new Error(texts.noPicture)
  const takenMs = Date.parse(answer.headers.get('last-modified') ?? '')
  return { bitmap: await createImageBitmap(await answer.blob()), takenMs }
}
