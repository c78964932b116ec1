import fc from 'fast-check'
import t from 'tap'
import { actionsIn, type IncidentAction, incidentStates, nextState } from '../../src/governance/incident-states.ts'

t.test('open goes to investigating or straight to resolved, and nothing leads back', async (t) => {
  const rank = { open: 0, investigating: 1, resolved: 2 }
  const moves = incidentStates.flatMap((state) =>
    (['investigate', 'resolve'] as const).map((action) => `${state} ${action} ${nextState(state, action) ?? '-'}`),
  )
  t.strictSame(moves, [
    'open investigate investigating',
    'open resolve resolved',
    'investigating investigate -',
    'investigating resolve resolved',
    'resolved investigate -',
    'resolved resolve -',
  ])
  fc.assert(
    fc.property(fc.array(fc.constantFrom<IncidentAction>('investigate', 'resolve'), { maxLength: 6 }), (actions) => {
      let state: (typeof incidentStates)[number] = 'open'
      for (const action of actions) {
        const next = nextState(state, action)
        if ((next !== undefined) !== actionsIn(state).includes(action)) return false
        if (next !== undefined && rank[next] <= rank[state]) return false
        state = next ?? state
      }
      return !actions.includes('resolve') || state === 'resolved'
    }),
  )
})
