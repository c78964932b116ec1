import { html, raw } from 'hono/html'
import type { PageLanguage } from '../../http/index.ts'
import { helpTexts } from './help-texts.ts'
import { type Manual, pageFor, type ReadPage } from './manual.ts'
import { type HelpTopic, madeTopics, writtenTopics } from './topics.ts'

/** Scripts that check proofs, served beside the pages. */
export const helpScripts = ['recipe.sh', 'statement.sh'] as const

export type HelpFrame = {
  readonly manual: Manual
  /** Language of the reader. */
  readonly language: PageLanguage
  /** Whether the address names the language: then every link names it too. */
  readonly isChosen: boolean
  /** Names of the style sheets and of the script of the search. */
  readonly styles: readonly string[]
  readonly script: string
}

/** Makes the list of all pages. */
export function helpList(frame: HelpFrame): string {
  const texts = helpTexts[frame.language]
  const listed = (heading: string, topics: readonly HelpTopic[]) => html`<section class="card">
<h2>${heading}</h2>
<ul class="help-list">
${pagesOf(frame, topics).map(
  ({ topic, page, language }) =>
    html`<li lang="${language}"><a href="/help/${topic}">${page.title}</a> <span class="muted">${page.purpose}</span></li>\n`,
)}</ul>
</section>`
  return framed(
    frame,
    { title: texts.title, language: frame.language, topic: undefined },
    html`<h1>${texts.title}</h1>
${listed(texts.guides, writtenTopics)}
${listed(texts.reference, madeTopics)}
<section class="card">
<h2>${texts.scripts}</h2>
<p>${texts.scriptsPurpose}</p>
<ul class="help-list">
${helpScripts.map((name) => html`<li><a href="/help/${name}">${name}</a> <span class="muted">${texts[name === 'recipe.sh' ? 'recipe' : 'statement']}</span></li>\n`)}</ul>
</section>`,
  )
}

/** Makes one page of the manual. */
export function helpPage(frame: HelpFrame, topic: HelpTopic, { page, language }: ReadPage): string {
  const texts = helpTexts[frame.language]
  return framed(
    frame,
    { title: page.title, language, topic },
    html`<h1>${page.title}</h1>
${
  page.parts.length > 1
    ? html`<details class="help-parts"><summary lang="${frame.language}">${texts.parts}</summary>
<ul>${page.parts.map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>\n`)}</ul></details>`
    : ''
}
<div class="help-text">${raw(page.html)}</div>`,
  )
}

type Html = ReturnType<typeof html>
type Head = {
  readonly title: string
  /** Language of the text: English where no German page exists. */
  readonly language: PageLanguage
  readonly topic: HelpTopic | undefined
}

function framed(frame: HelpFrame, { title, language, topic }: Head, content: Html): string {
  const texts = helpTexts[frame.language]
  const other = frame.language === 'en' ? 'de' : 'en'
  const text = String(html`<!doctype html>
<html lang="${frame.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === texts.title ? title : `${title} · ${texts.title}`} &middot; Gatehouse</title>
${frame.styles.map((name) => html`<link rel="stylesheet" href="/${name}">\n`)}<script type="module" src="/${frame.script}"></script>
</head>
<body class="help">
<a class="skip" href="#text">${texts.skip}</a>
<header class="bar">
<p class="brand"><a href="/help">Gatehouse ${texts.title}</a></p>
<form class="help-search" role="search" hidden data-index="/help/search.json" data-none="${texts.none}" data-unread="${texts.unread}">
<label class="unseen" for="search">${texts.search}</label>
<input type="search" id="search" placeholder="${texts.search}" autocomplete="off" spellcheck="false">
</form>
<p class="help-ways"><a class="button plain" href="/">${texts.console}</a> <a class="button plain" id="other-language" href="?language=${other}" lang="${other}">${texts.other}</a></p>
</header>
<div class="help-frame">
<nav class="help-topics" aria-label="${texts.pages}">
${topicsOf(frame, texts.guides, writtenTopics, topic)}
${topicsOf(frame, texts.reference, madeTopics, topic)}
</nav>
<main id="text" tabindex="-1">
<section class="card help-found" aria-labelledby="found" hidden>
<h2 id="found" tabindex="-1">${texts.results}</h2>
<p role="status"></p>
<ol class="help-list"></ol>
</section>
<article lang="${language}">
${content}
</article>
</main>
</div>
</body>
</html>
`)
  return frame.isChosen ? keepLanguage(text, frame.language) : text
}

function topicsOf(frame: HelpFrame, heading: string, topics: readonly HelpTopic[], here: HelpTopic | undefined) {
  return html`<p class="muted">${heading}</p>
<ul>
${pagesOf(frame, topics).map(
  ({ topic, page, language }) =>
    html`<li><a href="/help/${topic}" lang="${language}"${topic === here ? raw(' aria-current="page"') : ''}>${page.title}</a></li>\n`,
)}</ul>`
}

function pagesOf({ manual, language }: HelpFrame, topics: readonly HelpTopic[]) {
  return topics.flatMap((topic) => {
    const found = pageFor(manual, topic, language)
    return found ? [{ topic, ...found }] : []
  })
}

/** The reader chose another language than that of the browser: it stays chosen on the next page, without a cookie. */
function keepLanguage(text: string, language: PageLanguage): string {
  return text.replaceAll(/((?:href|data-index)="\/help(?:\/[\w-]+(?:\.json)?)?)(?=[#"])/g, `$1?language=${language}`)
}
