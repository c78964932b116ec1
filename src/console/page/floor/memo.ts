import { Component, type ComponentType, createElement, type FunctionComponent } from 'preact'

/** Draws a component again only after one of its properties has changed. The `memo` of preact/compat needs all of preact/compat. */
export function memo<Props extends object>(of: FunctionComponent<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const shown = new Map<string, unknown>(Object.entries(this.props))
      const wanted = Object.entries(next)
      return wanted.length !== shown.size || wanted.some(([name, value]) => !Object.is(shown.get(name), value))
    }
    override render() {
      return createElement(of, this.props)
    }
  }
}
