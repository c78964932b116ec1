import type { JSX } from 'preact'

/** Wraps content that may scroll: it takes the focus by Tab and scrolls by arrow keys. */
export const Scroller = ({ name, children }: { name: string; children: JSX.Element }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and this is none.
  <div class="scroller" role="group" aria-label={name} tabindex={0}>
    {children}
  </div>
)
