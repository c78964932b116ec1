import { nearestNames } from '../../errors/index.ts'

/** Meaning of each `{{name}}` in a template of an HTTP channel. */
export const templateFields = {
  id: 'id of the message, the same in each attempt',
  event: 'raised, resolved or test',
  title: 'one line',
  text: 'all alerts, a line each',
  severity: 'the highest: critical or warning',
  kind: 'kind of the first alert, such as camera.offline',
  count: 'number of alerts',
  site: 'site.id',
  time: 'time of the first alert, in UTC',
  link: 'page that acknowledges the alert; with several alerts, the page of all alerts',
} as const

export type TemplateField = keyof typeof templateFields
export type TemplateValues = Readonly<Record<TemplateField, string>>

const written = /\{\{\s*(.*?)\s*\}\}/g
const isField = (name: string): name is TemplateField => Object.hasOwn(templateFields, name)

/** Returns what is wrong with a template; undefined when it can be filled. Text that begins as JSON must be JSON. */
export function templateProblem(text: string): string | undefined {
  for (const [whole, name = ''] of text.matchAll(written)) {
    if (isField(name)) continue
    const near = nearestNames(name, Object.keys(templateFields))
    return `${whole} is no field${near.length > 0 ? `; did you mean {{${near.join('}} or {{')}}}?` : `; the fields are ${Object.keys(templateFields).join(', ')}`}`
  }
  if (/\{\{|\}\}/.test(text.replaceAll(written, '')) && !isJson(text)) return 'has {{ or }} without its other half'
  if (looksLikeJson(text) && !isJson(text)) return 'begins like JSON and is none; put each {{field}} in quotes'
  return undefined
}

/** Fills a template. In JSON each text is filled by itself, so no value can change the structure. */
export function fillTemplate(text: string, values: TemplateValues): string {
  if (!looksLikeJson(text) || !isJson(text)) return filled(text, values)
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'string' ? filled(value, values) : value,
  )
}

const filled = (text: string, values: TemplateValues): string =>
  text.replaceAll(written, (whole, name: string) => (isField(name) ? values[name] : whole))

const looksLikeJson = (text: string): boolean => /^\s*[[{](?!\{)/.test(text)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
