import { useState } from 'preact/hooks'
import { type ListAnswer, sendList, whyOf } from '../../data/slot-list.ts'
import { Said } from '../../i18n/said.tsx'
import { inputOf } from '../../kit/field.ts'
import { planMakeTexts as words } from './make-texts.ts'

/** Problems of a list that are shown; the others are counted. */
const mostShown = 20

type Props = {
  readonly warehouseId: number
  /** Whether there are changes that are not saved. */
  readonly isUnsaved: boolean
  readonly onStored: () => Promise<void>
}

/** Reads a list of slots: tried at the gateway first, stored when somebody agrees. */
export const ListForm = ({ warehouseId, isUnsaved, onStored }: Props) => {
  const [file, setFile] = useState<Blob | undefined>(undefined)
  const [tried, setTried] = useState<ListAnswer | undefined>(undefined)
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState('')
  const send = async (list: Blob, dryRun: boolean) => {
    setProblem('')
    setNote(words.trying)
    try {
      const answer = await sendList(list, warehouseId, dryRun)
      setTried(dryRun ? answer : undefined)
      setNote(dryRun ? '' : words.stored)
      if (!dryRun) await onStored()
    } catch (error) {
      setNote('')
      setProblem(words.failed(whyOf(error)))
    }
  }
  const changes = (tried?.created ?? 0) + (tried?.updated ?? 0)
  return (
    <div class="plan-make">
      <p class="muted">{words.listHelp}</p>
      <label>
        <span>{words.file}</span>
        <input
          type="file"
          accept=".csv,text/csv,text/plain"
          onInput={(event: Event) => {
            const [chosen] = inputOf(event).files ?? []
            setFile(chosen)
            setTried(undefined)
            if (chosen) void send(chosen, true)
          }}
        />
      </label>
      {tried?.ok ? (
        <>
          <p>
            {words.tried(tried.created, tried.updated, tried.unchanged)}{' '}
            {tried.zonesCreated.length === 0 ? '' : words.newZones(tried.zonesCreated.join(', '))}
          </p>
          {isUnsaved ? <p class="problem">{words.saveFirst}</p> : null}
          <button
            type="button"
            class="strong"
            aria-disabled={changes === 0 || isUnsaved ? 'true' : 'false'}
            onClick={() => file && changes > 0 && !isUnsaved && send(file, false)}
          >
            {words.takeList}
          </button>
        </>
      ) : null}
      <p role="status">{note}</p>
      <div role="alert">
        {problem === '' ? null : (
          <p class="problem">
            <Said words={problem} />
          </p>
        )}
        {tried && !tried.ok ? <Problems of={tried} /> : null}
      </div>
    </div>
  )
}

const Problems = ({ of }: { readonly of: ListAnswer }) => (
  <>
    <p class="problem">{words.problems(of.problemCount)}</p>
    <ul>
      {of.problems.slice(0, mostShown).map(({ line, column, message }, index) => (
        <li key={index}>
          <strong>{words.line(line, column ?? '')}</strong>: <span lang="en">{message}</span>
        </li>
      ))}
    </ul>
  </>
)
