import type { Box, Limits, ModelFacts } from './object-boxes.ts'

/** What the page tells the worker of the object detection. */
export type ToObjects =
  | {
      readonly kind: 'start'
      readonly runtime: ArrayBuffer
      readonly model: ArrayBuffer
      readonly facts: ModelFacts
      readonly limits: Limits
    }
  | { readonly kind: 'look'; readonly picture: ImageBitmap }

/** What the worker answers, one answer to each message. */
export type FromObjects =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly boxes: readonly Box[] }
  | { readonly kind: 'failed'; readonly words: string }
