import { html } from 'hono/html'
import type { PageLanguage } from '../http/index.ts'
import { trustTexts } from './trust-texts.ts'

export const certificatePath = '/trust/ca.crt'

type Files = { readonly styles: readonly string[]; readonly icon: string }
type Words = (typeof trustTexts)[PageLanguage]

/**
 * Makes the page that explains how to trust this box. It shows the fingerprint of the CA and nothing else of the site.
 * Without `fingerprint`, the box has no own CA. `styles` and `icon`: names of files.
 */
export function trustPage(fingerprint: string | undefined, { styles, icon }: Files, language: PageLanguage) {
  const words = trustTexts[language]
  const other = language === 'en' ? 'de' : 'en'
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${words.title} &middot; Gatehouse</title>
<link rel="icon" href="/${icon}" type="image/svg+xml">
${styles.map((name) => html`<link rel="stylesheet" href="/${name}">\n`)}</head>
<body>
<main class="trust">
<h1>${words.title}</h1>
${fingerprint === undefined ? withoutAuthority(words) : withAuthority(words, fingerprint)}
<p><a class="button" href="?language=${other}" lang="${other}">${words.other}</a></p>
</main>
</body>
</html>
`
}

const withoutAuthority = (words: Words) =>
  html`<p class="card">${words.nothing} <span class="code">gatehouse tls init</span>.</p>`

const withAuthority = (words: Words, fingerprint: string) => html`<p>${words.why}</p>
<section class="card" aria-labelledby="compare">
<h2 id="compare">${words.compare}</h2>
<p>${words.same} <span class="code">gatehouse setup</span>. ${words.differs}</p>
<p class="fingerprint"><span class="muted">SHA-256</span> <span class="code">${rowsOf(fingerprint).map((row) => html`<span>${row}</span> `)}</span></p>
</section>
<section class="card" aria-labelledby="get">
<h2 id="get">${words.get}</h2>
<p><a class="button strong" href="${certificatePath}">${words.download}</a></p>
</section>
<section class="card" aria-labelledby="install">
<h2 id="install">${words.install}</h2>
${words.kinds.map(
  ({ name, steps, command, after }) => html`<h3>${name}</h3>
<ol>
${steps.map((step) => html`<li>${step}</li>\n`)}</ol>
${command === undefined ? '' : html`<p class="code">${command}</p>`}
${after === undefined ? '' : html`<p>${after}</p>`}`,
)}
</section>`

/** Cuts a fingerprint into rows of eight pairs, which an eye can compare. */
const rowsOf = (fingerprint: string): string[] =>
  fingerprint.match(/.{1,24}/g)?.map((row) => row.replace(/:$/, '')) ?? []
