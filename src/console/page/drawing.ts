import { Component, createElement, type JSX, render } from 'preact'

type Ways = {
  /** Where somebody can go on; undefined: nowhere else. */
  readonly home?: string
  /** No one is there to press anything: the page loads itself again. */
  readonly isAlone?: boolean
}

const retryMs = 2000
/** So long a screen without people shows its notice, if that comes, before it loads its page again. */
const aloneMs = 60_000

/**
 * Draws the page. If a part of it cannot be drawn, now or later, the browser gets the error as any other. A notice over the page
 * reports it, and the page itself stays as it was drawn last.
 */
export function draw(page: JSX.Element, { home, isAlone = false }: Ways = {}): void {
  let isReloading = false
  const fail = (error: unknown) => {
    reportError(error)
    // Also where the notice cannot be fetched.
    if (isAlone && !isReloading) setTimeout(() => location.reload(), aloneMs)
    isReloading = true
    tell(error)
  }
  const tell = (error: unknown) => {
    import('./undrawn.ts').then(
      ({ showUndrawn }) => showUndrawn(error, home, isAlone),
      () => setTimeout(() => tell(error), retryMs),
    )
  }
  /** Catches an error of each part below it. It draws the same page again, so the page stays as it was. */
  class Boundary extends Component {
    override componentDidCatch(error: unknown): void {
      fail(error)
      this.setState({})
    }
    override render() {
      return page
    }
  }
  const place = document.getElementById('app')
  try {
    if (place) render(createElement(Boundary, {}), place)
  } catch (error) {
    fail(error)
  }
}
