/** What the page tells the worker that reads barcodes. */
export type ToCodes =
  | { readonly kind: 'start'; readonly runtime: ArrayBuffer }
  | { readonly kind: 'look'; readonly picture: ImageBitmap }

/** What the worker answers, one answer to each message. */
export type FromCodes =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly codes: readonly string[] }
  | { readonly kind: 'failed'; readonly words: string }
