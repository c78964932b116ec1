export const incidentStates = ['open', 'investigating', 'resolved'] as const
export type IncidentState = (typeof incidentStates)[number]

export type IncidentAction = 'investigate' | 'resolve'

/** Returns the state after an action; undefined when it is not possible. A resolved incident stays resolved. */
export function nextState(state: IncidentState, action: IncidentAction): IncidentState | undefined {
  switch (state) {
    case 'open':
      return action === 'investigate' ? 'investigating' : 'resolved'
    case 'investigating':
      return action === 'resolve' ? 'resolved' : undefined
    case 'resolved':
      return undefined
  }
}

/** Returns the possible actions in a state. */
export function actionsIn(state: IncidentState): IncidentAction[] {
  return (['investigate', 'resolve'] as const).filter((action) => nextState(state, action) !== undefined)
}
