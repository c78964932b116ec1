import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../i18n/texts.ts'
import { Field } from '../kit/box-frame.tsx'
import type { Seen, Sight } from './people-data.ts'
import { peopleTexts as words } from './people-texts.ts'

/** Warehouses, cameras and operations of one person or device, each with the rule that decides. */
export const SightCard = ({ sight }: { sight: Sight }) => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [sight])
  const role = texts.roles[sight.role] ?? sight.role
  return (
    <section class="card" aria-labelledby="sight-title">
      <h2 id="sight-title" tabindex={-1} ref={title}>
        {words.sight(sight.username)}
      </h2>
      <p class="muted">
        {role}
        {sight.groups.length > 0 ? ` · ${words.groups(sight.groups.join(', '))}` : ''}
      </p>
      <h3>{words.warehouses}</h3>
      <SeenList things={sight.warehouses.map((one) => ({ ...one, more: [] }))} />
      <h3>{words.cameras}</h3>
      <SeenList
        things={sight.cameras.map((one) => ({
          ...one,
          more: [...(one.control ? [words.control] : []), ...(one.export ? [words.export] : [])],
        }))}
      />
      <h3>{words.permissions}</h3>
      <p class="muted">{words.byRole(role)}</p>
      <ul class="box-list">
        {sight.routes
          .filter(({ operations }) => operations.length > 0)
          .map(({ permission, granted, operations }) => (
            <li key={permission} class={granted ? 'ok' : 'warn'}>
              <details>
                <summary>
                  <span class="code">{permission}</span>: {granted ? words.granted : words.notGranted} (
                  {operations.length})
                </summary>
                <ul>
                  {operations.map((operation) => (
                    <li key={operation} class="code">
                      {operation}
                    </li>
                  ))}
                </ul>
              </details>
            </li>
          ))}
      </ul>
    </section>
  )
}

const SeenList = ({ things }: { things: readonly (Seen & { more: readonly string[] })[] }) =>
  things.length === 0 ? (
    <p class="blank">{words.none}</p>
  ) : (
    <ul class="box-list">
      {things.map(({ id, name, seen, why, by, more }) => (
        <li key={id} class={seen ? 'ok' : 'warn'}>
          {name} <span class={`chip ${seen ? 'ok' : 'warn'}`}>{seen ? words.seen : words.unseen}</span>{' '}
          <span class="muted">{[words.whys[why], ...by, ...more].join(' · ')}</span>
        </li>
      ))}
    </ul>
  )

/** Asks for somebody who is in no list, such as a user of a storage server. */
export const AskSight = ({ onLook }: { onLook: (name: string) => void }) => {
  const name = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    const typed = name.current?.value.trim() ?? ''
    if (typed !== '') onLook(typed)
  }
  return (
    <form class="card" aria-labelledby="sight-of" onSubmit={submit}>
      <h2 id="sight-of">{words.another}</h2>
      <Field name="sight-name" label={words.anotherName} help={words.anotherHelp}>
        {(field) => (
          <input {...field} ref={name} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
        )}
      </Field>
      <p class="box-acts">
        <button type="submit">{words.show}</button>
      </p>
    </form>
  )
}
