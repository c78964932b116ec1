import { useRef } from 'preact/hooks'
import { ScanField } from '../codes/scan-field.tsx'
import type { SignedIn } from '../data/shapes.ts'
import { language } from '../i18n/language.ts'
import { LanguageChoice } from '../i18n/language-choice.tsx'
import { texts } from '../i18n/texts.ts'
import { SignOut } from '../sign-in/sign-out.tsx'
import { follow } from './address.ts'
import { Icon } from './icons.tsx'
import { groupOf, type ViewGroup, type ViewName, views, viewsFor } from './views.ts'

type ViewsProps = { here: ViewName | undefined; siteId: string; caller: SignedIn; onLeft: (why: string) => void }

/** Lists the views that the caller has a use for: those of daily work in the bar, the others in a menu. A phone has all in the menu. */
export const Views = ({ here, siteId, caller, onLeft }: ViewsProps) => {
  const shown = viewsFor(caller)
  return (
    <nav class="views" aria-label={texts.views.nav}>
      {shown
        .filter((name) => groupOf(name) === 'work')
        .map((name) => (
          <ViewLink key={name} name={name} here={here} />
        ))}
      <Menu {...{ here, siteId, caller, onLeft, shown }} />
    </nav>
  )
}

const groups: readonly ViewGroup[] = ['work', 'goods', 'proof', 'box']

/** The views by group, the manual, the language, and on a phone the site and the sign-out. It closes with Escape, with a tap beside it, and when something in it is opened. */
const Menu = ({ here, siteId, caller, onLeft, shown }: ViewsProps & { shown: readonly ViewName[] }) => {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => menu.current?.removeAttribute('open')
  return (
    <details
      class="views-menu"
      ref={menu}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== 'Escape' || !menu.current?.open) return
        event.stopPropagation()
        close()
        menu.current.querySelector('summary')?.focus()
      }}
      onFocusOut={(event: FocusEvent) => {
        if (event.relatedTarget instanceof Node && !menu.current?.contains(event.relatedTarget)) close()
      }}
    >
      <summary aria-current={!here || groupOf(here) === 'work' ? undefined : 'true'}>
        <span class="off-phone">{texts.views.more}</span>
        <span class="on-phone">{here ? texts.views[here] : texts.views.nav}</span>
      </summary>
      <div class="views-sheet">
        <p class="views-who">
          <span class="on-phone">{siteId} · </span>
          <strong>{caller.username}</strong> <span class="muted">{texts.roles[caller.role] ?? caller.role}</span>
        </p>
        {groups.map((group) => {
          const names = shown.filter((name) => groupOf(name) === group)
          return names.length === 0 ? null : (
            <section key={group} class={group === 'work' ? 'on-phone' : undefined} aria-labelledby={`views-${group}`}>
              <p class="muted" id={`views-${group}`}>
                {texts.views.groups[group]}
              </p>
              {names.map((name) => (
                <ViewLink key={name} name={name} here={here} onOpen={close} />
              ))}
            </section>
          )
        })}
        <a href={`/help?language=${language}`}>{texts.views.help}</a>
        <LanguageChoice />
        <div class="on-phone">
          <SignOut onLeft={onLeft} />
        </div>
      </div>
    </details>
  )
}

type LinkProps = { name: ViewName; here: ViewName | undefined; onOpen?: () => void }

const ViewLink = ({ name, here, onOpen }: LinkProps) => (
  <a
    href={views[name].address}
    aria-current={name === here ? 'page' : undefined}
    onClick={(event: MouseEvent) => {
      onOpen?.()
      follow(event)
    }}
  >
    {texts.views[name]}
  </a>
)

/** The head of a view: where one is, where one can go, the field for codes, and who is signed in. `here`: undefined on a page that is no view. */
export const Bar = ({ here, siteId, caller, onLeft }: ViewsProps) => (
  <header class="bar view-bar">
    <p class="brand">
      <Icon name="logo" /> <span class="brand-name">Gatehouse</span>
    </p>
    <p class="site">{siteId}</p>
    <Views {...{ here, siteId, caller, onLeft }} />
    <ScanField />
    <p class="who">
      <strong>{caller.username}</strong> <span class="muted">{texts.roles[caller.role] ?? caller.role}</span>
    </p>
    <SignOut onLeft={onLeft} />
  </header>
)
