import type { PageLanguage } from '../http/index.ts'
import { escapedMarkup } from '../platform/index.ts'

const english = {
  title: 'Alert',
  ask: 'Acknowledge this alert? Escalation of it ends.',
  button: 'Acknowledge',
  done: 'Acknowledged.',
  gone: 'This link was used, or it has expired. Newer messages have another one.',
  all: 'All alerts',
}
const german: typeof english = {
  title: 'Meldung',
  ask: 'Diese Meldung quittieren? Ihre Eskalation endet.',
  button: 'Quittieren',
  done: 'Quittiert.',
  gone: 'Dieser Link wurde benutzt oder ist abgelaufen. Neuere Nachrichten haben einen anderen.',
  all: 'Alle Meldungen',
}
const texts: Record<PageLanguage, typeof english> = { en: english, de: german }

/** The one style sheet of the page, for its policy. */
export const pageStyle =
  'body{font:1.2rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}button{font:inherit;padding:.8rem 1.6rem}'

export type PageState =
  | { readonly kind: 'ask'; readonly reason: string; readonly at: string; readonly action: string }
  | { readonly kind: 'done' | 'gone' }

/**
 * Returns the page behind a link. It asks first, because scanners of mail open each link. It names no camera: the link may be in
 * other hands than the message.
 */
export function acknowledgementPage(state: PageState, language: PageLanguage): string {
  const words = texts[language]
  const body =
    state.kind === 'ask'
      ? `<p lang="en">${escapedMarkup(state.reason)}</p><p>${escapedMarkup(state.at)}</p><p>${words.ask}</p>
<form method="post" action="${escapedMarkup(state.action)}"><button type="submit">${words.button}</button></form>`
      : `<p role="status">${state.kind === 'done' ? words.done : words.gone}</p>`
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>gatehouse: ${words.title}</title><style>${pageStyle}</style></head>
<body><main><h1>${words.title}</h1>${body}
<p><a href="/alerts">${words.all}</a></p></main></body>
</html>
`
}
