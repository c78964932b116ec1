import { parseArgs } from 'node:util'
import { join } from 'node:path'
import { playStory } from './demo-parts/story.ts'
import { tableOf } from './demo-parts/steps.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { once: { type: 'boolean' }, command: { type: 'string' }, bare: { type: 'boolean' } } })
const played = await playStory({ command: values.command ?? join(root, 'scripts/gatehouse'), bare: values.bare ?? false, print: console.log })
console.log(tableOf(played))
