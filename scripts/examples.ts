/**
 * Writes the examples of the API's description anew: plays a day at a warehouse and keeps what was asked and answered.
 *
 *   node scripts/examples.ts
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { examplesOf, playDay } from '../test/support/example-story.ts'

const file = 'src/app/api-examples.json'
const examples = examplesOf(await playDay())
writeFileSync(file, JSON.stringify(examples, undefined, 2))
execFileSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', file])
process.stdout.write(`${Object.keys(examples).length} operations in ${file}\n`)
