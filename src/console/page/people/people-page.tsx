import { useEffect, useState } from 'preact/hooks'
import { ask } from '../data/ask.ts'
import { useLive } from '../data/use-live.ts'
import { texts } from '../i18n/texts.ts'
import { follow, keepsUnsaved } from '../kit/address.ts'
import { BoxFrame, useBoxActs } from '../kit/box-frame.tsx'
import type { ViewProps } from '../kit/views.ts'
import { PushCard } from '../push/push-card.tsx'
import { AccountRow, NewAccount } from './accounts.tsx'
import { OwnAccountCard } from './own-account.tsx'
import { loadPeople, type MadeAccount, type Named, type Sight } from './people-data.ts'
import { peopleTexts as words } from './people-texts.ts'
import { Sessions } from './sessions.tsx'
import { AskSight, SightCard } from './sight.tsx'

/** People at `/people`: the own account and sessions; for admins all accounts, and what each may see. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const manages = caller.permissions.includes('accounts:manage')
  const [made, setMade] = useState<MadeAccount | undefined>(undefined)
  const [sight, setSight] = useState<Sight | undefined>(undefined)
  const { answer, ...asking } = useLive(
    () => loadPeople(manages),
    [],
    () => onLeft(texts.signedOut),
  )
  const acts = useBoxActs(onLeft, asking.reload)
  const look = (name: string) =>
    acts.act(async () => setSight(await ask<Sight>(`/api/sight?name=${encodeURIComponent(name)}`)), words.sight(name))
  const counted =
    answer?.accounts === undefined
      ? words.ownCount(answer?.sessions.length ?? 0)
      : words.count(answer.accounts.length, answer.sessions.length)
  const shared = { isBusy: acts.isBusy, onAct: acts.act }
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="people"
      heading={words.title}
      said={answer && counted}
      stale={asking.problem}
    >
      {made ? <SecretCard made={made} onDone={() => setMade(undefined)} /> : null}
      {sight ? <SightCard sight={sight} /> : null}
      {answer ? (
        <>
          <OwnAccountCard {...shared} own={answer.own} onLeft={onLeft} />
          {answer.push === undefined ? null : <PushCard {...shared} state={answer.push} />}
          <Sessions {...shared} sessions={answer.sessions} managesAll={manages} />
          {answer.accounts === undefined ? null : (
            <>
              <section class="card" aria-labelledby="accounts-list">
                <h2 id="accounts-list">{words.accounts}</h2>
                <ul class="box-list">
                  {answer.accounts.map((account) => (
                    <AccountRow
                      {...shared}
                      key={`${account.source} ${account.username}`}
                      account={account}
                      url={caller.instance}
                      onSecret={setMade}
                      onLook={look}
                    />
                  ))}
                </ul>
              </section>
              <NewAccount {...shared} url={caller.instance} onSecret={setMade} />
              <Linked linked={answer.linked} onLook={look} />
              <AskSight onLook={look} />
            </>
          )}
        </>
      ) : null}
    </BoxFrame>
  )
}

/** The secret is shown once, so it stays until somebody hides it. */
const SecretCard = ({ made, onDone }: { made: MadeAccount; onDone: () => void }) => {
  useEffect(() => keepsUnsaved(() => confirm(words.leave)), [])
  return (
    <section class="card" aria-label={words.secretOf(made.username)}>
      <h2>{words.secretOf(made.username)}</h2>
      <p class="code">{made.secret}</p>
      <p>{words.secretHelp}</p>
      <p class="box-acts">
        <button type="button" class="strong" onClick={onDone}>
          {words.hide}
        </button>
      </p>
    </section>
  )
}

const Linked = ({ linked, onLook }: { linked: readonly Named[]; onLook: (name: string) => void }) => (
  <section class="card" aria-labelledby="linked-list">
    <h2 id="linked-list">{words.linked}</h2>
    {linked.length === 0 ? <p class="blank">{words.noLinked}</p> : null}
    <ul class="box-list">
      {linked.map(({ name, role, isDevice }) => (
        <li key={`${isDevice} ${name}`} class="ok">
          <p class="box-what">
            {name}{' '}
            <span class="muted">
              {isDevice ? words.device : words.badge} · {texts.roles[role] ?? role}
            </span>
          </p>
          <p class="box-acts">
            <button
              type="button"
              aria-label={`${words.look} ${name}`}
              onClick={() => onLook(isDevice ? `device:${name}` : name)}
            >
              {words.look}
            </button>
          </p>
        </li>
      ))}
    </ul>
    <p>
      <a href="/devices" onClick={follow}>
        {words.manageLinked}
      </a>
    </p>
  </section>
)
