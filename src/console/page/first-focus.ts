/**
 * Gives the focus to an element of a view that has just come. What somebody chose in the meantime keeps it: effects run with
 * the next picture, which a busy screen paints late.
 */
export function focusFirst(element: HTMLElement | null): void {
  const { activeElement } = document
  if (activeElement === null || activeElement === document.body) element?.focus({ preventScroll: true })
}
