import { useRef, useState } from 'preact/hooks'
import type { Shape } from '../../data/api.ts'
import { Refused } from '../../data/ask.ts'
import type { Webhook } from '../../data/shapes.ts'
import { gatewayWords } from '../../i18n/language.ts'
import { Said } from '../../i18n/said.tsx'
import type { Act } from '../../kit/acts.tsx'
import { Field } from '../../kit/box-frame.tsx'
import { wasSent } from '../../kit/typed.ts'
import { webhooksTexts as words } from './texts.ts'

export type EventType = Shape<'EventTypeOut'>

/** Returns the title of a group of types; of one that this page does not know, as the gateway writes it. */
const groupWords = (group: string): string =>
  (Object.hasOwn(words.groups, group) ? words.groups[group] : undefined) ?? gatewayWords(group)

type FormProps = {
  types: readonly EventType[]
  isBusy: boolean
  onAct: Act
  heading: string
  button: string
  done: string
  webhook?: Webhook
  onSend: (body: object) => Promise<void>
}

/** The form of a webhook: a new one, or (`webhook`) the settings of one. */
export const WebhookForm = ({ heading, button, done, webhook, types, isBusy, onAct, onSend }: FormProps) => {
  const [fields, setFields] = useState<ReadonlyMap<string, string>>(new Map())
  const form = useRef<HTMLFormElement>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!form.current) return
    const typed = new FormData(form.current)
    const secret = String(typed.get('secret') ?? '')
    const body = {
      url: String(typed.get('url') ?? '').trim(),
      events: typed.getAll('events'),
      checkpoint: typed.has('checkpoint'),
      ...(secret !== '' && { secret }),
    }
    const send = async () => {
      try {
        await onSend(body)
        setFields(new Map())
      } catch (error) {
        setFields(error instanceof Refused ? problemsOf(error) : new Map())
        throw error
      }
    }
    if (!(await onAct(send, done))) return
    if (webhook) wasSent(form.current)
    else form.current?.reset()
  }
  const groups = [...new Set(types.map(({ group }) => group))]
  return (
    <form class="card" ref={form} aria-labelledby="webhook-form" onSubmit={submit}>
      <h2 id="webhook-form">{heading}</h2>
      <Field name="url" label={words.url} help={words.urlHelp} problem={fields.get('url')}>
        {(field) => <input {...field} type="text" inputmode="url" autocomplete="off" defaultValue={webhook?.url} />}
      </Field>
      <fieldset class="box-choice">
        <legend>{words.events}</legend>
        <p class="problem" role="alert">
          <Said words={fields.get('events') ?? ''} />
        </p>
        <div class="event-types">
          {groups.map((group) => (
            <div key={group}>
              <p class="muted">
                <Said words={groupWords(group)} />
              </p>
              {types
                .filter((one) => one.group === group)
                .map(({ type, trigger }) => (
                  <label key={type} title={trigger} lang="en">
                    <input
                      type="checkbox"
                      name="events"
                      value={type}
                      defaultChecked={webhook?.events.includes(type) ?? false}
                    />
                    {type}
                  </label>
                ))}
            </div>
          ))}
        </div>
      </fieldset>
      <p>
        <label title={words.checkpointHelp}>
          <input type="checkbox" name="checkpoint" defaultChecked={webhook?.checkpoint ?? false} /> {words.checkpoint}
        </label>
      </p>
      {webhook ? null : (
        <Field name="secret" label={words.ownSecret} help={words.ownSecretHelp} problem={fields.get('secret')}>
          {(field) => <input {...field} type="password" autocomplete="new-password" />}
        </Field>
      )}
      <p class="box-acts">
        <button type="submit" class="strong" aria-disabled={isBusy ? 'true' : 'false'}>
          {button}
        </button>
      </p>
    </form>
  )
}

/** The refusals of addresses name no field; they are about the address. */
const problemsOf = ({ code, message, fields }: Refused): ReadonlyMap<string, string> =>
  code.startsWith('WEBHOOK_URL') ? new Map([['url', message]]) : fields
