/** Draws the path of a code that the gateway made: its markup as text must not become markup here. */
export const Qr = ({ svg, label }: { svg: string; label: string }) => {
  const [, box = '0 0 1 1'] = /viewBox="([\d .]+)"/.exec(svg) ?? []
  const paths = [...svg.matchAll(/ d="([^"]+)"/g)].map(([, path = '']) => path)
  return (
    <svg class="qr" viewBox={box} role="img" aria-label={label}>
      {paths.map((path) => (
        <path key={path} d={path} fill-rule="evenodd" />
      ))}
    </svg>
  )
}
