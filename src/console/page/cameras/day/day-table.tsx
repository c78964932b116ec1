import type { Window } from '../../data/day-line.ts'
import { cameraTexts } from '../../i18n/camera-texts.ts'
import { hundredthsOf } from '../../i18n/counting.ts'
import { Said } from '../../i18n/said.tsx'
import { spanWords } from '../../i18n/story-words.ts'
import { Scroller } from '../../kit/scroller.tsx'
import { tuneTexts } from '../tune-texts.ts'
import type { Trial } from '../tune-trial.ts'
import { clockWords, endWords, whatWords } from './day-words.ts'
import type { Entry } from './entries.ts'

const words = cameraTexts.day

type TableProps = {
  entries: readonly Entry[] | undefined
  window: Window
  timeZone: string | undefined
  trial: Trial | undefined
  onPlay: (entry: Entry) => void
}

/** The same entries as on the line, as a table. */
export const DayTable = ({ entries, window, timeZone, trial, onPlay }: TableProps) => {
  if (!entries) return <p class="blank">{words.loading}</p>
  const clips = entries.filter(({ kind }) => kind === 'detection').length
  const [from, to] = [clockWords(window.fromMs, timeZone), endWords(window.toMs, timeZone)]
  const caption = words.table(clips, entries.length - clips, from, to)
  return entries.length === 0 ? (
    <p class="blank">{words.nothing}</p>
  ) : (
    <Scroller name={words.tableName}>
      <table class="day-table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {words.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.key} {...{ entry, timeZone, trial, onPlay }} />
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}

type RowProps = Pick<TableProps, 'timeZone' | 'trial' | 'onPlay'> & { entry: Entry }

const Row = ({ entry, timeZone, trial, onPlay }: RowProps) => {
  const from = clockWords(entry.fromMs, timeZone)
  const seconds = (entry.toMs - entry.fromMs) / 1000
  const verdict = entry.kind === 'detection' ? trial?.verdicts.get(entry.detection.id) : undefined
  const isPlayable = entry.kind === 'detection' && entry.detection.clipStatus === 'recorded'
  return (
    <tr>
      <th scope="row">{from}</th>
      <td>
        <Said words={whatWords(entry, timeZone)} />
        {verdict ? <span class={`verdict ${verdict}`}> ({tuneTexts.verdicts[verdict]})</span> : null}
      </td>
      <td>{seconds < 60 ? `${Math.round(seconds)} s` : spanWords(seconds * 1000)}</td>
      <td>
        {entry.kind === 'detection' ? (
          // A film of an event, and what the camera alone found, have no score.
          entry.detection.score === 0 ? null : (
            hundredthsOf(entry.detection.score)
          )
        ) : (
          <span lang="en">{entry.gap.detail ?? ''}</span>
        )}
      </td>
      <td>
        {isPlayable ? (
          <button type="button" aria-label={words.playAt(from)} onClick={() => onPlay(entry)}>
            {words.play}
          </button>
        ) : null}
      </td>
    </tr>
  )
}
