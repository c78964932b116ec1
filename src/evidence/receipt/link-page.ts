import { printedPagePolicy } from '../../http/index.ts'
import { modulesOf, quietModules } from '../../labels/index.ts'
import { escapedMarkup } from '../../platform/index.ts'

const style = `
@page { size: A5; margin: 12mm }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 8mm; max-width: 130mm; color: #13202b; background: #fff; text-align: center; font: 13pt/1.4 system-ui, "Liberation Sans", Arial, sans-serif }
h1 { margin: 0 0 2mm; font-size: 22pt }
svg { display: block; width: 82mm; max-width: 100%; height: auto; margin: 5mm auto }
ol { display: inline-block; margin: 0; padding-left: 6mm; text-align: left }
p { margin: 0 0 2mm; overflow-wrap: anywhere }
footer { margin-top: 5mm; color: #44525e; font-size: 9.5pt }
@media print { body { padding: 0; max-width: none } }
`

export const linkPolicy = printedPagePolicy(style)

/** Draws a text as a QR code: SVG with one path, a pixel for each module. */
export function qrSvg(text: string): string {
  const modules = modulesOf({ symbology: 'qr', text })
  if (modules.form !== 'matrix') throw new Error('a QR code is a matrix')
  const quiet = quietModules('qr')
  const side = modules.across + 2 * quiet
  const dark = modules.cells.flatMap((isDark, i) => {
    const [x, y] = [(i % modules.across) + quiet, Math.floor(i / modules.across) + quiet]
    return isDark ? [`M${x} ${y}h1v1h-1z`] : []
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges" role="img" aria-label="QR code of the receipt"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${dark.join('')}"/></svg>`
}

type Link = {
  readonly siteId: string
  readonly reference: string
  readonly carrier: string | null
  readonly expiresAt: string
  readonly timezone: string
  readonly qr: string
}

/** Returns the sheet for the dock: one page of HTML with the QR code that leads a phone to the receipt of one unit. */
export function linkPage({ siteId, reference, carrier, expiresAt, timezone, qr }: Link): string {
  const until = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'long' }).format(new Date(expiresAt))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Receipt: ${escapedMarkup(reference)}</title>
<style>${style}</style>
</head>
<body>
<h1>Your receipt</h1>
<p>${escapedMarkup(reference)}${carrier === null ? '' : ` · ${escapedMarkup(carrier)}`} · ${escapedMarkup(siteId)}</p>
${qr}
<ol><li>Scan the code with the camera of your phone.</li><li>See what was handed over, with weights and photos.</li><li>Keep the receipt. No one can change it unseen.</li></ol>
<footer>No app, no account. The link shows this delivery alone, until ${escapedMarkup(until)}.</footer>
</body>
</html>
`
}
