/** States of a count. */
export type CountState = 'open' | 'counting' | 'review' | 'approved' | 'cancelled'

/** Steps that change a count. */
export type CountStep = 'scan' | 'submit' | 'recount' | 'approve' | 'cancel'

/** Returns the state after a step; undefined when the step is not possible. Pure. */
export function stateAfter(state: CountState, step: CountStep): CountState | undefined {
  switch (state) {
    case 'open':
      return step === 'scan' ? 'counting' : step === 'cancel' ? 'cancelled' : undefined
    case 'counting':
      return afterCounting(step)
    case 'review':
      // A scanner that was offline may deliver its scans late.
      if (step === 'scan') return 'review'
      if (step === 'recount') return 'counting'
      if (step === 'approve') return 'approved'
      return step === 'cancel' ? 'cancelled' : undefined
    case 'approved':
    case 'cancelled':
      return undefined
  }
}

function afterCounting(step: CountStep): CountState | undefined {
  if (step === 'scan' || step === 'recount') return 'counting'
  if (step === 'submit') return 'review'
  return step === 'cancel' ? 'cancelled' : undefined
}
