import { follow } from '../kit/address.ts'
import type { Site } from './list.ts'
import { hubTexts } from './texts.ts'

const words = hubTexts.log

/** Leads from a site to what its boxes have signed. */
export const HubLogs = ({ site: { logId, earlierLogs, state } }: { site: Site }) => (
  <section class={`card ${state === 'forked' ? 'alarm' : ''}`} aria-labelledby="hub-logs">
    <h2 id="hub-logs">{words.ofSite}</h2>
    <p>{words.ofSiteHint[state]}</p>
    <p class="hub-links">
      <a href={`/logs/${logId}`} onClick={follow}>
        {state === 'forked' ? words.toBoth : words.toNewest}
      </a>
      {earlierLogs.toReversed().map((one, i) => (
        <a key={one} href={`/logs/${one}`} onClick={follow}>
          {words.toEarlier(i + 1)}
        </a>
      ))}
    </p>
  </section>
)
