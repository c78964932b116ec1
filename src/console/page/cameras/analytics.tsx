import type { ListedCamera } from '../data/shapes.ts'
import { analyticsTexts as words } from '../i18n/analytics-texts.ts'

/** Says whether the events of a camera come, and what its rules mean. */
export const CameraAnalytics = ({ analytics }: Pick<ListedCamera, 'analytics'>) =>
  analytics === null ? null : (
    <section aria-label={words.title}>
      <h2>{words.title}</h2>
      <p class={analytics.problem === null ? 'muted' : 'problem'}>{analyticsWords(analytics)}</p>
      {analytics.rules.length === 0 ? null : (
        <>
          <ul aria-label={words.rules}>
            {analytics.rules.map(({ rule, kind, isMapped }) => (
              <li key={rule}>{words.rule(rule, words.kinds[kind] ?? kind, isMapped)}</li>
            ))}
          </ul>
          <p class="muted">{words.map}</p>
        </>
      )}
    </section>
  )

/** Returns how the subscription to the events of a camera is, and how to mend it. Pure. */
export function analyticsWords({ listening, problem, problemCode }: NonNullable<ListedCamera['analytics']>): string {
  if (problemCode !== null) return words.problems[problemCode] ?? problem ?? ''
  if (!listening) return words.waiting
  // The only remark about events that come.
  return problem === null ? words.listening : words.wrongTimes
}
