import { useRef } from 'preact/hooks'
import { get } from '../data/api.ts'
import { ask } from '../data/ask.ts'
import { askNewest, askPatiently } from '../data/asking.ts'
import type { Alert, List, Page } from '../data/shapes.ts'
import { useLive } from '../data/use-live.ts'
import { helpAddress } from '../help/help-places.ts'
import { alertTexts as words } from '../i18n/alert-texts.ts'
import { alertWords, toneOf } from '../i18n/alert-words.ts'
import { language } from '../i18n/language.ts'
import { texts } from '../i18n/texts.ts'
import { exactTime, whenWords } from '../i18n/words.ts'
import type { Act } from '../kit/acts.tsx'
import { follow } from '../kit/address.ts'
import { BoxFrame, SureButton, useBoxActs } from '../kit/box-frame.tsx'
import { boxTexts } from '../kit/box-texts.ts'
import { Icon } from '../kit/icons.tsx'
import type { ViewProps } from '../kit/views.ts'
import { PushCard } from '../push/push-card.tsx'
import type { PushState } from '../push/subscribe.ts'
import { type Channel, Channels, type Sent, SentMessages } from './channels.tsx'
import { type Silence, Silences } from './silences.tsx'

const pageSize = 30
/** Open ones wait for somebody, so all are shown unless there are very many. */
const openSize = 500

type Wanted = { readonly open: number; readonly past: number }

/** The alerts at `/alerts`: the open ones with what they mean and what to do, and those that were acknowledged. */
export const View = ({ siteId, caller, onLeft }: ViewProps) => {
  const wanted = useRef<Wanted>({ open: openSize, past: pageSize })
  const now = () => wanted.current ?? { open: openSize, past: pageSize }
  const { answer, ...asking } = useLive(
    () => load(now()),
    ['alert'],
    () => onLeft(texts.signedOut),
  )
  // They change on this page, or seldom by another admin.
  const settings = useLive(loadSettings, [], () => onLeft(texts.signedOut), { comesLive: () => true })
  const acts = useBoxActs(onLeft, () => {
    asking.reload()
    settings.reload()
  })
  const timeZone = settings.answer?.timeZone
  const mayAct = caller.permissions.includes('alerts:manage')
  const stored = answer?.open.data.filter(({ id }) => id > 0) ?? []
  const acknowledgeAll = async () => {
    try {
      for (const { id } of stored) await acknowledge(id)
    } catch (error) {
      // Some of them are off the list.
      asking.reload()
      throw error
    }
  }
  const more = (of: Partial<Wanted>) => {
    wanted.current = { ...now(), ...of }
    asking.reload()
  }
  return (
    <BoxFrame
      {...{ siteId, caller, onLeft, acts }}
      here="alerts"
      heading={words.title}
      said={answer && words.count(answer.open.pagination.total ?? answer.open.data.length)}
      stale={asking.problem || settings.problem}
    >
      {answer?.open.data.length === 0 ? <AllWell /> : null}
      {answer && answer.open.data.length > 0 ? (
        <section class="card" aria-labelledby="alerts-open">
          <div class="card-head">
            <h2 id="alerts-open">
              <Icon name="bell" /> {words.open}
            </h2>
            {mayAct && stored.length > 1 ? (
              <SureButton
                words={words.all(stored.length)}
                sure={words.allSure(stored.length)}
                about={stored.map(({ id }) => id).join()}
                isBusy={acts.isBusy}
                onSure={() => acts.act(acknowledgeAll, words.acknowledged)}
              />
            ) : null}
          </div>
          <ul class="box-list">
            {answer.open.data.map((alert) => (
              <Open key={alert.id} alert={alert} timeZone={timeZone} onAct={mayAct ? acts.act : undefined} />
            ))}
          </ul>
          <Older of={answer.open} onOlder={() => more({ open: now().open + openSize })} />
        </section>
      ) : null}
      {answer ? (
        <Past of={answer.past} timeZone={timeZone} onOlder={() => more({ past: now().past + pageSize })} />
      ) : null}
      {answer && settings.answer ? (
        <Messages {...answer} {...settings.answer} isBusy={acts.isBusy} act={acts.act} mayAct={mayAct} />
      ) : null}
    </BoxFrame>
  )
}

