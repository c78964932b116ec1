export const incidentStates = ['open', 'investigating', 'resolved'] as const
export type IncidentState = (typeof incidentStates)[number]

export type IncidentAction = 'investigate' | 'resolve'

/** Where the action leads from this state; undefined when it leads nowhere. A resolved incident stays resolved. */
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

/** What can be done in this state. */
export function actionsIn(state: IncidentState): IncidentAction[] {
  return (['investigate', 'resolve'] as const).filter((action) => nextState(state, action) !== undefined)
}
