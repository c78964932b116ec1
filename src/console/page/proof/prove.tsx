import { useState } from 'preact/hooks'
import { errorMessage } from '../../../platform/faults.ts'
import { type BundleVerdict, checkBundle, type HashedFile, hashedBytes } from '../../../proof/index.ts'
import { ask, Refused } from '../data/ask.ts'
import { Said } from '../i18n/said.tsx'
import { Icon } from '../kit/icons.tsx'
import { proofWords } from './proof-words.ts'
import { proveTexts as words } from './prove-texts.ts'

type Bundle = { readonly media: readonly { readonly sha256: string; readonly kind: string }[] }
type LogKeys = { readonly logKey: string; readonly logKeyPostQuantum: string }
type Proven = { readonly text: string; readonly verdict: BundleVerdict | undefined; readonly vkey: string | undefined }

const tries = 5

/** A button that fetches the proof of an event and checks it in this browser, step by step. */
export const Prove = ({ eventId, name }: { eventId: number; name: string }) => {
  const [proven, setProven] = useState<Proven | undefined>(undefined)
  const [said, setSaid] = useState('')
  const [isBusy, setBusy] = useState(false)
  const prove = async () => {
    if (isBusy) return
    setBusy(true)
    setSaid(words.fetching)
    try {
      setProven(await proofOf(eventId, () => setSaid(words.beingSigned)))
      setSaid('')
    } catch (error) {
      setSaid(words.failed(errorMessage(error)))
    }
    setBusy(false)
  }
  return (
    <div class="prove">
      <button type="button" aria-disabled={isBusy ? 'true' : 'false'} onClick={prove}>
        <Icon name="proof" /> {words.prove}
        <span class="unseen">: {name}</span>
      </button>
      <p role="status">
        <Said words={said} />
      </p>
      {proven ? <Verdict proven={proven} eventId={eventId} /> : null}
    </div>
  )
}

const Verdict = ({ proven: { text, verdict, vkey }, eventId }: { proven: Proven; eventId: number }) => (
  <section class="verdict" aria-label={words.proofOf(eventId)}>
    {verdict ? (
      <>
        <p class={`badge ${verdict.ok ? 'verified' : 'disputed'}`}>
          <Icon name={verdict.ok ? 'verified' : 'disputed'} /> {verdict.ok ? summaryOf(verdict) : words.fails}
        </p>
        <ol class="proof-lines">
          {verdict.findings.map((line) => (
            <li key={line.step} class={line.state.replace(' ', '-')}>
              <strong>{words.steps[line.step]}</strong> <span class="proof-state">{words.states[line.state]}</span>
              {line.words === '' ? null : (
                <span class="code">
                  <Said words={proofWords(line.words)} />
                </span>
              )}
            </li>
          ))}
        </ol>
        <p class="muted">
          {words.checkedWith} <span class="code">{vkey}</span>. {words.compare}
        </p>
      </>
    ) : (
      <p>
        {words.onlyHttps} <code>gatehouse ledger verify</code>.
      </p>
    )}
    <button type="button" onClick={() => download(text, `event-${eventId}.proof.json`)}>
      <Icon name="placed" /> {words.download}
      <span class="unseen"> {words.ofEvent(eventId)}</span>
    </button>
  </section>
)

/** A verdict may say "proven" only when a signature was verified. */
const summaryOf = ({ findings }: BundleVerdict) =>
  findings.some(({ step, state }) => step === 'signature' && state === 'holds') ? words.proven : words.unsigned

async function proofOf(eventId: number, onWait: () => void): Promise<Proven> {
  const bundle = await bundleOf(eventId, onWait, tries)
  const text = `${JSON.stringify(bundle, null, 2)}\n`
  // Undefined where the page did not come over HTTPS.
  const subtle = crypto.subtle as SubtleCrypto | undefined
  if (!subtle) return { text, verdict: undefined, vkey: undefined }
  const { logKey, logKeyPostQuantum } = await ask<LogKeys>('/api/health')
  const files = new Map<string, HashedFile>()
  for (const { sha256, kind } of bundle.media) {
    const answer = kind === 'photo' ? await fetch(`/api/whms/evidence/photos/${sha256}`) : undefined
    if (answer?.ok) files.set(sha256, await hashedBytes(subtle, new Uint8Array(await answer.arrayBuffer())))
  }
  const verdict = await checkBundle(subtle, text, {
    keys: [logKey, logKeyPostQuantum],
    acceptsOtherLogs: true,
    file: (item) => files.get(item.sha256),
  })
  return { text, verdict, vkey: logKey }
}

async function bundleOf(eventId: number, onWait: () => void, left: number): Promise<Bundle> {
  try {
    return await ask<Bundle>(`/api/whms/events/${eventId}/proof`)
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 503 || left <= 1) throw error
    onWait()
    await new Promise((resolve) => setTimeout(resolve, Math.max(error.retryAfterSeconds, 1) * 1000))
    return await bundleOf(eventId, onWait, left - 1)
  }
}

function download(text: string, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
