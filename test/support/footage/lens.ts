import { grain } from './grain.ts'

/** An act on the lens: it begins at `atMs`, is done within half a second, and stays to the end of the round. */
export type LensAct = { readonly what: 'cloth' | 'turn' | 'glare'; readonly atMs: number }

const tookMs = 500
/** Offset of the view of a turned camera, as shares of the picture. */
const turn = { across: 0.45, down: 0.35 }
const cloth = 55
const white = 235

/** Changes a picture of the hall (yuv420p) at this time of the round. */
export function actOnLens(
  picture: Uint8Array,
  { what, atMs }: LensAct,
  ms: number,
  width: number,
  height: number,
): void {
  const share = Math.min(Math.max((ms - atMs) / tookMs, 0), 1)
  if (share === 0) return
  const hall = picture.slice()
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x
      if (what === 'turn') {
        const [from, down] = [Math.round(share * turn.across * width), Math.round(share * turn.down * height)]
        picture[at] = hall[((y + down) % height) * width + ((x + from) % width)] ?? 0
      } else if (what === 'cloth') {
        if (y < share * height) picture[at] = cloth + 3 * grain((x / height) * 20, (y / height) * 20)
      } else {
        const far = Math.hypot(x / width - 0.4, y / height - 0.5)
        picture[at] = Math.min(white, (hall[at] ?? 0) + share * (300 - 60 * far))
      }
    }
  }
  if (what !== 'turn' && share === 1) picture.fill(128, width * height)
}
