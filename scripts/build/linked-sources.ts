/**
 * Lets a test file take `src/` from one file, where the sources are linked already:
 *
 *   GATEHOUSE_SOURCES=FILE node --import ./scripts/build/linked-sources.ts TEST
 *
 * A test that opens a gateway loads a thousand modules. Node spends more than a second on finding and linking them.
 */
import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { root } from './inputs.ts'

/** Loads a source and returns what it exports, by its path from the root. */
type Sources = Readonly<Record<string, () => Record<string, unknown>>>

const file = process.env['GATEHOUSE_SOURCES']
if (file === undefined) throw new Error('GATEHOUSE_SOURCES names no file')
const base = pathToFileURL(`${root}/`).href
const sources = `${base}src/`
let linked: Sources | undefined

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(sources)) return nextLoad(url, context)
    linked ??= createRequire(import.meta.url)(file) as Sources
    const path = url.slice(base.length)
    const exported = linked[path]
    if (!exported) return nextLoad(url, context)
    const values = Object.keys(exported()).map((name) => `${name} = loaded.${name}`)
    const source = `import { createRequire } from 'node:module'
const loaded = createRequire(${JSON.stringify(base)})(${JSON.stringify(file)})[${JSON.stringify(path)}]()
${values.length > 0 ? `export const ${values.join(', ')}` : ''}`
    return { format: 'module', source, shortCircuit: true }
  },
})
