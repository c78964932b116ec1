import { type PageLanguage, printedPagePolicy } from '../http/index.ts'
import type { Notice } from './notice.ts'
import { noticeTexts } from './notice-texts.ts'

const style = `
@page { size: A4; margin: 14mm }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 8mm; max-width: 182mm; color: #000; background: #fff; font: 15pt/1.35 system-ui, "Liberation Sans", Arial, sans-serif }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 9mm; padding-bottom: 6mm; border-bottom: 1.2mm solid #000 }
header svg { flex: none; width: 42mm; height: 42mm }
h1 { margin: 0; font-size: 34pt; line-height: 1.1 }
header p { margin: 2mm 0 0 }
dl { margin: 0 }
dl > div { padding: 3.4mm 0; border-bottom: .2mm solid #888; break-inside: avoid }
dt { font-weight: 700; font-size: 11pt; text-transform: uppercase; letter-spacing: .04em }
dd { margin: .6mm 0 0; overflow-wrap: anywhere }
.missing dd { padding: 1mm 2mm; border: .6mm dashed #000 }
footer { padding-top: 4mm; font-size: 10pt }
@media print { body { padding: 0; max-width: none } }
`

export const noticePolicy = printedPagePolicy(style)

const signOf = (
  name: string,
) => `<svg viewBox="0 0 100 100" role="img" aria-label="${name}"><rect width="100" height="100" rx="10"/>
<g fill="#fff"><path d="M14 30l50-12 6 24-50 12z"/><path d="M73 24l12-1 4 14-12 5z"/><path d="M36 55l9-2 6 16h23v9H44z"/><path d="M76 62h8v24h-8z"/></g></svg>`

/** Returns the sign for the door: one page of HTML for a sheet of A4, without a script and without other files. */
export function noticePage(notice: Notice, language: PageLanguage): string {
  const { who, why, legalBasis, when, howLong, whom, sound, rights, issuedAt } = notice
  const words = noticeTexts[language]
  const { rows: titles } = words
  const stated = (title: string, value: string) => row(title, value, '')
  const needed = (title: string, value: string | null, key: string) => row(title, value, words.notStated(key))
  const rows = [
    needed(titles.who, who, 'privacy.controller'),
    needed(titles.why, why, words.purposeKey),
    ...(legalBasis === null ? [] : [stated(titles.legalBasis, legalBasis)]),
    stated(titles.when, when),
    stated(titles.howLong, howLong),
    stated(titles.sound, sound),
    needed(titles.whom, whom, 'privacy.contact'),
    stated(titles.rights, rights),
  ]
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${words.title}: ${escaped(notice.camera)}</title>
<style>${style}</style>
</head>
<body>
<header>${signOf(words.camera)}<div><h1>${words.title}</h1><p>${escaped(notice.camera)}<br>${escaped(notice.site)}</p></div></header>
<main><dl>
${rows.join('\n')}
</dl></main>
<footer>${words.issued(issuedAt.slice(0, 10), notice.cctvId)}</footer>
</body>
</html>
`
}

/** A row without a value states that: a sign with a blank line would look complete. */
function row(title: string, value: string | null, missing: string): string {
  if (value !== null) return `<div><dt>${title}</dt><dd>${escaped(value)}</dd></div>`
  return `<div class="missing"><dt>${title}</dt><dd>${escaped(missing)}</dd></div>`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
