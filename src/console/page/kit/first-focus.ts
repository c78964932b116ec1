/**
 * Gives the focus to an element of a new view, unless a person has chosen another one meanwhile. Effects run with the next
 * picture, which a busy screen paints late.
 */
export function focusFirst(element: HTMLElement | null): void {
  const { activeElement } = document
  if (activeElement === null || activeElement === document.body) element?.focus({ preventScroll: true })
}
