export type Picture = { readonly width: number; readonly height: number }

/** The picture is cut into 16 by 9 cells of the same size. */
export const columns = 16
export const rows = 9
export const cellCount = columns * rows

/** A frame is compared with the one so many before it: 0.6 s, at five frames a second. */
export const framesBack = 3
