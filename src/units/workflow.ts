export const unitStatuses = ['active', 'on_hold', 'completed', 'cancelled'] as const
export type UnitStatus = (typeof unitStatuses)[number]

/** A unit as its history leaves it. */
export type UnitState = {
  readonly status: UnitStatus
  /** Every stage that the unit has entered, in order; the last is its present one. Never empty. */
  readonly visited: readonly string[]
}

export type Move =
  | { readonly to: 'stage'; readonly stage?: string | undefined }
  | { readonly to: 'hold' | 'resume' | 'cancel' }

export type Step = {
  readonly action: 'advanced' | 'skipped' | 'completed' | 'held' | 'resumed' | 'cancelled'
  readonly fromStage: string
  readonly stage: string
  readonly status: UnitStatus
}

/** Reason why a move is impossible, and the possible moves; both are for the person with the scanner. */
export type Refusal = { readonly refused: string; readonly possible: string }

/**
 * Returns the step of a move, or why it is refused. Pure.
 * @param stages the stages of the config now; the unit's own may be missing there
 */
export function decideMove(state: UnitState, move: Move, stages: readonly string[]): Step | Refusal {
  const { status } = state
  switch (move.to) {
    case 'stage':
      return status === 'active' ? advance(state, move.stage, stages) : refuse(state, stages, 'cannot advance')
    case 'hold':
      return status === 'active' ? stay(state, 'held', 'on_hold') : refuse(state, stages, 'cannot be put on hold')
    case 'resume':
      return status === 'on_hold' ? stay(state, 'resumed', 'active') : refuse(state, stages, 'cannot be resumed')
    case 'cancel':
      return isTerminal(status) ? refuse(state, stages, 'cannot be cancelled') : stay(state, 'cancelled', 'cancelled')
  }
}

export function isTerminal(status: UnitStatus): boolean {
  return status === 'completed' || status === 'cancelled'
}

/** Returns the stage of an advance without `toStage`; null at the last stage, and for a completed or cancelled unit. */
export function nextStage(state: UnitState, stages: readonly string[]): string | null {
  return isTerminal(state.status) ? null : (stagesAhead(state, stages)[0] ?? null)
}

/**
 * Returns the stages ahead of the unit. Its position is its newest stage that the workflow still has. So units of a stage that was
 * renamed or removed continue from the one before. A unit without any known stage begins again.
 */
function stagesAhead({ visited }: UnitState, stages: readonly string[]): readonly string[] {
  const known = visited.findLast((stage) => stages.includes(stage))
  return known === undefined ? stages : stages.slice(stages.indexOf(known) + 1)
}

function advance(state: UnitState, wanted: string | undefined, stages: readonly string[]): Step | Refusal {
  const fromStage = stageOf(state)
  const ahead = stagesAhead(state, stages)
  // The workflow was cut off behind it: there is nowhere to go, so one more advance is the end.
  if (ahead.length === 0 && (wanted === undefined || wanted === fromStage)) return stay(state, 'completed', 'completed')
  const stage = wanted ?? ahead[0] ?? fromStage
  const steps = ahead.indexOf(stage)
  if (steps < 0) {
    return refuse(
      state,
      stages,
      stages.includes(stage) ? notForward(stage, fromStage) : `cannot go to ${stage}, which is no stage`,
    )
  }
  const status = stage === stages.at(-1) ? 'completed' : 'active'
  return { action: steps === 0 ? 'advanced' : 'skipped', fromStage, stage, status }
}

function notForward(stage: string, fromStage: string): string {
  return stage === fromStage ? `is in ${stage} already` : `cannot go back to ${stage}`
}

function stay(state: UnitState, action: Step['action'], status: UnitStatus): Step {
  const stage = stageOf(state)
  return { action, fromStage: stage, stage, status }
}

export function stageOf({ visited }: UnitState): string {
  const stage = visited.at(-1)
  if (stage === undefined) throw new Error('a unit was never in any stage')
  return stage
}

const statusWords = {
  active: 'is active',
  on_hold: 'is on hold',
  completed: 'is completed',
  cancelled: 'is cancelled',
} as const satisfies Record<UnitStatus, string>

function refuse(state: UnitState, stages: readonly string[], what: string): Refusal {
  const stage = stageOf(state)
  const because = state.status === 'active' ? `in stage ${stage}` : `in stage ${stage} and ${statusWords[state.status]}`
  return { refused: `The unit ${what}: it is ${because}`, possible: possible(state, stages) }
}

function possible(state: UnitState, stages: readonly string[]): string {
  switch (state.status) {
    case 'completed':
    case 'cancelled':
      return `possible: evidence alone; a unit that ${statusWords[state.status]} never moves again`
    case 'on_hold':
      return 'possible: resume, cancel (units:override)'
    case 'active': {
      const [next, ...further] = stagesAhead(state, stages)
      const forward = next === undefined ? 'advance once more, which completes it' : `advance to ${next}`
      const skips = further.length > 0 ? [`skip to ${further.join(', ')} (units:override, with a reason)`] : []
      return `possible: ${[forward, ...skips, 'hold', 'cancel (units:override)'].join('; ')}`
    }
  }
}
