import { errorMessage } from '../../platform/faults.ts'
import { language } from './i18n/language.ts'
import { undrawnTexts as words } from './undrawn-texts.ts'

/**
 * Shows once, over the page, that a part of it could not be drawn, with the next step. The page stays below, with all typed text.
 * Drawn without preact, which has just failed.
 */
export function showUndrawn(error: unknown, home: string | undefined, isAlone: boolean): void {
  if (document.querySelector('.undrawn')) return
  const notice = made('section', { class: 'undrawn', role: 'alert' })
  const said = made('code', { lang: 'en' }, errorMessage(error))
  notice.append(
    made('h2', {}, words.title),
    made('p', {}, isAlone ? words.alone : words.keep),
    made('p', {}, words.tell, ' ', said),
  )
  if (!isAlone) notice.append(ways(home))
  notice.lang = language
  document.body.prepend(notice)
}

function ways(home: string | undefined): HTMLElement {
  const again = made('button', { type: 'button', class: 'strong' }, words.again)
  again.addEventListener('click', () => location.reload())
  const all = made('p', { class: 'undrawn-ways' }, again)
  if (home !== undefined && home !== location.pathname) all.append(made('a', { href: home }, words.home))
  return all
}

function made(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...inside: readonly (Node | string)[]
): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...inside)
  return element
}
