import type { Box, Limits, ModelFacts } from './boxes.ts'

/** Messages of the page to the worker of the object detection. */
export type ToObjects =
  | {
      readonly kind: 'start'
      readonly runtime: ArrayBuffer
      readonly model: ArrayBuffer
      readonly facts: ModelFacts
      readonly limits: Limits
    }
  | { readonly kind: 'look'; readonly picture: ImageBitmap }

/** Answers of the worker, one to each message. */
export type FromObjects =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly boxes: readonly Box[] }
  | { readonly kind: 'failed'; readonly words: string }
