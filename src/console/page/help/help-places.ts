import { anchorOf } from '../kit/help-anchor.ts'

/** Parts of the manual to which the console leads where something is missing: page and heading. */
export const helpPlaces = {
  slots: ['start', 'Add slots'],
  cameras: ['cameras', 'Add a camera'],
  uploads: ['cameras', 'Upload'],
  printers: ['start', 'Enroll the first handheld'],
} as const satisfies Readonly<Record<string, readonly [topic: string, heading: string]>>

export type HelpPlace = keyof typeof helpPlaces

/** Returns the address of a part of the manual. */
export const helpAddress = ([topic, heading]: readonly [string, string], language: string): string =>
  `/help/${topic}?language=${language}#${anchorOf(heading)}`
