import { PNG } from 'pngjs'

const width = 96
const height = 72
const layers = 4
const boxesPerLayer = 6

/** A photo of a pallet with boxes, as a handheld would take it; every `seed` gives other bytes. */
export function palletPhoto(seed: number): Buffer {
  const image = new PNG({ width, height })
  fill(image, { x: 0, y: 0, w: width, h: height }, [203, 208, 214])
  fill(image, { x: 8, y: height - 12, w: width - 16, h: 6 }, [138, 98, 58])
  const shade = shades(seed)
  const box = { w: (width - 20) / boxesPerLayer, h: (height - 22) / layers }
  for (let n = 0; n < layers * boxesPerLayer; n += 1) {
    const x = 10 + (n % boxesPerLayer) * box.w
    const y = 8 + Math.floor(n / boxesPerLayer) * box.h
    fill(image, { x, y, w: box.w - 1, h: box.h - 1 }, shade())
  }
  return PNG.sync.write(image)
}

type Colour = readonly [red: number, green: number, blue: number]

function fill(image: PNG, area: { x: number; y: number; w: number; h: number }, [red, green, blue]: Colour): void {
  for (let y = Math.floor(area.y); y < area.y + area.h; y += 1) {
    for (let x = Math.floor(area.x); x < area.x + area.w; x += 1) {
      image.data.set([red, green, blue, 255], (y * width + x) * 4)
    }
  }
}

/** Cardboard browns in an order that the seed decides (a linear congruential generator is plenty for that). */
function shades(seed: number): () => Colour {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const light = state >>> 25
    return [120 + light, 86 + Math.floor(light * 0.8), 52 + Math.floor(light * 0.6)]
  }
}
