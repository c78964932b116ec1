import { useState } from 'preact/hooks'
import type { Webhook } from '../../data/shapes.ts'
import { webhooksTexts as words } from './texts.ts'

/** A webhook as it is answered while its secret is new: later no one can read that again. */
export type WithSecret = Webhook & { readonly secret?: string }

/** A new secret, until somebody hides it. */
export const Secret = ({ secret, url, onDone }: { secret: string; url: string; onDone: () => void }) => {
  const [said, setSaid] = useState('')
  return (
    <section class="card enrol-card" aria-labelledby="secret-title">
      <h2 id="secret-title">{words.secret}</h2>
      <p class="muted">{url}</p>
      <p>{words.secretHelp}</p>
      <p class="code">{secret}</p>
      <p class="box-acts">
        {/* Only where the page comes over HTTPS; else the text can be marked. */}
        {navigator.clipboard ? (
          <button
            type="button"
            onClick={() =>
              navigator.clipboard.writeText(secret).then(
                () => setSaid(words.copied),
                () => setSaid(words.notCopied),
              )
            }
          >
            {words.copy}
          </button>
        ) : null}
        <button type="button" class="strong" onClick={onDone}>
          {words.hide}
        </button>
        <span role="status">{said}</span>
      </p>
    </section>
  )
}
