import { Said } from '../i18n/said.tsx'
import { texts } from '../i18n/texts.ts'

type Props = {
  /** Why the gateway could not be reached; empty while it can. */
  readonly unasked?: string
  /** Another problem; empty without one. */
  readonly problem?: string
}

/** The strip below the bar. It is on the page from the start, because screen readers announce only later content. */
export const TroubleStrip = ({ unasked = '', problem = '' }: Props) => (
  <div class="trouble" role="alert">
    {[unasked === '' ? '' : texts.notAsked(unasked), problem]
      .filter((words) => words !== '')
      .map((words) => (
        <p key={words}>
          <Said words={words} />
        </p>
      ))}
  </div>
)