type MessagesProps = Pick<Loaded, 'channels' | 'sent'> &
  Settings & {
    isBusy: boolean
    act: Act
    mayAct: boolean
  }

/** Shows the channels, the sent messages and the times of planned work. */
const Messages = ({ channels, sent, silences, push, timeZone, isBusy, act, mayAct }: MessagesProps) => {
  const onAct = mayAct ? act : undefined
  return (
    <>
      <Channels {...{ timeZone, onAct }} channels={channels.data} />
      <PushCard state={push} isBusy={isBusy} onAct={act} />
      <Silences {...{ timeZone, isBusy, onAct }} silences={silences.data} />
      <SentMessages sent={sent} timeZone={timeZone} />
    </>
  )
}

type PastProps = { of: Page<Alert>; timeZone: string | undefined; onOlder: () => void }

const Past = ({ of, timeZone, onOlder }: PastProps) => (
  <section class="card" aria-labelledby="alerts-past">
    <h2 id="alerts-past">{words.past}</h2>
    {of.data.length === 0 ? <p class="blank">{words.nonePast}</p> : null}
    <ul class="rows">
      {of.data.map((alert) => (
        <li key={alert.id}>
          <span>
            <span lang="en">{alert.message}</span> <span class="muted">{exactTime(alert.createdAt, timeZone)}</span>
          </span>
          <span class="muted">{words.seenAt(exactTime(alert.acknowledgedAt ?? '', timeZone))}</span>
        </li>
      ))}
    </ul>
    <Older of={of} onOlder={onOlder} />
  </section>
)

type OlderProps = { of: Page<Alert>; onOlder: () => void }

const Older = ({ of, onOlder }: OlderProps) =>
  of.pagination.hasMore ? (
    <button type="button" onClick={onOlder}>
      {boxTexts.older}
    </button>
  ) : null

const acknowledge = (id: number) => askPatiently(`/api/alerts/${id}/acknowledge`, { method: 'POST' })

type Loaded = Awaited<ReturnType<typeof load>>
type Settings = Awaited<ReturnType<typeof loadSettings>>

async function load(wanted: Wanted) {
  const [open, past, channels, sent] = await Promise.all([
    askNewest<Alert>('/api/alerts?acknowledged=false', wanted.open),
    askNewest<Alert>('/api/alerts?acknowledged=true', wanted.past),
    ask<List<Channel>>('/api/alert-channels'),
    askNewest<Sent>('/api/alert-messages', pageSize),
  ])
  return { open, past, channels, sent }
}

async function loadSettings() {
  const [silences, push, warehouses] = await Promise.all([
    ask<List<Silence>>('/api/alert-silences'),
    ask<PushState>('/api/push-subscriptions'),
    get('/api/whms/warehouses', {}),
  ])
  return { silences, push, timeZone: warehouses.data[0]?.timezone }
}

const AllWell = () => (
  <section class="card all-well">
    <Icon name="verified" />
    <p>
      <strong>{words.allWell}</strong>
    </p>
    <p>{words.allWellNext}</p>
    <p>
      <a class="button" href="/system" onClick={follow}>
        {words.toSystem}
      </a>
    </p>
  </section>
)

type OpenProps = { alert: Alert; timeZone: string | undefined; onAct: Act | undefined }

const Open = ({ alert, timeZone, onAct }: OpenProps) => {
  const { means, todo } = alertWords(alert.kind)
  const tone = toneOf(alert.severity)
  return (
    <li class={tone}>
      <p class="box-what">
        <Icon name={tone === 'ok' ? 'verified' : 'warning'} /> <span lang="en">{alert.message}</span>{' '}
        <span class="muted">{whenWords(alert.createdAt, timeZone)}</span>
      </p>
      <p>
        <strong>{words.means}</strong> {means}
      </p>
      <p>
        <strong>{words.todo}</strong> {todo}
      </p>
      {tone === 'ok' ? null : (
        <p>
          <a href={helpAddress(['alerts', alert.kind], language)}>{words.more}</a>
        </p>
      )}
      {alert.id > 0 && onAct ? (
        <p class="box-acts">
          <button type="button" onClick={() => onAct(() => acknowledge(alert.id), words.acknowledged)}>
            {words.acknowledge}
          </button>
        </p>
      ) : null}
      {alert.id > 0 ? null : <p class="muted">{words.unstored}</p>}
    </li>
  )
}
