/**
 * The customer's interface document, sentence by sentence: a row has the words, the request and the answer. CI prints how many hold.
 */
import t from 'tap'
import { authentication, errors } from './document/access.ts'
import { cameras } from './document/cameras.ts'
import { overview, resources } from './document/resources.ts'
import { play, type Row } from './document/row.ts'
import { endpoints, states } from './document/states.ts'
import { notifications, retries } from './document/webhooks.ts'
import { World } from './document/world.ts'

t.setTimeout(300_000)

const chapters: Readonly<Record<string, readonly Row[]>> = {
  'What the service does': overview,
  'Resources and their fields': resources,
  'States and transitions': states,
  'Motion detection': cameras,
  Endpoints: endpoints,
  Authentication: authentication,
  Events: notifications,
  'Retry policy': retries,
  'Errors, limits, versioning': errors,
}

const world = await World.start(t)
const all = Object.values(chapters).flat()
let held = 0

t.test('no sentence stands twice', (t) => {
  const words = all.map(({ says }) => says)
  t.equal(new Set(words).size, words.length)
  t.end()
})

for (const [chapter, rows] of Object.entries(chapters)) {
  await t.test(chapter, async (t) => {
    for (const row of rows) {
      await t.test(row.says, async (t) => {
        await play(t, world, row)
        if (t.passing()) held += 1
      })
    }
  })
}

// Standard error, so that a run of the whole suite shows it.
process.stderr.write(`The interface document: ${held} of ${all.length} sentences hold.\n`)
