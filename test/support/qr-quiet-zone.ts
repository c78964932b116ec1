type Sides = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number }

/** Returns how many light modules a QR code drawn as SVG has on each side: its finder patterns are seven modules wide. */
export function quietModules(svg: string): Sides {
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number)
  const paths = svg.match(/M[^MZ]+Z/g) ?? []
  const boxes = paths.map((path) => {
    const points = [...path.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const)
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
    return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
  })
  const left = Math.min(...boxes.map((box) => box.left))
  const top = Math.min(...boxes.map((box) => box.top))
  const finder = boxes.find((box) => box.left === left && box.top === top && box.right - left === box.bottom - top)
  if (!finder) throw new Error('the picture has no finder pattern in its corner')
  const modulePx = (finder.right - finder.left) / 7
  const right = width - Math.max(...boxes.map((box) => box.right))
  const bottom = height - Math.max(...boxes.map((box) => box.bottom))
  return { left: left / modulePx, top: top / modulePx, right: right / modulePx, bottom: bottom / modulePx }
}
