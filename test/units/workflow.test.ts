import fc from 'fast-check'
import t from 'tap'
import { decideMove, isTerminal, type Move, nextStage, type UnitState } from '../../src/units/workflow.ts'

/** From the decisions: the default workflow. */
const stages = ['registered', 'receiving', 'inspecting', 'storing', 'staging', 'loading', 'departed']

const at = (stage: string, status: UnitState['status'] = 'active'): UnitState => ({
  status,
  visited: stages.slice(0, stages.indexOf(stage) + 1),
})

t.test('an advance leads to the next stage, the last one completes, and nothing leads back', async (t) => {
  t.match(decideMove(at('registered'), { to: 'stage' }, stages), {
    action: 'advanced',
    stage: 'receiving',
    status: 'active',
  })
  t.match(decideMove(at('loading'), { to: 'stage' }, stages), {
    action: 'advanced',
    stage: 'departed',
    status: 'completed',
  })
  t.match(decideMove(at('receiving'), { to: 'stage', stage: 'storing' }, stages), {
    action: 'skipped',
    stage: 'storing',
  })
  for (const stage of ['registered', 'receiving']) {
    t.match(decideMove(at('receiving'), { to: 'stage', stage }, stages), {
      refused: /already|back/,
      possible: /advance to inspecting/,
    })
  }
  t.match(decideMove(at('receiving'), { to: 'stage', stage: 'moon' }, stages), { refused: /no stage/ })
})

t.test('what each status allows', async (t) => {
  const allowed: Record<UnitState['status'], string[]> = {
    active: ['stage', 'hold', 'cancel'],
    on_hold: ['resume', 'cancel'],
    completed: [],
    cancelled: [],
  }
  for (const status of ['active', 'on_hold', 'completed', 'cancelled'] as const) {
    for (const to of ['stage', 'hold', 'resume', 'cancel'] as const) {
      const decided = decideMove(at('storing', status), { to }, stages)
      t.equal(!('refused' in decided), allowed[status].includes(to), `${status}: ${to}`)
    }
  }
})

t.test('a stage that the admin removed from the workflow leaves nobody stranded', async (t) => {
  const fewer = stages.filter((stage) => stage !== 'inspecting')
  t.equal(nextStage(at('inspecting'), fewer), 'storing')
  t.match(decideMove(at('inspecting'), { to: 'stage' }, fewer), {
    action: 'advanced',
    fromStage: 'inspecting',
    stage: 'storing',
  })
  const cut = stages.slice(0, 3)
  t.match(decideMove(at('storing'), { to: 'stage' }, cut), { action: 'completed', status: 'completed' })
  t.match(decideMove(at('storing'), { to: 'stage' }, ['in', 'out']), { action: 'advanced', stage: 'in' })
})

t.test('whatever is tried in whatever order: never back, never on after the end, completed once at most', async () => {
  const move = fc.oneof(
    fc.record({
      to: fc.constant('stage' as const),
      stage: fc.option(fc.constantFrom(...stages, 'moon'), { nil: undefined }),
    }),
    fc.record({ to: fc.constantFrom('hold' as const, 'resume' as const, 'cancel' as const) }),
  )
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves: Move[]) => {
      let state: UnitState = { status: 'active', visited: ['registered'] }
      let ends = 0
      for (const wanted of moves) {
        const decided = decideMove(state, wanted, stages)
        if ('refused' in decided) continue
        if (isTerminal(state.status)) throw new Error('moved after its end')
        const [from, to] = [stages.indexOf(state.visited.at(-1) ?? ''), stages.indexOf(decided.stage)]
        if (to < from) throw new Error('went back')
        if (decided.action === 'advanced' && to !== from + 1) throw new Error('skipped without saying so')
        if ((decided.status === 'completed') !== (decided.stage === 'departed')) throw new Error('completed elsewhere')
        if (isTerminal(decided.status)) ends += 1
        state = { status: decided.status, visited: [...state.visited, decided.stage] }
      }
      return ends <= 1
    }),
    { numRuns: 500 },
  )
})
