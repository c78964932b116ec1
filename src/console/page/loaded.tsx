import { useEffect, useState } from 'preact/hooks'
import { Said } from './i18n/said.tsx'
import { texts } from './i18n/texts.ts'
import { Icon } from './kit/icons.tsx'
import { isReplaced, keepFile, knownFile, type Load } from './view-files.ts'

const retryMs = 2000

type LoadedProps<Props> = { readonly file: Load<Props>; readonly props: Props }

/** A view whose file is loaded at its first visit. */
export const Loaded = <Props extends object>({ file, props }: LoadedProps<Props>) => {
  const [, setLoads] = useState(0)
  const [trouble, setTrouble] = useState('')
  useEffect(() => {
    let isWanted = true
    const load = () => {
      keepFile(file).then(
        () => isWanted && setLoads((n) => n + 1),
        async () => {
          if (await isReplaced()) return location.reload()
          if (!isWanted) return
          setTrouble(texts.unreachable)
          setTimeout(load, retryMs)
        },
      )
    }
    if (!knownFile(file)) load()
    return () => {
      isWanted = false
    }
  }, [file])
  const View = knownFile(file)?.View
  return View ? <View {...props} /> : <Waiting trouble={trouble} />
}

export const Waiting = ({ trouble }: { trouble: string }) => (
  <main class="gate">
    <div class="gate-wait">
      <Icon name={trouble ? 'lost' : 'logo'} />
      <h1>Gatehouse</h1>
      <p role="status">
        <Said words={trouble || texts.asking} />
      </p>
    </div>
  </main>
)
