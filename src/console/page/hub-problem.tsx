import { follow } from './address.ts'
import { hubTexts } from './hub-texts.ts'

type ProblemProps = { problem: string; code: string; unknown: string }

/** Why a view of one site shows nothing, and the way back to all of them; nothing without a problem. `unknown`: said when there is no such thing. */
export const HubProblem = ({ problem, code, unknown }: ProblemProps) =>
  problem === '' ? null : (
    <p class="card alarm">
      {code === 'NOT_FOUND' ? unknown : problem}{' '}
      <a href="/" onClick={follow}>
        {hubTexts.sites.toSites}
      </a>
    </p>
  )
