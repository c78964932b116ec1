import { hubTexts } from './texts.ts'

/** Turns the pages of a long table. */
export const HubPages = ({ at, pages, onPage }: { at: number; pages: number; onPage: (to: number) => void }) => (
  <div class="hub-pages">
    <button type="button" aria-disabled={at === 1 ? 'true' : 'false'} onClick={() => at > 1 && onPage(at - 1)}>
      {hubTexts.sites.before}
    </button>
    <span role="status">{hubTexts.sites.page(at, pages)}</span>
    <button type="button" aria-disabled={at === pages ? 'true' : 'false'} onClick={() => at < pages && onPage(at + 1)}>
      {hubTexts.sites.after}
    </button>
  </div>
)
