import { Said } from '../i18n/said.tsx'
import { Icon } from './icons.tsx'
import { type Warning, warningWords } from './warning-words.ts'

/** The warnings of an event, as a list. */
export const Warnings = ({ of }: { of: readonly Warning[] }) =>
  of.length === 0 ? null : (
    <ul class="warnings">
      {of.map((warning) => (
        <li key={warning.code}>
          <Icon name="warning" />
          <span>
            <Said words={warningWords(warning)} />
          </span>
        </li>
      ))}
    </ul>
  )
