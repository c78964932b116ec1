import t from 'tap'
import { play, table } from '../support/storage-table.ts'
import { leftOut } from './storage-left-out.ts'

t.test('the storage server of the tests answers as a real one was recorded', async (t) => {
  t.equal(table.scenarios.length, 139)
  const listed = new Set<string>()
  const differences: string[] = []
  for (const scenario of table.scenarios) {
    for (const { step, request, what } of await play(scenario)) {
      const entries = [scenario.name, `${scenario.name} | ${step}`].filter((name) => name in leftOut)
      for (const name of entries) listed.add(name)
      if (entries.length === 0) differences.push(`${scenario.name} | ${step}: ${request}: ${what}`)
    }
  }
  t.strictSame(differences, [])
  t.strictSame([...listed].sort(), Object.keys(leftOut).sort(), 'nothing is on the list that does not differ')
})
