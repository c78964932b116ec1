import { builderOver, integer, maybe, text } from '../database/index.ts'

export const tables = {
  photo_facts: {
    sha256: text,
    width_px: maybe(integer),
    height_px: maybe(integer),
    taken_local: maybe(text),
    taken_offset_minutes: maybe(integer),
  },
  photo_bringer: {
    sha256: text,
    person_id: integer,
  },
} as const

export const sql = builderOver(tables)
