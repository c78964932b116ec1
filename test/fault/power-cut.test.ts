import t from 'tap'
import { seedOfCommit } from '../../scripts/soak/power.ts'
import { withShim } from '../support/disk/shim.ts'
import { cutPower, recordLife } from '../support/power/cuts.ts'

const points = 300
const seed = seedOfCommit()

t.test(`${points} power cuts in a life lose nothing that was acknowledged`, withShim, async (t) => {
  const life = recordLife()
  t.teardown(life.end)
  const { losses, tried, syncs } = await cutPower(life, { points, seed })
  t.strictSame(losses, [], `npm run soak -- power --points ${points} --seed ${seed}`)
  t.equal(tried, points)
  t.ok(syncs > 300, `${syncs} syncs`)
  for (const broken of ['no-folder-sync', 'no-content-sync'] as const) {
    const { firstLossAt } = await cutPower(life, { points: 100, seed, broken, maxLosses: 1 })
    t.ok(firstLossAt !== null, `${broken} is found at try ${firstLossAt}`)
  }
})
