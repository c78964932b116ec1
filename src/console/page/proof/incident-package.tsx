import { useEffect, useRef, useState } from 'preact/hooks'
import { errorMessage } from '../../../platform/faults.ts'
import { Refused } from '../data/ask.ts'
import { incidentsApi } from '../data/incident-data.ts'
import { locale } from '../i18n/language.ts'
import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'
import { download, sizeWords } from '../kit/download.ts'
import { Icon } from '../kit/icons.tsx'
import { incidentTexts as words } from './incident-texts.ts'

type Props = { id: number; words: string; of?: string; strong?: boolean; onLeft: (why: string) => void }

/**
 * A button that downloads the package of an incident, and shows the received bytes. The final size is not known before. `of`:
 * name of the incident, for people who hear the button and do not see its place.
 */
export const MakePackage = ({ id, words: name, of, strong = false, onLeft }: Props) => {
  const [state, setState] = useState('')
  const [problem, setProblem] = useState('')
  const [isGoing, setGoing] = useState(false)
  const stop = useRef<AbortController | null>(null)
  useEffect(() => () => stop.current?.abort(), [])
  const make = async () => {
    const stopping = new AbortController()
    stop.current = stopping
    setGoing(true)
    setProblem('')
    setState(words.packageStarts)
    let shownMs = performance.now()
    const onBytes = (bytes: number) => {
      // A screen reader would read each of a thousand parts.
      if (performance.now() - shownMs < 1000) return
      shownMs = performance.now()
      setState(words.packageGoes(sizeWords(bytes, locale)))
    }
    try {
      const { name, bytes } = await download(`${incidentsApi}/${id}/package`, { onBytes, signal: stopping.signal })
      setState(words.packageDone(name, sizeWords(bytes, locale)))
    } catch (error) {
      setState(stopping.signal.aborted ? words.packageStopped : '')
      if (error instanceof Refused && error.isSignedOut) onLeft(texts.signedOut)
      else if (!stopping.signal.aborted) setProblem(words.packageFailed(errorMessage(error)))
    } finally {
      setGoing(false)
    }
  }
  const which = of === undefined ? null : <span class="unseen">: {of}</span>
  return (
    <>
      {isGoing ? (
        <button type="button" onClick={() => stop.current?.abort()}>
          {words.stop}
          {which}
        </button>
      ) : (
        <button type="button" class={strong ? 'strong' : undefined} onClick={() => void make()}>
          <Icon name="proof" /> {name}
          {which}
        </button>
      )}
      <p role="status">{state}</p>
      <p class="problem" role="alert">
        <Said words={problem} />
      </p>
    </>
  )
}
