/** Messages of the page to the worker that reads barcodes. */
export type ToCodes =
  | { readonly kind: 'start'; readonly runtime: ArrayBuffer }
  | { readonly kind: 'look'; readonly picture: ImageBitmap }

/** Answers of the worker, one to each message. */
export type FromCodes =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly codes: readonly string[] }
  | { readonly kind: 'failed'; readonly words: string }
