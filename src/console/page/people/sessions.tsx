import { ask } from '../data/ask.ts'
import { whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { SureButton } from '../kit/box-frame.tsx'
import type { OpenSession } from './people-data.ts'
import { peopleTexts as words } from './people-texts.ts'

type Props = { sessions: readonly OpenSession[]; managesAll: boolean; isBusy: boolean; onAct: Act }

/** Open sessions of the console: the own ones, for admins those of everybody. */
export const Sessions = ({ sessions, managesAll, isBusy, onAct }: Props) => {
  const endMany = (body: object) =>
    onAct(
      () => ask<{ ended: number }>('/api/sessions/end', { method: 'POST', body }),
      ({ ended }) => words.ended(ended),
    )
  return (
    <section class="card" aria-labelledby="sessions-list">
      <h2 id="sessions-list">{words.openSessions}</h2>
      <ul class="box-list">
        {sessions.map(({ id, username, address, createdAt, current }) => (
          <li key={id} class="ok">
            <p class="box-what">
              {username} {current ? <span class="chip ok">{words.thisOne}</span> : null}
            </p>
            <p class="muted">{words.since(whenWords(createdAt, undefined), address ?? '?')}</p>
            {current ? null : (
              <p class="box-acts">
                <button
                  type="button"
                  aria-label={`${words.end}: ${username}, ${address ?? '?'}`}
                  onClick={() => onAct(() => ask(`/api/sessions/${id}`, { method: 'DELETE' }), words.ended(1))}
                >
                  {words.end}
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
      <p class="box-acts">
        <SureButton words={words.endOthers} sure={words.endOthersSure} isBusy={isBusy} onSure={() => endMany({})} />
        {managesAll ? (
          <SureButton
            words={words.endAll}
            sure={words.endAllSure}
            isBusy={isBusy}
            onSure={() => endMany({ all: true })}
          />
        ) : null}
      </p>
    </section>
  )
}
