import { useEffect, useState } from 'preact/hooks'
import { draw } from './drawing.ts'
import { language } from './i18n/language.ts'
import { Desk } from './scan/desk.tsx'
import { Handheld } from './scan/handheld.ts'
import { MemoryStore } from './scan/items.ts'
import { SlotLabels } from './scan/slots.ts'
import { openStore } from './scan/store.ts'
import { scanTexts as texts } from './scan/texts.ts'
import { isTraining, type Opened } from './scan/use-queue.ts'

/** Opens what is kept on this device; says so where it cannot. */
const Page = () => {
  const [opened, setOpened] = useState<Opened | undefined>(undefined)
  const [problem, setProblem] = useState(isSecureContext ? '' : texts.needsTls)
  useEffect(() => {
    if (!isSecureContext) return
    const open = async () => {
      const store = isTraining ? new MemoryStore() : await openStore()
      const slots = new SlotLabels(store)
      await slots.recall()
      setOpened({ store, slots, handheld: await Handheld.open(store) })
      // Asked once: without it a browser that runs short of room may clear this page's store.
      if (!isTraining) await navigator.storage?.persist?.()
    }
    open().catch((error: Error) => setProblem(texts.noStore(error.message || error.name)))
  }, [])
  if (opened) return <Desk {...opened} />
  return (
    <main class="scan-page">
      <h1>{texts.title}</h1>
      <p class={problem ? 'scan-say bad' : ''} role="alert">
        {problem || texts.loading}
      </p>
    </main>
  )
}

type Policies = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

/** Keeps the page's own files in this browser. The policy can name one address only. */
function keepFiles(): void {
  if (!('serviceWorker' in navigator)) return
  const { trustedTypes } = window as { readonly trustedTypes?: Policies }
  const rules = { createScriptURL: () => '/scan-worker.js' }
  const policy = trustedTypes?.createPolicy('scan-worker', rules) ?? rules
  navigator.serviceWorker
    .register(policy.createScriptURL('/scan-worker.js'), { scope: location.pathname })
    .catch(() => undefined)
}

document.documentElement.lang = language
document.title = `${texts.title} · Gatehouse`
draw(<Page />)
keepFiles()
