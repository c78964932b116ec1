/** Where a count stands. */
export type CountState = 'open' | 'counting' | 'review' | 'approved' | 'cancelled'

/** What is done to it. */
export type CountStep = 'scan' | 'submit' | 'recount' | 'approve' | 'cancel'

/** The state after a step; undefined where the step can't be taken. Pure. */
export function stateAfter(state: CountState, step: CountStep): CountState | undefined {
  switch (state) {
    case 'open':
      return step === 'scan' ? 'counting' : step === 'cancel' ? 'cancelled' : undefined
    case 'counting':
      return afterCounting(step)
    case 'review':
      // A scanner that was offline still brings what it has seen.
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
