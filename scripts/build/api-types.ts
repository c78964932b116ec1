/**
 * Makes `.cache/api.d.ts`, the types of the API for the page, from `src/openapi.json`. The checks run this program first. An editor
 * needs one run of it, or of a check.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTypes, { astToString } from 'openapi-typescript'
import type { Description } from '../../src/http/index.ts'
import { readFileIfThere, writeFileDurably } from '../../src/platform/files.ts'
import { root, say } from './inputs.ts'

const source = join(root, 'src/openapi.json')
const output = join(root, '.cache/api.d.ts')
const stampFile = `${output}.stamp`

/** Makes the file unless it was made from the same description. */
export async function makeApiTypes(): Promise<void> {
  const stamp = stampOf()
  if (readFileIfThere(output) && String(readFileIfThere(stampFile)) === stamp) return
  const types = await openapiTypes(withoutRefusals(JSON.parse(readFileSync(source, 'utf8'))), {
    immutable: true,
    exportType: true,
    defaultNonNullable: false,
  })
  writeFileDurably(output, astToString(types), 0o644)
  writeFileDurably(stampFile, stamp, 0o644)
}

/** Leaves out refusals: the page throws them, so no answer has their type. */
function withoutRefusals(description: Description): string {
  const { webhooks: _, ...document } = description
  for (const item of Object.values(document.paths))
    for (const operation of Object.values(item)) {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
      operation.responses = Object.fromEntries(answers)
    }
  return JSON.stringify(document)
}

function stampOf(): string {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', 'scripts/build/api-types.ts', 'src/openapi.json']) {
    const content = readFileSync(join(root, file))
    hash.update(`\n${file} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

if (import.meta.main) {
  await makeApiTypes().catch((error: Error) => {
    say(error.message)
    process.exitCode = 1
  })
}
