/** A fact that was acknowledged to a client, or that the gateway relies on after a crash. One line of `.marks`. */
export type Acknowledged =
  | { readonly kind: 'event'; readonly id: number; readonly clientId: string; readonly hash: string }
  | { readonly kind: 'photo'; readonly path: string; readonly sha256: string }
  | { readonly kind: 'clip begun'; readonly id: number }
  | { readonly kind: 'clip finished'; readonly id: number; readonly sha256: string }
  | { readonly kind: 'clip recorded'; readonly id: number; readonly sha256: string }
  | { readonly kind: 'upload owed'; readonly path: string; readonly sha256: string }
  | { readonly kind: 'checkpoint'; readonly log: number; readonly size: number; readonly root: string }
  | { readonly kind: 'keys'; readonly vkeys: readonly string[] }
  | { readonly kind: 'session'; readonly cookie: string; readonly isSignedIn: boolean }
  | { readonly kind: 'backup'; readonly name: string; readonly sha256: string }
  | { readonly kind: 'segments'; readonly count: number }
  | { readonly kind: 'setting'; readonly slot: string }
  /** A part of the life ends; for people who read a fault. */
  | { readonly kind: 'chapter'; readonly name: string }

/** Folder of the second box, below the recorded one: a backup is restored there. */
export const secondBox = 'second'
export const backupsFolder = 'backups'
export const segmentsFolder = 'segments'
