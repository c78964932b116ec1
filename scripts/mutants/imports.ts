/**
 * Loaded before a test and in its threads: tells Node where each import leads, as `warm.ts` found it in the same tree before. A test
 * loads two thousand modules, and finding their files takes a third of that. An import that is not known is looked for as usual, such
 * as one that a mutant adds.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

type Found = { readonly url: string; readonly format?: string | null }
/** By the module that imports, then by its words; `require` and `import` may lead to different files. */
type Imports = Record<string, Record<string, Found>>

/** Beside the tree, so that it is no file of the tree. */
const file = join(import.meta.dirname, '..', '..', '..', 'imports.json')
const isWarming = process.env['MUTANTS_WARM'] === 'yes'
const known: Imports = !isWarming && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}

registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL ?? ''
    const words = `${context.conditions.includes('require') ? 'require' : 'import'} ${specifier}`
    const found = known[parent]?.[words]
    if (found) return { ...found, shortCircuit: true }
    const looked = next(specifier, context)
    if (isWarming && Object.keys(context.importAttributes ?? {}).length === 0) {
      known[parent] ??= {}
      known[parent][words] = { url: looked.url, ...(looked.format != null && { format: looked.format }) }
    }
    return looked
  },
})

if (isWarming) process.once('exit', () => writeFileSync(file, JSON.stringify(known)))
