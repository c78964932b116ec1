import { follow } from '../kit/address.ts'
import { hubTexts } from './texts.ts'

type ProblemProps = { problem: string; code: string; unknown: string }

/**
 * Says why a view of one site shows nothing, with a link to all sites; empty without a problem. `unknown`: text for a missing
 * thing.
 */
export const HubProblem = ({ problem, code, unknown }: ProblemProps) =>
  problem === '' ? null : (
    <p class="card alarm">
      {code === 'NOT_FOUND' ? unknown : problem}{' '}
      <a href="/" onClick={follow}>
        {hubTexts.sites.toSites}
      </a>
    </p>
  )
