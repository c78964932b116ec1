/** The search of the manual. Without it the pages are plain links. The index is loaded when somebody begins to search. */
import { type FoundPart, findParts, type SearchedPart } from './help/search.ts'

const form = part<HTMLFormElement>('.help-search')
const field = part<HTMLInputElement>('#search')
const found = part<HTMLElement>('.help-found')
const status = part<HTMLElement>('.help-found [role=status]')
const list = part<HTMLOListElement>('.help-found ol')
const indexAddress = form.dataset['index'] ?? ''
let loading: Promise<readonly SearchedPart[]> | undefined

form.hidden = false
field.addEventListener('focus', () => void load().catch(() => undefined))
field.addEventListener('input', () => void show())
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void show().then(() => {
    if (!found.hidden) part<HTMLElement>('#found').focus()
  })
})
field.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  field.value = ''
  found.hidden = true
})

async function show(): Promise<void> {
  const query = field.value.trim()
  try {
    const parts = await load()
    // Somebody types on while the index is loaded.
    if (query !== field.value.trim()) return
    const hits = findParts(parts, query)
    list.replaceChildren(...hits.map(lineOf))
    status.textContent = hits.length === 0 ? (form.dataset['none'] ?? '') : ''
  } catch {
    list.replaceChildren()
    status.textContent = form.dataset['unread'] ?? ''
  }
  found.hidden = query === ''
}

/** Loads the index once; after a failure the next call tries again. */
function load(): Promise<readonly SearchedPart[]> {
  loading ??= fetch(indexAddress)
    .then((answer) => {
      if (!answer.ok) throw new Error(`${answer.status}`)
      return answer.json() as Promise<readonly SearchedPart[]>
    })
    .catch((error: unknown) => {
      loading = undefined
      throw error
    })
  return loading
}

function lineOf({ topic, page, part, anchor, excerpt }: FoundPart): HTMLLIElement {
  const link = document.createElement('a')
  const { search } = new URL(indexAddress, location.href)
  link.href = `/help/${topic}${search}${anchor === '' ? '' : `#${anchor}`}`
  link.textContent = part === '' ? page : `${page}: ${part}`
  // A part of this page is reached without loading it again, so the list has to make room.
  link.addEventListener('click', () => {
    found.hidden = true
  })
  const text = document.createElement('span')
  text.className = 'muted'
  text.textContent = excerpt
  const line = document.createElement('li')
  line.append(link, ' ', text)
  return line
}

function part<T extends Element>(selector: string): T {
  const element = document.querySelector<T>(selector)
  if (!element) throw new Error(`the page has no ${selector}`)
  return element
}
